import SimulationAPI

/// An exchange as text to paste: a command line, code, a step of a scenario, a check.
///
/// A method, a path, a header and a body may hold anything: a bundle can be made by anyone. They come into a text only through
/// the quoting function of its language.
struct Snippets {
    private let request: JournaledRequest
    private let url: String?
    /// The path and the query, as a URL holds them.
    private let target: String
    private let headers: [Header]
    /// The parts of a request that a command cannot repeat, in sentences.
    private let remarks: [String]

    private struct Header {
        let name, value: String

        /// Whether HTTP can carry it. Others, which only bundles hold, could become two headers, or name a file to curl.
        var isSendable: Bool {
            name.isHTTPToken && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
        }
    }

    /// Headers that the sender adds by itself.
    private static let ofTransport: Set = [
        "content-length", "connection", "host", "accept-encoding", "transfer-encoding", "expect", "x-request-id",
    ]

    /// The mask of a secret.
    private static let mask = "***"

    /// - Parameter url: the address of the namespace; `nil` if readers set it as the variable `URL`.
    init(_ request: JournaledRequest, url: String?) {
        self.request = request
        let target = URLPart.target(request.path + (request.query.map { "?\($0)" } ?? ""))
        self.target = target
        self.url = url.map { $0 + target }
        let given = (request.request?.headers ?? []).filter { $0.count == 2 }.map { Header(name: $0[0], value: $0[1]) }
        let sendable = given.filter(\.isSendable)
        headers = sendable.filter { !Self.ofTransport.contains($0.name.lowercased()) }
        var remarks: [String] = []
        let left = given.count - sendable.count
        if left > 0 { remarks.append("Left out: headers that HTTP cannot carry, \(left)") }
        if request.request?.truncated == true { remarks.append("The journal kept only the beginning of the body") }
        if request.request?.body?.utf8.contains(0) == true {
            remarks.append("Left out: the body, which has a NUL; no argument of a command can hold one")
        }
        self.remarks = remarks
    }

    private var body: String? { request.request?.body?.nonEmpty }

    /// A header as curl reads it, with a masked token as the variable that a reader sets.
    private static func shellWord(_ header: Header) -> String {
        // Without the semicolon, curl would leave out a header that has no value.
        if header.value.trimmed.isEmpty { return Shell.quoted("\(header.name);") }
        // Only the variable is outside of single quotes, where a shell would read the client's text.
        let parts = header.value.split(atEach: mask)
        return
            ([Shell.quoted("\(header.name): \(parts[0])")]
            + parts.dropFirst().map { $0.isEmpty ? "" : Shell.quoted(String($0)) }).joined(separator: "\"$TOKEN\"")
    }

    /// A curl command for bash and zsh.
    var curl: String {
        guard request.method.isHTTPToken else {
            return "echo 'curl cannot repeat this request: its method is not a token of HTTP.' >&2"
        }
        // With -X HEAD, curl waits for a body.
        let isHead = request.method.isIdentical(to: "HEAD") && body == nil
        var options = [isHead ? "--head" : "-X \(Shell.quoted(request.method))"]
        if target.utf8.contains(where: { "[]{}".utf8.contains($0) }) { options.append("--globoff") }
        // curl would take out the dots before it sends the path.
        let path = target.prefix(before: "?").lowercased()
        if path.contains("/.") || path.contains("/%2e") { options.append("--path-as-is") }
        let place = url.map(Shell.quoted) ?? "\"$URL\"" + Shell.quoted(target)
        var lines = ["curl \(options.joined(separator: " ")) \(place)"]
        lines += headers.map { "  -H \(Self.shellWord($0))" }
        if let body, !body.utf8.contains(0) { lines.append("  --data-raw \(Shell.quoted(body))") }
        return (remarks.map(Shell.remark) + [lines.joined(separator: " \\\n")]).joined(separator: "\n")
    }

    var swift: String {
        var lines = [
            "var request = URLRequest(url: URL(string: \(SwiftLiteral.quoted(url ?? target)))!)",
            "request.httpMethod = \(SwiftLiteral.quoted(request.method))",
        ]
        lines += headers.map { header in
            let value = SwiftLiteral.quoted(header.value, each: Self.mask, as: "token")
            return "request.setValue(\(value), forHTTPHeaderField: \(SwiftLiteral.quoted(header.name)))"
        }
        if let body { lines.append("request.httpBody = Data(\(SwiftLiteral.quoted(body)).utf8)") }
        lines.append("let (data, response) = try await URLSession.shared.data(for: request)")
        return lines.joined(separator: "\n")
    }

    /// An expectation of a scenario.
    var scenarioStep: String {
        let (route, method) = (YAMLScalar.quoted(request.path), YAMLScalar.quoted(request.method))
        let status = request.status.map { "status: \($0), " } ?? ""
        let delivered = request.delivered ? "" : "delivered: false, "
        return "expect:\n  - {route: \(route), method: \(method), \(status)\(delivered)times: 1}"
    }

    /// The command that checks that the request was made.
    var verify: String {
        let (route, method) = (Shell.option("--route", request.path), Shell.option("--method", request.method))
        let status = request.status.map { " --status \($0)" } ?? ""
        let delivered = request.delivered ? "" : " --delivered false"
        // The platforms may not have the route: then nothing but a fault answers it.
        let anyRoute =
            [404, 405].contains(request.status ?? 0) || request.decided_by.fault != nil ? " --any-route" : ""
        return "entrupy-sim requests verify \(route) \(method)\(status)\(delivered) --times 1\(anyRoute)"
    }

    /// The headers as they can be edited: those with a masked token are left out, since the request keeps its own.
    var editableHeaders: String {
        let kept = headers.filter { $0.value.split(atEach: Self.mask).count == 1 }
        return PrettyJSON.text(
            .object(JSONObject(kept.map { ($0.name, JSONValue.string($0.value)) })))
    }
}
