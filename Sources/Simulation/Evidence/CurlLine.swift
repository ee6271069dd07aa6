/// Commands for a shell with the environment of `entrupy-sim run`: `ENTRUPY_SIM_URL` and `ENTRUPY_SIM_API_TOKEN`.
package enum CurlLine {
    /// A call of `curl`.
    ///
    /// - Parameters:
    ///   - path: may hold variables of the shell.
    ///   - options: further options, such as headers; empty ones are left out.
    ///   - json: a JSON body without single quotes; `nil` for none.
    package static func call(_ method: String, _ path: String, _ options: String..., json: String? = nil) -> String {
        let body = json.map { "-H 'Content-Type: application/json' -d '\($0)'" } ?? ""
        let words: [String] = ["curl -s -X \(method)"] + options + [body, "\"$ENTRUPY_SIM_URL\(path)\""]
        return words.filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static let noNamespace = "${ENTRUPY_SIM_URL%/ns/*}/ns/no-such-namespace"
    /// The option of a host that is not the server's.
    package static let foreignHost = "-H 'Host: elsewhere.example'"

    /// The same call in a namespace that does not exist.
    package static func inNoNamespace(_ call: String) -> String {
        call.replacing("$ENTRUPY_SIM_URL", with: noNamespace)
    }

    /// Whether a command's request reaches no namespace: that does not exist, or the host is a foreign one.
    package static func isOutsideNamespaces(_ command: String) -> Bool {
        command.contains(noNamespace) || command.contains(foreignHost)
    }

    /// Sets a variable to a member of a command's JSON answer.
    package static func set(_ variable: String, _ member: String, of command: String) -> String {
        #"\#(variable)=$(\#(command) | sed -E 's/.*"\#(member)": ?"([^"]*)".*/\1/')"#
    }
}
