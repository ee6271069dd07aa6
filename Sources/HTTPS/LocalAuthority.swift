import Crypto
import Foundation
import NIOCore
import Server
import SimulationAPI
import Storage
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
    /// A sentence about other users who could read its key; `nil` if there are none.
    package private(set) var warning: String?

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
        get throws { SHA256.hash(data: try certificate.serializeAsPEM().derBytes).hex }
    }

    /// The certificate as text, for trust stores.
    package var pem: String {
        get throws { try certificate.serializeAsPEM().pemString + "\n" }
    }

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
        return (try leaf.serializeAsPEM().derBytes, Array(key.derRepresentation), end)
    }

    // MARK: Files

    private static let folder = "authority"
    /// The file with the key and the certificate, for the owner alone.
    fileprivate static let secretFile = "authority-key.pem"
    private static let publicFile = "authority.pem"

    /// The path of the certificate of a data directory.
    package static func certificatePath(in dataDirectory: String) -> String {
        "\(dataDirectory)/\(folder)/\(publicFile)"
    }

    /// Opens the authority of a data directory; `nil` if there is none.
    ///
    /// - Throws: ``AuthorityProblem`` if its files cannot be read, or are links.
    package static func existing(in dataDirectory: String) throws -> LocalAuthority? {
        try AuthorityFolder(existingAt: "\(dataDirectory)/\(folder)").flatMap(read)
    }

    /// Opens the authority of a data directory, or makes it.
    ///
    /// - Throws: ``AuthorityProblem`` if its files cannot be read or written, or are links.
    package static func open(in dataDirectory: String) throws -> LocalAuthority {
        try open(in: dataDirectory, owner: nil)
    }

    /// Opens the authority of a data directory, or makes it for the user who owns the directory. Root may make it for another user,
    /// who runs the server.
    ///
    /// - Parameter caller: the owner of a data directory that does not exist yet; `nil` for the user of this process.
    /// - Throws: ``AuthorityProblem`` if its files cannot be read or written, or are links.
    package static func open(
        in dataDirectory: String, for caller: (user: UInt32, group: UInt32)?
    ) throws -> LocalAuthority {
        var facts = stat()
        let hasDirectory = stat(dataDirectory, &facts) == 0
        if let known = try existing(in: dataDirectory) { return known }
        let owner = hasDirectory ? (user: facts.st_uid, group: facts.st_gid) : caller
        let authority = try open(in: dataDirectory, owner: geteuid() == 0 ? owner : nil)
        if geteuid() == 0, !hasDirectory, let owner { _ = lchown(dataDirectory, owner.user, owner.group) }
        return authority
    }

    private static func open(in dataDirectory: String, owner: (user: UInt32, group: UInt32)?) throws -> LocalAuthority {
        let path = "\(dataDirectory)/\(folder)"
        do {
            if !FileManager.default.fileExists(atPath: dataDirectory) {
                try FileManager.default.createDirectory(
                    atPath: dataDirectory, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: Int(PrivateFile.folderMode)])
            }
            let folder = try AuthorityFolder(at: path, owner: owner)
            if try !folder.has(secretFile) {
                let made = try LocalAuthority()
                try folder.write(
                    try made.pem + made.key.pemRepresentation + "\n", to: secretFile, mode: PrivateFile.fileMode)
            }
            guard let authority = try read(folder) else { throw AuthorityProblem("it was removed meanwhile") }
            let shared = try authority.pem
            if try folder.contents(of: publicFile) != Data(shared.utf8) {
                try folder.remove(publicFile)
                try folder.write(shared, to: publicFile, mode: 0o644)
            }
            return authority
        } catch let problem as AuthorityProblem {
            throw problem
        } catch {
            throw AuthorityProblem("the local authority cannot be stored in \(path): \(error)")
        }
    }

    /// Reads the authority of a folder; `nil` if there is none.
    private static func read(_ folder: AuthorityFolder) throws -> LocalAuthority? {
        guard let secret = try folder.contents(of: secretFile) else { return nil }
        let path = "\(folder.path)/\(secretFile)"
        let advice = "delete \(path) to make a new authority, and run entrupy-sim trust again"
        do {
            let parts = try PEMDocument.parseMultiple(pemString: String(decoding: secret, as: UTF8.self))
            guard parts.count == 2 else { throw AuthorityProblem("it must hold a certificate and a key") }
            let certificate = try Certificate(pemDocument: parts[0])
            let key = try P256.Signing.PrivateKey(derRepresentation: parts[1].derBytes)
            guard certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
                throw AuthorityProblem("the key is not the certificate's")
            }
            guard certificate.notValidAfter > Date() else { throw AuthorityProblem("the certificate has expired") }
            var authority = try LocalAuthority(certificate, key)
            if !folder.exposures.isEmpty {
                authority.warning =
                    "\(folder.exposures.joined(separator: "; ")). If they may have used the key, \(advice)"
            }
            return authority
        } catch {
            throw AuthorityProblem("the local authority in \(path) cannot be used (\(error)); \(advice)")
        }
    }
}

