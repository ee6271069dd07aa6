import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import Outgoing

/// TLS for outgoing connections: webhooks to `https:` addresses, and the command line's own calls.
///
/// A receiver's certificate may come from the system's authorities, and from those of a file.
package struct OutgoingTLS: OutgoingEncryption {
    /// The file of certificates in PEM that are trusted beside the system's; `nil` for none.
    private let authorities: String?
    /// Made for the first connection: it reads hundreds of certificates, and most processes make no such connection.
    private let context = NIOLockedValueBox<NIOSSLContext?>(nil)

    package init(trusting authorities: String? = nil) {
        self.authorities = authorities
    }

    private func makeContext() throws -> NIOSSLContext {
        try context.withLockedValue { known in
            if let known { return known }
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.applicationProtocols = ["http/1.1"]
            // A receiver that does not answer close_notify would hold the attempt for seconds.
            configuration.shutdownTimeout = .milliseconds(100)
            if let authorities {
                configuration.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(authorities))]
            }
            let made = try NIOSSLContext(configuration: configuration)
            known = made
            return made
        }
    }

    package func addHandlers(to channel: any Channel, for host: String) throws {
        // An address is not a name that TLS could ask for; its certificate is checked against the address itself.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        try channel.pipeline.syncOperations.addHandler(
            NIOSSLClientHandler(context: try makeContext(), serverHostname: isAddress ? nil : host))
    }

    package func reason(of error: any Error) -> String? {
        switch error {
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return "the certificate is for another name"
        case NIOSSLError.handshakeFailed(let cause):
            let text = "\(cause)"
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                return "the certificate comes from an authority that is not trusted here"
            }
            if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
                return "the port does not speak TLS"
            }
            return "the TLS handshake failed"
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: return "the TLS connection failed"
        default: return nil
        }
    }
}
