import Foundation
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP2
import NIOSSL
import Server
import X509

/// The source of the certificates of the HTTPS port.
package enum CertificateSource: Sendable {
    /// The authority of a data directory, or one that ends with the server if there is no directory.
    case localAuthority(dataDirectory: String?)
    /// Files in PEM: a certificate, followed by those that lead to its authority, and its key.
    case files(certificate: String, key: String)
}

/// The HTTPS port of a server, with its certificates.
package struct ServerCertificates: SecurePort {
    package let authority: String?
    package let authorityPath: String?
    package let names: [String]
    let configuration: TLSConfiguration

    /// - Throws: ``AuthorityProblem`` if the certificates cannot be used.
    package init(_ source: CertificateSource, logger: Logger) throws {
        switch source {
        case .localAuthority(let directory):
            let authority = try directory.map(LocalAuthority.open(in:)) ?? LocalAuthority()
            self.authority = try authority.pem
            authorityPath = directory.map(LocalAuthority.certificatePath(in:))
            if let warning = authority.warning { logger.warning("\(warning)") }
            configuration = try Self.configuration(authority, logger)
            names = []
        case .files(let certificate, let key):
            (authority, authorityPath) = (nil, nil)
            (configuration, names) = try Self.configuration(certificate: certificate, key: key)
        }
    }

    package func server(
        limits: ConnectionLimits, requestID: @escaping @Sendable () -> String, logger: Logger
    ) throws -> HTTPServerBuilder {
        let context = try NIOSSLContext(configuration: configuration)
        return HTTPServerBuilder { SecureChannel($0, context, limits: limits, requestID: requestID) }
    }

    private static func configuration(_ authority: LocalAuthority, _ logger: Logger) throws -> TLSConfiguration {
        let cache = IssuedCertificates(authority)
        let own = try cache.certificate(for: nil)
        var configuration = server([.certificate(own.certificate)], .privateKey(own.key))
        configuration.sslContextCallback = { client, promise in
            do {
                let issued = try cache.certificate(for: client.serverHostname)
                var override = NIOSSLContextConfigurationOverride()
                override.certificateChain = [.certificate(issued.certificate)]
                override.privateKey = .privateKey(issued.key)
                promise.succeed(override)
            } catch {
                logger.error("a certificate cannot be issued", metadata: ["error": "\(error)"])
                promise.fail(error)
            }
        }
        return configuration
    }

    private static func configuration(certificate path: String, key keyPath: String) throws -> (
        TLSConfiguration, names: [String]
    ) {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(path)
        } catch {
            throw AuthorityProblem("--tls-cert \(path) is not a certificate in PEM: \(readable(error, path))")
        }
        guard let first = chain.first else { throw AuthorityProblem("--tls-cert \(path) has no certificate") }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(file: keyPath, format: .pem)
        } catch {
            throw AuthorityProblem(
                "--tls-key \(keyPath) is not a key in PEM without a passphrase: \(readable(error, keyPath))")
        }
        let names = try check(first, path)
        let configuration = server(chain.map { .certificate($0) }, .privateKey(key))
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw AuthorityProblem(
                "--tls-key \(keyPath) is not the key of the first certificate in \(path), which must be the server's own"
            )
        }
        return (configuration, names)
    }

    /// Checks that a certificate is valid now.
    ///
    /// - Returns: the host names that it is for.
    private static func check(_ certificate: NIOSSLCertificate, _ path: String) throws -> [String] {
        let parsed = try Certificate(derEncoded: try certificate.toDERBytes())
        let advice = "renew it, or leave out --tls-cert to use the local authority"
        if parsed.notValidAfter < Date() {
            throw AuthorityProblem("the certificate in \(path) expired on \(day(parsed.notValidAfter)); \(advice)")
        }
        if parsed.notValidBefore > Date() {
            throw AuthorityProblem(
                "the certificate in \(path) is not valid before \(day(parsed.notValidBefore)); check this machine's date, or \(advice)"
            )
        }
        return try parsed.extensions.subjectAlternativeNames.map { names in
            names.compactMap { if case .dnsName(let name) = $0 { name } else { nil } }
        } ?? []
    }

    private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }

    private static func readable(_ error: any Error, _ path: String) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        return FileManager.default.isReadableFile(atPath: path) ? "it cannot be parsed" : "it cannot be read"
    }

    private static func server(
        _ chain: [NIOSSLCertificateSource], _ key: NIOSSLPrivateKeySource
    ) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        configuration.applicationProtocols = NIOHTTP2SupportedALPNProtocols
        configuration.minimumTLSVersion = .tlsv12
        // The real time that a client has to answer the server's close_notify; few clients do. `DrainingCloseHandler`
        // sends what was written before.
        configuration.shutdownTimeout = .milliseconds(100)
        return configuration
    }
}

/// The certificates that the authority has issued, by the name that clients asked for.
private final class IssuedCertificates: Sendable {
    struct Issued: Sendable {
        let certificate: NIOSSLCertificate
        let key: NIOSSLPrivateKey
        /// The moment from which on another one is issued.
        let renewal: Date
        /// The addresses that it covers.
        let addresses: [String]
    }

    private let authority: LocalAuthority
    private let issued = NIOLockedValueBox<[String: Issued]>([:])

    /// The maximum number of names whose certificates are kept.
    private static let maxNames = 1_000

    init(_ authority: LocalAuthority) {
        self.authority = authority
    }

    /// The certificate for the SNI host name of a client. Names that the authority may not sign for get the one for this
    /// machine's own names and addresses, as does a client that connects to an address.
    func certificate(for name: String?) throws -> Issued {
        var name = name?.lowercased() ?? ""
        if !LocalNames.isName(name) || !authority.permits(name) || LocalNames.ofThisMachine.contains(name) { name = "" }
        let now = Date()
        // A laptop changes its network, and its addresses.
        let addresses = name.isEmpty ? LocalNames.addresses : []
        if let known = issued.withLockedValue({ $0[name] }), now < known.renewal, known.addresses == addresses {
            return known
        }
        let own = ["localhost"] + LocalNames.ofThisMachine
        let (certificate, key, end) = try authority.issue(
            for: name.isEmpty ? own : [name], addresses: addresses)
        let made = Issued(
            certificate: try NIOSSLCertificate(bytes: certificate, format: .der),
            key: try NIOSSLPrivateKey(bytes: key, format: .der), renewal: now + end.timeIntervalSince(now) / 3,
            addresses: addresses)
        issued.withLockedValue { issued in
            if issued.count >= Self.maxNames { issued = issued.filter { $0.key.isEmpty } }
            issued[name] = made
        }
        return made
    }
}
