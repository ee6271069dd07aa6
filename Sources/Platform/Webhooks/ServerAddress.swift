import Foundation

/// The address this server listens on. No webhook goes there: one that calls the control API could cause the next one, for ever.
package struct ServerAddress: Codable, Sendable {
    /// The port it listens on.
    let port: Int
    /// The addresses it listens on besides this machine's own, in numbers.
    let addresses: [String]
    /// What absolute URLs start with, which may be another way to it.
    let publicURL: String

    package init(port: Int, addresses: [String], publicURL: String) {
        self.port = port
        self.addresses = addresses
        self.publicURL = publicURL
    }

    /// The address that a public URL alone tells, for recordings that do not hold one.
    package init(publicURL: String) {
        let port = (try? WebhookTarget.read(publicURL).get().port) ?? 0
        self.init(port: port, addresses: [], publicURL: publicURL)
    }

    /// Whether a port is the one it listens on.
    package func hasPort(_ port: Int) -> Bool { port == self.port }

    /// Whether a port at an address is this server's.
    package func isReached(at address: WebhookTarget.Address, port: Int) -> Bool {
        port == self.port
            && (address.isThisMachine || addresses.contains { WebhookTarget.Address($0) == address })
    }

    /// Whether a target names this server outright: by an address, as `localhost`, or as its public URL does.
    package func isNamed(by target: WebhookTarget) -> Bool {
        if isBelowPublicURL(target) { return true }
        if let address = target.address { return isReached(at: address, port: target.port) }
        let name = target.plainHost
        return target.port == port && (name == "localhost" || name.hasSuffix(".localhost"))
    }

    private func isBelowPublicURL(_ target: WebhookTarget) -> Bool {
        guard let own = try? WebhookTarget.read(publicURL).get(), own.scheme == target.scheme,
            own.plainHost == target.plainHost, own.port == target.port
        else { return false }
        let path = own.path.hasSuffix("/") ? own.path : own.path + "/"
        return (target.path + "/").utf8.starts(with: path.utf8)
    }
}
