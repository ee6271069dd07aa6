import Foundation

/// The address this server listens on. Webhooks never go there [D webhook-targets].
///
/// A webhook that called the control API could cause the next one, in an endless loop.
package struct ServerAddress: Codable, Sendable {
    /// The port the server listens on.
    package let port: Int
    /// The port the server listens on for HTTPS; `nil` if it does not.
    package let tlsPort: Int?
    /// The numeric addresses the server listens on, besides loopback.
    package let addresses: [String]
    /// The start of absolute URLs, which may be another way to reach the server.
    package let publicURL: String

    package init(port: Int, tlsPort: Int? = nil, addresses: [String], publicURL: String) {
        self.port = port
        self.tlsPort = tlsPort
        self.addresses = addresses
        self.publicURL = publicURL
    }

    /// The address as far as a public URL tells it, for recordings without a stored address.
    package init(publicURL: String) {
        // An unreadable URL names no port. No target has port 0.
        let port = (try? WebhookTarget.read(publicURL).get().port) ?? 0
        self.init(port: port, addresses: [], publicURL: publicURL)
    }

    /// Whether `port` is one of the server's ports.
    package func hasPort(_ port: Int) -> Bool { port == self.port || port == tlsPort }

    /// Whether this server is reached at an address and port.
    package func isReached(at address: WebhookTarget.Address, port: Int) -> Bool {
        hasPort(port)
            && (address.isThisMachine || addresses.contains { WebhookTarget.Address($0) == address })
    }

    /// Whether a target names this server: by its address, as `localhost`, or under its public URL.
    package func isNamed(by target: WebhookTarget) -> Bool {
        if isBelowPublicURL(target) { return true }
        if let address = target.address { return isReached(at: address, port: target.port) }
        let name = target.plainHost
        return hasPort(target.port) && (name == "localhost" || name.hasSuffix(".localhost"))
    }

    private func isBelowPublicURL(_ target: WebhookTarget) -> Bool {
        guard let own = try? WebhookTarget.read(publicURL).get(), own.scheme == target.scheme,
            own.plainHost == target.plainHost, own.port == target.port
        else { return false }
        let path = own.path.hasSuffix("/") ? own.path : own.path + "/"
        return (target.path + "/").utf8.starts(with: path.utf8)
    }
}
