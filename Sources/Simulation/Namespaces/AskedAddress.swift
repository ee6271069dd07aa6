import SimulationAPI

/// The address that a client asked: another one than the server's own where a port is mapped, or a service has a
/// name [D public-url].
package struct AskedAddress: Hashable, Sendable {
    /// The host and the port, as in `Host`. The server has checked it [D hosts].
    private let authority: String
    private let isSecure: Bool

    package init(_ authority: String, isSecure: Bool) {
        self.authority = authority
        self.isSecure = isSecure
    }

    /// Whether ``url`` is `other`. Needs no string of its own: every read of an item asks it.
    func isSame(as other: String) -> Bool {
        let scheme = isSecure ? "https://" : "http://"
        return other.utf8.count == scheme.utf8.count + authority.utf8.count && other.begins(with: scheme)
            && other.ends(with: authority)
    }

    /// Whether the host names a namespace [D namespace-choice].
    var namesNamespace: Bool {
        let host = authority.prefix(before: ":").lowercased()
        return host.ends(with: ".localhost") || host.ends(with: ".localhost.")
    }

    /// The beginning of URLs for this client.
    var url: String {
        let scheme = isSecure ? "https" : "http"
        // The zone of an address has a meaning for its client alone, and none in a URL.
        guard authority.contains(ascii: "%") else { return "\(scheme)://\(authority)" }
        let address = authority.prefix(before: "%")
        let rest = authority.utf8.firstIndex(of: UInt8(ascii: "]")).map { authority[$0...] } ?? ""
        return "\(scheme)://\(address)\(rest)"
    }
}
