import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOSSL
import TestSupport
import Testing
import X509

@testable import HTTPS
@testable import Server

@Suite struct TrustStoreTests {
    /// A root folder with an empty store of Debian's layout.
    private static func withRoot(_ body: (String) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("trust-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: root + "/usr/local/share/ca-certificates", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        try body(root)
    }

    @Test func anAuthorityIsAddedAndRemovedWithoutATrace() throws {
        try Self.withRoot { root in
            let updates = NIOLockedValueBox<[[String]]>([])
            let store = try TrustStore(root: root) { command in
                updates.withLockedValue { $0.append(command) }
                return (0, "")
            }
            let (first, second) = (try LocalAuthority(), try LocalAuthority())
            let path = try store.add(first)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == (try first.pem))
            #expect(try store.place(of: first) == path && store.place(of: second) == nil)
            // Twice is once.
            #expect(try store.add(first) == path && store.installed == [path])
            _ = try store.add(second)
            try store.remove([path])
            #expect(try store.place(of: first) == nil && store.installed.count == 1)
            try store.remove(store.installed)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: root + "/usr/local/share/ca-certificates") == [])
            let update = ["update-ca-certificates"]
            #expect(
                updates.withLockedValue { $0 } == [update, update, update] + [
                    update + ["--fresh"], update + ["--fresh"],
                ])
        }
    }

    @Test(arguments: [Int32?.none, 1])
    func aFailedUpdateLeavesNothing(status: Int32?) throws {
        try Self.withRoot { root in
            let store = try TrustStore(root: root) { _ in (status, "no space") }
            let problem = #expect(throws: AuthorityProblem.self) { _ = try store.add(LocalAuthority()) }
            #expect(problem?.description.contains(status == nil ? "ca-certificates" : "no space") == true)
            #expect(store.installed == [])
        }
    }

    @Test func anUnknownSystemIsNamed() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("empty-\(UUID())").path
        let problem = #expect(throws: AuthorityProblem.self) { _ = try TrustStore(root: root) { _ in (0, "") } }
        #expect(problem?.description.contains("no trust store") == true)
    }
}

@Suite struct LocalAuthorityTests {
    @Test func theAuthorityMaySignOnlyForLocalNames() throws {
        let authority = try LocalAuthority()
        for name in ["localhost", "a.localhost", "printer.local", "shop.test", "host.docker.internal"] {
            #expect(authority.permits(name), "\(name)")
        }
        for name in ["entrupy.com", "localhost.example.com", "mylocalhost", "", "com"] {
            #expect(!authority.permits(name), "\(name)")
        }
        let extensions = authority.certificate.extensions
        let constraints = try #require(extensions.first { $0.oid == [2, 5, 29, 30] })
        #expect(constraints.critical)
        // For servers alone: a certificate for mail that the key signed is worth nothing.
        let usage = try extensions.extendedKeyUsage
        #expect(usage?.contains(.serverAuth) == true && usage?.count == 1)
        // A name that could be a top-level domain would be one for everything below it.
        #expect(
            authority.permittedNames.someAndAll {
                $0.contains(".") || $0.contains { !$0.isLetter }
                    || ["localhost", "local", "internal", "test"].contains($0)
            })
        let (der, _, end) = try authority.issue(
            for: ["localhost", "entrupy.com"], addresses: ["127.0.0.1", "8.8.8.8", "::1", "not an address"])
        let leaf = try Certificate(derEncoded: der)
        let names = try #require(try leaf.extensions.subjectAlternativeNames)
        #expect(names.count == 3, "\(names)")
        #expect(authority.certificate.publicKey.isValidSignature(leaf.signature, for: leaf))
        #expect(end.timeIntervalSinceNow < 91 * 86_400)
    }

    @Test(arguments: [
        ("10.1.2.3", true), ("172.16.0.1", true), ("172.32.0.1", false), ("192.168.1.1", true), ("8.8.8.8", false),
        ("127.9.9.9", true), ("::1", true), ("::2", false), ("fd00::1", true), ("fe80::1", true),
        ("2001:db8::1", false),
    ])
    func privateAddressesAreKnown(address: String, isLocal: Bool) throws {
        let packed = try #require(AddressRange.pack(address))
        #expect(AddressRange.local.contains { $0.contains(packed) } == isLocal)
    }

    @Test(arguments: [
        ("a.b-c.d", true), ("", false), ("a..b", false), ("-a", false), ("a b", false), ("é", false),
        (String(repeating: "a", count: 64), false), ("under_score.test", true),
    ])
    func namesAreChecked(name: String, isName: Bool) {
        #expect(LocalNames.isName(name) == isName)
    }

    @Test func theAuthorityBelongsToTheOwnerOfTheDirectory() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("owner-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let made = try LocalAuthority.open(in: directory, for: geteuid() == 0 ? (user: 65_534, group: 65_534) : nil)
        var facts = stat()
        #expect(stat("\(directory)/authority/authority-key.pem", &facts) == 0)
        #expect(facts.st_uid == (geteuid() == 0 ? 65_534 : geteuid()))
        // The owner of existing files does not change.
        #expect(chown("\(directory)/authority/authority-key.pem", geteuid(), getegid()) == 0)
        let known = try LocalAuthority.open(in: directory, for: geteuid() == 0 ? (user: 65_534, group: 65_534) : nil)
        #expect(try known.fingerprint == made.fingerprint)
        #expect(stat("\(directory)/authority/authority-key.pem", &facts) == 0 && facts.st_uid == geteuid())
    }

    @Test func aServerWithoutADirectoryHasATemporaryAuthority() throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let certificates = try ServerCertificates(.localAuthority(dataDirectory: nil), logger: logger)
        #expect(certificates.authority != nil)
        _ = try NIOSSLContext(configuration: certificates.configuration)
    }
}
