import Crypto
import Foundation
import SimulationAPI
import SwiftASN1
import TestSupport
import Testing
import X509

/// Certificates from files: `--tls-cert` and `--tls-key`.
@Suite struct GivenCertificateTests {
    /// A certificate that signs itself, and its key, in files.
    private static func files(
        in directory: String, _ name: String, names: [String] = ["localhost"], from start: Date = Date() - 60,
        to end: Date = Date() + 3_600
    ) throws -> (certificate: String, key: String) {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let key = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName(name) }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: start,
            notValidAfter: end, issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try .init {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames(names.map { .dnsName($0) })
            }, issuerPrivateKey: .init(key))
        let paths = ("\(directory)/\(name).pem", "\(directory)/\(name)-key.pem")
        try Data(certificate.serializeAsPEM().pemString.utf8).write(to: URL(fileURLWithPath: paths.0))
        try Data(key.pemRepresentation.utf8).write(to: URL(fileURLWithPath: paths.1))
        return paths
    }

    @Test func aGivenCertificateIsUsed() async throws {
        try await Process.withDirectory { directory in
            let own = try Self.files(in: directory, "own")
            let server = try await SimProcess([
                "--in-memory", "--tls-port", "0", "--ready-json", "--tls-cert", own.certificate, "--tls-key", own.key,
            ])
            let ready = try WireJSON.decode(JSONValue.self, from: Data(server.greeting.utf8))
            #expect(ready["tls_authority"] == .null && ready["tls_url"] != .null)
            #expect(try await TestWorld(base: server.baseURL).send("GET", "/_sim/authority.pem").status == 404)
            server.stop()
        }
    }

    @Test func theServerAnswersToTheNamesOfItsCertificate() async throws {
        try await Process.withDirectory { directory in
            let own = try Self.files(in: directory, "own", names: ["Sim.Example.net", "*.wild.example"])
            let server = try await SimProcess([
                "--in-memory", "--tls-port", "0", "--tls-cert", own.certificate, "--tls-key", own.key,
            ])
            let root = TestWorld(base: server.baseURL)
            for (host, status) in [
                ("sim.example.net:8643", 401), ("a.wild.example", 401), ("wild.example", 403),
                ("a.b.wild.example", 403),
                ("own.example.net", 403),
            ] {
                #expect(try await root.send("GET", "/sdk/session", headers: ["Host": host]).status == status, "\(host)")
            }
            server.stop()
        }
    }

    @Test func anUnusableCertificateIsRefusedAndExplained() async throws {
        try await Process.withDirectory { directory in
            let good = try Self.files(in: directory, "good")
            let other = try Self.files(in: directory, "other")
            let old = try Self.files(in: directory, "old", from: Date() - 7_200, to: Date() - 3_600)
            let coming = try Self.files(in: directory, "coming", from: Date() + 86_400, to: Date() + 172_800)
            let cases: [(certificate: String, key: String, sentence: String)] = [
                (old.certificate, old.key, "expired on"), (coming.certificate, coming.key, "is not valid before"),
                (good.certificate, other.key, "is not the key of"), (good.key, good.key, "is not a certificate"),
                (good.certificate, good.certificate, "is not a key"),
                ("\(directory)/missing.pem", good.key, "is not a certificate in PEM: it cannot be read"),
            ]
            for (certificate, key, sentence) in cases {
                let refused = await #expect(throws: SimProcess.NotStarted.self) {
                    _ = try await SimProcess([
                        "--in-memory", "--tls-port", "0", "--tls-cert", certificate, "--tls-key", key,
                    ])
                }
                #expect(refused?.status == 1, "\(sentence)")
                #expect(refused?.output.contains(sentence) == true, "\(refused?.output ?? "")")
            }
        }
    }
}
