import Foundation
import Logging
import Outgoing
import Server

#if HTTPS
    import HTTPS
#endif

/// The part of the program that needs TLS: the HTTPS port, its local authority, and `https:` addresses of others. `HTTPS=1` adds it to a
/// build, and every package has it. Without it a build compiles about half as much.
enum Encryption {
    /// The way to a program that has it.
    static let advice = "build it with \"HTTPS=1 make serve\", or use a released package"

    #if HTTPS
        static let isBuiltIn = true

        /// Makes `https:` addresses work in this process. Beside the system's authorities, those of the file that `SSL_CERT_FILE` names
        /// are trusted, as other programs do.
        static func install() { OutgoingClient.installEncryption(OutgoingTLS(trusting: given)) }

        /// Trusts the authorities of a file too.
        ///
        /// - Throws: ``Refusal`` if the file has no certificate.
        static func trust(_ file: String, option: String) throws {
            do {
                try OutgoingTLS(trusting: [file]).check()
            } catch {
                throw Refusal(
                    .usage, "\(option): \(error)", next: "name a file that begins with -----BEGIN CERTIFICATE-----")
            }
            OutgoingClient.installEncryption(OutgoingTLS(trusting: given + [file]))
        }

        private static var given: [String] {
            [ProcessInfo.processInfo.environment["SSL_CERT_FILE"]].compactMap { $0?.isEmpty == false ? $0 : nil }
        }

        /// - Parameters:
        ///   - files: a certificate and its key, in PEM; `nil` for those of a local authority.
        ///   - dataDirectory: the directory of the local authority; `nil` for one that ends with the server.
        /// - Throws: ``Refusal`` if the certificates cannot be used.
        static func port(
            files: (certificate: String, key: String)?, dataDirectory: String?, logger: Logger
        ) throws -> any SecurePort {
            let source: CertificateSource =
                files.map { .files(certificate: $0.certificate, key: $0.key) }
                ?? .localAuthority(dataDirectory: dataDirectory)
            return try refusing { try ServerCertificates(source, logger: logger) }
        }

        /// - Throws: ``Refusal`` for problems with an authority or certificate.
        static func refusing<Value>(_ body: () throws -> Value) throws -> Value {
            do {
                return try body()
            } catch let problem as AuthorityProblem {
                throw Refusal(.no, problem.description)
            }
        }
    #else
        static let isBuiltIn = false

        static func install() {}

        static func trust(_ file: String, option: String) throws { throw missing(option) }

        static func port(
            files: (certificate: String, key: String)?, dataDirectory: String?, logger: Logger
        ) throws -> any SecurePort {
            throw missing("--tls-port")
        }

    #endif

    /// The refusal of a command or option that needs HTTPS.
    static func missing(_ part: String) -> Refusal {
        Refusal(.usage, "\(part) needs HTTPS, and this program was built without it", next: advice)
    }
}
