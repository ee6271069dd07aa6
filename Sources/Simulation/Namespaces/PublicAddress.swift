import NIOConcurrencyHelpers

/// The addresses with which the absolute URLs of answers begin [D public-url].
package final class PublicAddress: Sendable {
    private let own = NIOLockedValueBox((url: "", followsRequests: false))

    /// The server's URL where no request decides. Empty until it is set.
    package var url: String { own.withLockedValue { $0.url } }

    /// Sets the server's URL, once the port is known.
    ///
    /// - Parameter followsRequests: whether the answer to a request begins its URLs with the address that was asked instead.
    package func set(_ url: String, followsRequests: Bool) {
        own.withLockedValue { $0 = (url, followsRequests) }
    }

    /// The server's URL in the answer to a request.
    ///
    /// - Parameter asked: the address that the request asked; `nil` if there is no request, or it names none.
    package func url(askedAt asked: AskedAddress?) -> String { followed(asked)?.url ?? url }

    /// The address with which the URLs of an answer begin; `nil` if it is ``url``.
    func followed(_ asked: AskedAddress?) -> AskedAddress? {
        guard let asked else { return nil }
        let own = own.withLockedValue { $0 }
        return own.followsRequests && !asked.isSame(as: own.url) ? asked : nil
    }

    /// The base URL of a namespace.
    ///
    /// - Parameter asked: the address that the request asked; `nil` if there is no request, or it names none.
    package func url(ofNamespace name: String, askedAt asked: AskedAddress? = nil) -> String {
        let followed = followed(asked)
        let server = followed?.url ?? url
        // Under a host that names another namespace, the default one needs its path too.
        let isBare = name == Namespaces.defaultName && followed?.namesNamespace != true
        return isBare ? server : "\(server)/ns/\(name)"
    }
}
