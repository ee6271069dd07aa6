import NIOConcurrencyHelpers
import NIOCore

/// Encrypts outgoing connections. The module HTTPS has the only implementation: a build without it sends `http:` alone.
package protocol OutgoingEncryption: Sendable {
    /// Adds the handlers that encrypt a connection to `host`, a name or a numeric address. Called on the channel's event loop, before the
    /// handlers of HTTP are added.
    func addHandlers(to channel: any Channel, for host: String) throws

    /// The reason of a failed handshake, in words; `nil` for other errors.
    func reason(of error: any Error) -> String?
}

extension OutgoingClient {
    private static let installed = NIOLockedValueBox<(any OutgoingEncryption)?>(nil)

    /// The encryption of all clients that name none. There is one in a process, since it is a property of the program: the executable
    /// installs it before anything else.
    package static func installEncryption(_ encryption: any OutgoingEncryption) {
        installed.withLockedValue { $0 = encryption }
    }

    /// `nil` in a program without HTTPS.
    package static var installedEncryption: (any OutgoingEncryption)? { installed.withLockedValue { $0 } }
}
