import HTTPTypes
import Hummingbird
import Simulation

/// Protects the control API from web pages [D control-hosts]. Against DNS rebinding, it answers only to hosts that no
/// page can use as its own name. It refuses changes that come from a page of another origin.
struct HostGuard: Sendable {
    /// Host names that the control API accepts besides IP addresses and local names, in lower case.
    let allowedHosts: Set<String>

    /// The error for a control request that is refused. `nil` if it is allowed.
    func refusal(_ request: HTTPRequest) -> PlatformError? {
        guard let authority = request.authority, !Self.isThisMachine(authority) || changes(request) else { return nil }
        let host = Self.host(of: authority)
        guard isAllowed(host) else {
            return .forbidden(
                "the control API does not answer to the host \"\(host)\"; allow it with --allowed-hosts \(host)",
                [.init("Host", "must be an IP address, localhost, a name without a dot, or one of --allowed-hosts")])
        }
        if changes(request), let origin = request.headerFields[.origin],
            !origin.lowercased().isOne(of: ["http://\(authority)", "https://\(authority)"])
        {
            return .forbidden(
                "a page from \(origin) may not change anything here",
                [.init("Origin", "must be this server's own, http://\(authority)")])
        }
        return nil
    }

    private func changes(_ request: HTTPRequest) -> Bool {
        request.method != .get && request.method != .head && request.method != .options
    }

    /// Whether the host is one of the usual names of this machine. This check is fast and makes the full check
    /// unnecessary.
    private static func isThisMachine(_ authority: String) -> Bool {
        authority.utf8.starts(with: "127.0.0.1:".utf8) || authority.utf8.starts(with: "localhost:".utf8)
    }

    private func isAllowed(_ host: String) -> Bool {
        host.isOne(of: ["localhost", "host.docker.internal"]) || host.ends(with: ".localhost")
            || host.isOne(of: allowedHosts) || (!host.isEmpty && !host.holds(".")) || Self.isIPv4(host)
    }

    /// The host without its port, in lower case. An IPv6 literal keeps its brackets, and its dots become colons.
    private static func host(of authority: String) -> String {
        let text = authority.lowercased()
        if text.begins(with: "["), text.holds("]") {
            return text.prefix(before: "]").split(at: ".", omittingEmpty: false).joined(separator: ":") + "]"
        }
        let name = text.prefix(before: ":")
        return String(decoding: name.ends(with: ".") ? name.utf8.dropLast() : name.utf8[...], as: UTF8.self)
    }

    private static func isIPv4(_ host: String) -> Bool {
        let parts = host.split(at: ".", omittingEmpty: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}
