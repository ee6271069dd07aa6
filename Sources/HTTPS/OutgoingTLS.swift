import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import Outgoing

/// TLS for outgoing connections: webhooks to `https:` addresses, and the command line's own calls.
///
/// A receiver's certificate may come from the system's authorities, and from those of a file.
package struct OutgoingTLS: OutgoingEncryption {
    /// The files of certificates in PEM that are trusted beside the system's.
    private let authorities: [String]
    /// Made for the first connection: it reads hundreds of certificates, and most processes make no such connection.
    private let context = NIOLockedValueBox<NIOSSLContext?>(nil)

    package init(trusting authorities: [String] = []) {
        self.authorities = authorities
    }

    /// Reads the files of certificates.
    ///
    /// - Throws: ``AuthorityProblem`` if one has no certificate in PEM, or cannot be read.
    package func check() throws { _ = try roots() }

    private func roots() throws -> [NIOSSLAdditionalTrustRoots] {
        try authorities.map { file in
            // The library's reasons do not name the file.
            guard let certificates = try? NIOSSLCertificate.fromPEMFile(file), !certificates.isEmpty else {
                throw AuthorityProblem("\(file) has no certificate in PEM, or cannot be read")
            }
            return .certificates(certificates)
        }
    }

    private func makeContext() throws -> NIOSSLContext {
        try context.withLockedValue { known in
            if let known { return known }
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.applicationProtocols = ["http/1.1"]
            // A receiver that does not answer close_notify would hold the attempt for seconds.
            configuration.shutdownTimeout = .milliseconds(100)
            configuration.additionalTrustRoots = try roots()
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
        case let problem as AuthorityProblem: return problem.description
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return "the certificate is for another name"
        case NIOSSLError.handshakeFailed(let cause):
            let text = "\(cause)"
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                return
                    "the certificate comes from an authority that is not trusted here; --webhook-ca or SSL_CERT_FILE names a file with it"
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
