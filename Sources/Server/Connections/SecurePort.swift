import Hummingbird
import HummingbirdCore
import Logging

/// The port for HTTPS and HTTP/2, beside the plain one. The module HTTPS has the only implementation, and only the executable sees it: most
/// builds are without it.
package protocol SecurePort: Sendable {
    /// The host names of a certificate from a file. Empty if a local authority signs certificates.
    var names: [String] { get }

    /// The certificate of the local authority that clients trust, in PEM; `nil` if certificates come from files.
    var authority: String? { get }

    /// The path of the file with ``authority``; `nil` if there is none.
    var authorityPath: String? { get }

    /// The server of the port.
    ///
    /// - Throws: an error if the certificate cannot be used.
    func server(
        limits: ConnectionLimits, requestID: @escaping @Sendable () -> String, logger: Logger
    ) throws -> HTTPServerBuilder
}

/// One stream of a connection that carries many requests at once.
package protocol MultiplexedStream: Sendable {
    /// The same answer, whose body is made no faster than the connection sends it.
    func paced(_ response: Response) -> Response
}

/// The stream whose request the current task answers.
package enum CurrentStream {
    /// `nil` for HTTP/1.1, which has one request at a time on a connection.
    @TaskLocal package static var stream: (any MultiplexedStream)?
}
