import NIOCore
import NIOPosix

/// A look-up that answers with given addresses, so that the library tries them in turn, both families beside each other (RFC 8305).
final class GivenAddresses: Resolver, Sendable {
    private let addresses: [SocketAddress]
    private let loop: any EventLoop

    /// - Throws: an error if an address is not numeric.
    init(_ addresses: [String], port: Int, on loop: any EventLoop) throws {
        self.addresses = try addresses.map { try SocketAddress(ipAddress: $0, port: port) }
        self.loop = loop
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(addresses.filter { $0.protocol == .inet })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(addresses.filter { $0.protocol == .inet6 })
    }

    func cancelQueries() {}
}

extension NIOConnectionError {
    /// The addresses of a name that were tried, each with its reason. An address that the URL has is not said again.
    package func text(_ reason: (any Error) -> String) -> String {
        let isAddress = Self.isAddress(host)
        let failures = connectionErrors.map { failure in
            "\(isAddress ? "" : "\(failure.target.ipAddress ?? host): ")\(reason(failure.error))"
        }
        return failures.isEmpty ? "no connection to \(host)" : failures.joined(separator: "; ")
    }

    static func isAddress(_ host: String) -> Bool {
        // A host that is no address is a name.
        (try? SocketAddress(ipAddress: host, port: 0)) != nil
    }
}
