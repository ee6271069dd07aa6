import Simulation

/// A request's path without its namespace.
struct Target: Equatable {
    let namespace: String
    let path: String
    /// The query with its `?`. Empty if there is none.
    let query: String

    /// Whether errors name that of Entrupy's SDK. App Components have errors of their own [D workflow-errors].
    var hasSDKErrors: Bool { !path.utf8.starts(with: "/components/".utf8) }

    /// Whether the path leads to the control API. Repeated slashes are accepted.
    var isControl: Bool {
        guard path.begins(with: "/_sim") || path.begins(with: "//") else { return false }
        let rest = path.utf8.drop { $0 == UInt8(ascii: "/") }
        guard rest.starts(with: "_sim".utf8) else { return false }
        let next = rest.dropFirst("_sim".utf8.count).first
        return next == nil || next == UInt8(ascii: "/")
    }

    /// Whether the path leads to the simulator, not to a platform: to the control API or to its description.
    var isSimulators: Bool { isControl || path.isOne(of: Self.descriptions) }

    private static let descriptions = ["/openapi.yaml", "/openapi.json"]

    /// Whether the path leads to a route of the server itself, not of a namespace.
    var isServersOwn: Bool {
        guard path.utf8.starts(with: "/_sim/".utf8) else {
            return path.isOne(of: Self.descriptions)
        }
        return path.isOne(of: Self.serversOwn) || path.utf8.starts(with: "/_sim/namespaces/".utf8)
    }

    private static let serversOwn = [
        "/_sim/health", "/_sim/ready", "/_sim/authority.pem", "/_sim/metrics", "/_sim/docs", "/_sim/llms.txt",
        "/_sim/fidelity.md",
        "/_sim/namespaces",
    ]

    /// - Parameter outsidePath: the namespace that the request names outside its path. The path wins.
    init(_ text: String, outsidePath: String? = nil) {
        // Works on bytes: a search for characters takes several times as long.
        let hasQueryOrEscape = text.withBytes { bytes in
            bytes.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "%") }
        }
        if !hasQueryOrEscape, !text.begins(with: "/ns"), !text.isEmpty {
            // The usual case.
            namespace = outsidePath ?? Namespaces.defaultName
            path = text
            query = ""
            return
        }
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        query = String(text[end...])
        let sent = text[..<end]
        // Letters, digits and `-._~` may be percent-encoded: both forms are equivalent (RFC 3986, section 6.2.2).
        let whole =
            sent.utf8.contains(UInt8(ascii: "%"))
            ? sent.percentDecoded { $0.isLetterOrDigit || "-._~".utf8.contains($0) } : String(sent)
        guard whole.isIdentical(to: "/ns") || whole.begins(with: "/ns/") else {
            namespace = outsidePath ?? Namespaces.defaultName
            path = whole.isEmpty ? "/" : whole
            return
        }
        let rest = Substring(whole.utf8.dropFirst("/ns/".utf8.count))
        let name = rest.prefix(before: "/")
        namespace = String(name)
        path = name.endIndex == rest.endIndex ? "/" : String(rest[name.endIndex...])
    }
}
