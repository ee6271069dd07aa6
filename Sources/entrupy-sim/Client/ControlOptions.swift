import ArgumentParser
import Console
import Foundation

/// The options that choose a server and one of its namespaces, for every command that talks to a server.
struct ControlOptions: ParsableArguments {
    @Option(
        help:
            "The server's URL, or a namespace's (/ns/NAME). (default: ENTRUPY_SIM_URL, or http://127.0.0.1:8642)"
    )
    var url: String?
    @Option(
        name: [.short, .long], help: "The namespace. (default: that of --url, ENTRUPY_SIM_NAMESPACE, or \"default\")")
    var namespace: String?
    @Option(help: "The server's control token, if it requires one. (default: ENTRUPY_SIM_CONTROL_TOKEN)")
    var controlToken: String?
    @Option(
        help:
            "The longest time until an answer begins, for instance 90s. (default: 30s, or 15m where the server works long and answers /_sim/ping meanwhile)"
    )
    var timeout: DurationArgument?
    @Flag(help: "Print the server's answer, or the error, as JSON.") var json = false
    @Flag(help: "Show no progress of long operations. It is shown only on a terminal.") var quiet = false

    func validate() throws {
        try timeout?.check("--timeout", to: "1d")
        let source = url == nil ? "ENTRUPY_SIM_URL" : "--url"
        try require(isWebURL(base), "\(source) must be an http or https URL such as http://127.0.0.1:8642, got \(base)")
        let isName = !named.isEmpty && named.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
        try require(
            isName,
            "\(isNamespaceOfEnvironment ? "ENTRUPY_SIM_NAMESPACE" : "--namespace") must be 1 to 63 characters of a-z, 0-9 and -, got \"\(VisibleText.line(named))\""
        )
    }

    /// The server's URL, without a slash at its end.
    var base: String { address.server }

    /// The server's URL, and the namespace that the given URL names, as a client's does; `nil` if it names none.
    private var address: (server: String, namespace: String?) {
        let text = url ?? Self.environment("ENTRUPY_SIM_URL") ?? "http://127.0.0.1:8642"
        let whole = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let parts = whole.wholeMatch(of: #/(.*)\/ns\/([^\/]+)/#) else { return (whole, nil) }
        return (String(parts.1), String(parts.2))
    }

    /// The given server and namespace as options of a command, behind a space each: what variables name needs none.
    var place: String { (namespace.map { " " + Shell.option("-n", $0) } ?? "") + server }

    /// The given server as an option, behind a space.
    private var server: String { url.map { " " + Shell.option("--url", $0) } ?? "" }

    /// A command for a hint, with the server and the namespace for which it was asked.
    func command(_ text: String) -> String { Self.command(text, place) }

    /// A command for a hint that concerns all namespaces, with the server for which it was asked.
    func serverCommand(_ text: String) -> String { Self.command(text, server) }

    /// - Parameter options: they stand before ` -- `, after which all words are arguments.
    private static func command(_ text: String, _ options: String) -> String {
        guard let end = text.range(of: " -- "), !text[..<end.lowerBound].contains("'") else {
            return "entrupy-sim \(text)\(options)"
        }
        return "entrupy-sim \(text[..<end.lowerBound])\(options)\(text[end.lowerBound...])"
    }

    /// The URL of the console in the namespace.
    var console: String { base + (named == "default" ? "" : "/ns/\(named)") + "/_sim/console" }

    var named: String {
        let ofURL = address.namespace
        return namespace ?? (url == nil ? nil : ofURL) ?? Self.environment("ENTRUPY_SIM_NAMESPACE") ?? ofURL
            ?? "default"
    }

    /// Whether the namespace is that of the variable, and not of an option or a URL.
    var isNamespaceOfEnvironment: Bool {
        namespace == nil && (url == nil || address.namespace == nil) && Self.environment("ENTRUPY_SIM_NAMESPACE") != nil
    }

    /// The value of `X-Sim-Control-Token`, `nil` if none was given.
    var token: String? { controlToken ?? Self.environment("ENTRUPY_SIM_CONTROL_TOKEN") }

    /// The value of a variable; `nil` if it is empty or absent.
    static func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

// Checks that several options share.
extension ParsableArguments {
    /// Throws the error of a wrong command line unless the condition holds.
    func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw ValidationError(message()) }
    }

    /// Whether text is an http or https URL without a query.
    func isWebURL(_ text: String) -> Bool {
        guard let url = URL(string: text) else { return false }
        return ["http", "https"].contains(url.scheme) && url.host != nil && url.query == nil
    }
}