/// The folder of an authority in a data directory. It is opened once, so no link is followed that another user puts in its
/// place: root may make the files of a directory that a user owns.
private final class AuthorityFolder {
    let path: String
    private let descriptor: Int32
    /// The owner of the files that are made; `nil` for the user of this process.
    private let owner: (user: UInt32, group: UInt32)?
    /// The access that other users had or have, to the folder and to the key that was read.
    private(set) var exposures: [String] = []

    /// Opens the folder; `nil` if there is none.
    ///
    /// - Throws: ``AuthorityProblem`` if it is a link, or cannot be opened.
    convenience init?(existingAt path: String) throws {
        var facts = stat()
        guard lstat(path, &facts) == 0 || errno != ENOENT && errno != ENOTDIR else { return nil }
        try self.init(opening: path, owner: nil)
    }

    /// Opens the folder, or makes it.
    ///
    /// - Throws: ``AuthorityProblem`` if it is a link, or cannot be made or opened.
    convenience init(at path: String, owner: (user: UInt32, group: UInt32)?) throws {
        guard mkdir(path, PrivateFile.folderMode) == 0 || errno == EEXIST else {
            throw AuthorityProblem("the local authority cannot be stored in \(path): \(Self.reason)")
        }
        try self.init(opening: path, owner: owner)
        if let owner { fchown(descriptor, owner.user, owner.group) }
    }

    private init(opening path: String, owner: (user: UInt32, group: UInt32)?) throws {
        self.path = path
        self.owner = owner
        descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.problem(path) }
        restrict(descriptor, path, to: PrivateFile.folderMode)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func has(_ name: String) throws -> Bool {
        var facts = stat()
        if fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 { return true }
        guard errno == ENOENT else { throw Self.problem("\(path)/\(name)") }
        return false
    }

    /// The bytes of a file; `nil` if there is none. Restricts the access to the key.
    ///
    /// - Throws: ``AuthorityProblem`` if it is a link, or cannot be read.
    func contents(of name: String) throws -> Data? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.problem("\(path)/\(name)")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw AuthorityProblem("\(path)/\(name) is not a plain file; move it to another place")
        }
        if name == LocalAuthority.secretFile { restrict(file, "\(path)/\(name)", to: PrivateFile.fileMode) }
        return try handle.readToEnd() ?? Data()
    }

    /// Restricts the access to an open file or folder to its owner, and notes what was wrong with it.
    private func restrict(_ file: Int32, _ path: String, to wanted: mode_t) {
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & 0o077 != 0 else { return }
        let mode = String(facts.st_mode & 0o777, radix: 8)
        let problem = fchmod(file, wanted) == 0 ? "its file system has no modes" : Self.reason
        let isOpen = fstat(file, &facts) != 0 || facts.st_mode & 0o077 != 0
        exposures.append(
            isOpen
                ? "\(path) is open to other users of this machine (mode \(mode)), and that cannot be changed: \(problem)"
                : "\(path) was open to other users of this machine (mode \(mode)); now only its owner can use it")
    }

    /// Writes a new file as a whole. If another process was first, its file stays.
    func write(_ text: String, to name: String, mode: mode_t) throws {
        let temporary = "\(name).\(getpid())"
        try remove(temporary)
        let made = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard made >= 0 else { throw AuthorityProblem("\(path)/\(name) cannot be written: \(Self.reason)") }
        let file = FileHandle(fileDescriptor: made, closeOnDealloc: true)
        defer { unlinkat(descriptor, temporary, 0) }
        try file.write(contentsOf: Data(text.utf8))
        try file.synchronize()
        if let owner { fchown(made, owner.user, owner.group) }
        guard linkat(descriptor, temporary, descriptor, name, 0) == 0 || errno == EEXIST else {
            throw AuthorityProblem("\(path)/\(name) cannot be written: \(Self.reason)")
        }
    }

    func remove(_ name: String) throws {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw AuthorityProblem("\(path)/\(name) cannot be removed: \(Self.reason)")
        }
    }

    private static func problem(_ path: String) -> AuthorityProblem {
        let reason = reason
        var facts = stat()
        // A folder that is opened as one, and is a link, is "not a directory" on some systems.
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFLNK else {
            return AuthorityProblem("\(path) cannot be opened: \(reason)")
        }
        return AuthorityProblem("\(PrivateFile.isLink(path))")
    }

    private static var reason: String { String(cString: strerror(errno)) }
}

/// An authority or certificate that cannot be used: what is wrong, and what to do.
package struct AuthorityProblem: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

extension Sequence<UInt8> {
    /// The bytes in lower-case hex.
    fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
