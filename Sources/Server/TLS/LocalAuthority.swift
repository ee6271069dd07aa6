import Crypto
import Foundation
import NIOCore
import SwiftASN1
import X509

/// The certificate authority of a data directory, which signs the certificates of the HTTPS port.
///
/// A data directory keeps the same authority until its file is deleted. Critical extensions of its certificate limit it
/// to servers with local names and private addresses, so a stolen key is of no use elsewhere [D local-authority].
package struct LocalAuthority: Sendable {
    let certificate: Certificate
    private let key: P256.Signing.PrivateKey
    /// The names for which it may sign, with the names below each.
    let permittedNames: [String]

    /// A certificate is for `localhost` and these, and for every name below one of them.
    private static let localNames = ["localhost", "local", "internal", "test", "home.arpa"]
    private static let lifetime = TimeInterval(10 * 365 * 86_400)
    /// Apple's systems refuse certificates for more than 825 days, also from a user's own authority.
    private static let leafLifetime = TimeInterval(90 * 86_400)
    /// Certificates begin in the past, for machines whose clock is slow.
    private static let slack = TimeInterval(86_400)

    /// Creates an authority that is not stored in a file.
    init() throws {
        let now = Date()
        let key = P256.Signing.PrivateKey()
        let fingerprint = SHA256.hash(data: key.publicKey.rawRepresentation).prefix(4).hex
        let subject = try DistinguishedName {
            OrganizationName("entrupy-sim")
            CommonName("entrupy-sim local authority \(fingerprint)")
        }
        let names = Self.localNames + LocalNames.ofThisMachine.filter { !LocalNames.isBelow($0, Self.localNames) }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: now - Self.slack,
            notValidAfter: now + Self.lifetime, issuer: subject, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try .init {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                // For servers alone: not for mail, programs or clients.
                try ExtendedKeyUsage([.serverAuth])
                Critical(
                    NameConstraints(
                        permittedDNSDomains: names,
                        permittedIPRanges: AddressRange.local.map { ASN1OctetString(contentBytes: $0.bytes[...]) }))
                SubjectKeyIdentifier(hash: .init(key.publicKey))
            }, issuerPrivateKey: .init(key))
        try self.init(certificate, key)
    }

    private init(_ certificate: Certificate, _ key: P256.Signing.PrivateKey) throws {
        self.certificate = certificate
        self.key = key
        permittedNames = try certificate.extensions.nameConstraints.map { Array($0.permittedDNSDomains) } ?? []
    }

    /// The certificate's SHA-256, in lower-case hex.
    package var fingerprint: String {
        get throws { SHA256.hash(data: try DER.bytes(of: certificate)).hex }
    }

    /// The certificate as text, for trust stores.
    package var pem: String {
        get throws { try certificate.serializeAsPEM().pemString + "\n" }
    }

    /// Whether the authority may sign for a name.
    func permits(_ name: String) -> Bool { LocalNames.isBelow(name, permittedNames) }

    // MARK: Certificates

    /// A new certificate with its key, as DER.
    ///
    /// - Parameters:
    ///   - names: host names; those that the authority may not sign for are left out.
    ///   - addresses: numeric addresses; public ones are left out.
    func issue(
        for names: [String], addresses: [String] = []
    ) throws -> (certificate: [UInt8], key: [UInt8], end: Date) {
        let now = Date()
        let end = min(now + Self.leafLifetime, certificate.notValidAfter)
        let key = P256.Signing.PrivateKey()
        let packed = addresses.compactMap(AddressRange.pack).filter { address in
            AddressRange.local.contains { $0.contains(address) }
        }
        let leaf = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: now - Self.slack,
            notValidAfter: end, issuer: certificate.subject,
            subject: try DistinguishedName { CommonName("entrupy-sim") }, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try .init {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(
                    names.filter(permits).map { .dnsName($0) }
                        + packed.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) })
                SubjectKeyIdentifier(hash: .init(key.publicKey))
                AuthorityKeyIdentifier(
                    keyIdentifier: try certificate.extensions.subjectKeyIdentifier?.keyIdentifier)
            }, issuerPrivateKey: .init(self.key))
        return (try DER.bytes(of: leaf), Array(key.derRepresentation), end)
    }

    // MARK: Files

    /// The folder of the authority in a data directory.
    private static let folder = "authority"
    /// The file with the key and the certificate, for the owner alone.
    private static let secretFile = "authority-key.pem"
    /// The file with the certificate.
    private static let publicFile = "authority.pem"

    /// The path of the certificate of a data directory.
    package static func certificatePath(in dataDirectory: String) -> String {
        "\(dataDirectory)/\(folder)/\(publicFile)"
    }

    /// Opens the authority of a data directory; `nil` if there is none.
    ///
    /// - Throws: ``AuthorityProblem`` if its files cannot be read.
    package static func existing(in dataDirectory: String) throws -> LocalAuthority? {
        let path = "\(dataDirectory)/\(folder)/\(secretFile)"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try read(path)
    }

    /// Opens the authority of a data directory, or makes it.
    ///
    /// - Throws: ``AuthorityProblem`` if its files cannot be read or written.
    package static func open(in dataDirectory: String) throws -> LocalAuthority {
        let folder = "\(dataDirectory)/\(folder)"
        let path = "\(folder)/\(secretFile)"
        let authority: LocalAuthority
        do {
            if !FileManager.default.fileExists(atPath: path) {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                let made = try LocalAuthority()
                try Self.write(try made.pem + made.key.pemRepresentation + "\n", to: path, mode: 0o600)
            }
            authority = try read(path)
            let shared = "\(folder)/\(publicFile)"
            if try FileManager.default.contents(atPath: shared) != Data(authority.pem.utf8) {
                try? FileManager.default.removeItem(atPath: shared)
                try Self.write(try authority.pem, to: shared, mode: 0o644)
            }
        } catch let problem as AuthorityProblem {
            throw problem
        } catch {
            throw AuthorityProblem("the local authority cannot be stored in \(folder): \(error)")
        }
        return authority
    }

    /// Opens the authority of a data directory, or makes it for the user who owns the directory. Root may make it for another user,
    /// who runs the server.
    ///
    /// - Parameter caller: the owner of a data directory that does not exist yet; `nil` for the user of this process.
    /// - Throws: ``AuthorityProblem`` if its files cannot be read or written.
    package static func open(
        in dataDirectory: String, for caller: (user: UInt32, group: UInt32)?
    ) throws -> LocalAuthority {
        var facts = stat()
        let hasDirectory = stat(dataDirectory, &facts) == 0
        if let known = try existing(in: dataDirectory) { return known }
        let authority = try open(in: dataDirectory)
        let owner = hasDirectory ? (user: facts.st_uid, group: facts.st_gid) : caller
        if geteuid() == 0, let owner {
            let folder = "\(dataDirectory)/\(folder)"
            let made = [folder, "\(folder)/\(secretFile)", "\(folder)/\(publicFile)"]
            for path in (hasDirectory ? [] : [dataDirectory]) + made { _ = lchown(path, owner.user, owner.group) }
        }
        return authority
    }

    private static func read(_ path: String) throws -> LocalAuthority {
        let advice = "delete \(path) to make a new authority, and run entrupy-sim trust again"
        do {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let parts = try PEMDocument.parseMultiple(pemString: text)
            guard parts.count == 2 else { throw AuthorityProblem("it must hold a certificate and a key") }
            let certificate = try Certificate(pemDocument: parts[0])
            let key = try P256.Signing.PrivateKey(derRepresentation: parts[1].derBytes)
            guard certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
                throw AuthorityProblem("the key is not the certificate's")
            }
            guard certificate.notValidAfter > Date() else { throw AuthorityProblem("the certificate has expired") }
            return try LocalAuthority(certificate, key)
        } catch {
            throw AuthorityProblem("the local authority in \(path) cannot be used (\(error)); \(advice)")
        }
    }

    /// Writes a new file as a whole. If another process was first, its file stays.
    private static func write(_ text: String, to path: String, mode: mode_t) throws {
        let temporary = "\(path).\(getpid())"
        unlink(temporary)
        let descriptor = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode)
        guard descriptor >= 0 else { throw AuthorityProblem(String(cString: strerror(errno))) }
        defer { unlink(temporary) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(text.utf8))
        try file.synchronize()
        guard link(temporary, path) == 0 || errno == EEXIST else {
            throw AuthorityProblem(String(cString: strerror(errno)))
        }
    }
}

/// An authority or certificate that cannot be used: what is wrong, and what to do.
package struct AuthorityProblem: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

extension DER {
    /// The certificate in DER.
    fileprivate static func bytes(of certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}

extension Sequence<UInt8> {
    /// The bytes in lower-case hex.
    fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
