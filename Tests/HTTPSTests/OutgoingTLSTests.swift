import Foundation
import Logging
import NIOCore
import NIOPosix
import Outgoing
import TestSupport
import Testing

@testable import HTTPS
@testable import Server

/// Outgoing requests to `https:` addresses: whom they trust, and what they say of the others.
@Suite(.serialized) struct OutgoingTLSTests {
    /// Runs `body` with a server that has both ports and a certificate for `localhost`, and a file with its authority.
    private func withServer(
        _ body: @escaping @Sendable (_ port: Int, _ tlsPort: Int, _ authority: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let authority = try LocalAuthority()
        let issued = try authority.issue(for: ["localhost"])
        func write(_ text: String, _ file: String) throws -> String {
            try Data(text.utf8).write(to: folder.appendingPathComponent(file))
            return folder.appendingPathComponent(file).path
        }
        func pem(_ label: String, _ bytes: [UInt8]) -> String {
            let text = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
        }
        let secure = try ServerCertificates(
            .files(
                certificate: try write(pem("CERTIFICATE", issued.certificate), "certificate.pem"),
                key: try write(pem("PRIVATE KEY", issued.key), "key.pem")),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let file = try write(try authority.pem, "authority.pem")
        try await HeldServer.listening(with: secure) { _, port, tlsPort in try await body(port, tlsPort, file) }
    }

    private func status(_ tls: OutgoingTLS, _ url: String, addresses: [String]? = nil) async throws -> Int {
        var request = try OutgoingRequest(.GET, url)
        request.addresses = addresses
        return try await OutgoingClient(encryption: tls).fetch(request, deadline: .now() + .minutes(5)).status
    }

    /// The reason that is said of a failed request.
    private func reason(_ tls: OutgoingTLS, _ url: String, addresses: [String]? = nil) async -> String? {
        let error = await #expect(throws: (any Error).self) { _ = try await status(tls, url, addresses: addresses) }
        // A connection that cannot be prepared is one that fails.
        if let error = error as? NIOConnectionError { return error.text { tls.reason(of: $0) ?? "no reason: \($0)" } }
        return error.map { tls.reason(of: $0) ?? "no reason: \($0)" }
    }

    @Test(.timeLimit(.minutes(15))) func theAuthorityOfAFileIsTrusted() async throws {
        try await withServer { _, port, authority in
            let tls = OutgoingTLS(trusting: [authority])
            for _ in 0..<2 { #expect(try await status(tls, "https://localhost:\(port)/_sim/health") == 200) }
            let pinned = try await status(tls, "https://localhost:\(port)/_sim/health", addresses: ["127.0.0.1"])
            #expect(pinned == 200)
        }
    }

    @Test(.timeLimit(.minutes(15))) func whatIsNotTrustedIsSaidInWords() async throws {
        try await withServer { plain, port, authority in
            #expect(
                await reason(OutgoingTLS(), "https://localhost:\(port)/")
                    == "the certificate comes from an authority that is not trusted here; --webhook-ca or SSL_CERT_FILE names a file with it"
            )
            let tls = OutgoingTLS(trusting: [authority])
            #expect(
                await reason(tls, "https://receiver.test:\(port)/", addresses: ["127.0.0.1"])
                    == "the certificate is for another name")
            var named = try OutgoingRequest(.GET, "https://receiver.test:\(port)/")
            named.addresses = ["127.0.0.1"]
            do {
                _ = try await OutgoingClient(encryption: tls).fetch(named, deadline: .now() + .minutes(5))
                Issue.record("the certificate was taken")
            } catch {
                #expect(named.located("another name", error) == "127.0.0.1: another name")
            }
            #expect(await reason(tls, "https://localhost:\(plain)/") == "the port does not speak TLS")
        }
    }

    /// Neither a missing file, nor one without certificates, nor a key makes the client trust less or more in silence.
    @Test func aFileWithoutCertificatesIsAnError() async throws {
        try await withServer { _, port, authority in
            let folder = URL(fileURLWithPath: authority).deletingLastPathComponent()
            let (empty, text) = (folder.appendingPathComponent("empty.pem"), folder.appendingPathComponent("text.pem"))
            try Data().write(to: empty)
            try Data("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n".utf8).write(to: text)
            let key = folder.appendingPathComponent("key.pem").path
            for file in ["/nonexistent.pem", folder.path, empty.path, text.path, key] {
                let tls = OutgoingTLS(trusting: [authority, file])
                #expect(throws: AuthorityProblem.self) { try tls.check() }
                #expect(
                    await reason(tls, "https://127.0.0.1:\(port)/")
                        == "\(file) has no certificate in PEM, or cannot be read")
            }
            try OutgoingTLS(trusting: [authority, folder.appendingPathComponent("certificate.pem").path]).check()
        }
    }

    @Test func errorsOfOtherKindsHaveNoReason() {
        #expect(OutgoingTLS().reason(of: OutgoingError.deadlineExceeded) == nil)
    }
}
