import Foundation
import NIOCore

/// Names and addresses of this machine.
package enum LocalNames {
    /// The machine's host name without its domain, and the same as it is announced to the local network. A host name that could be a
    /// top-level domain, such as `dev`, is left out: an authority for it would be one for all names below.
    package static let ofThisMachine: [String] = {
        guard let first = hostName.map({ String($0.prefix(before: ".")) }) else { return [] }
        let isDomainLike = first.begins(with: "xn--") || first.utf8.allSatisfy { (0x61...0x7a).contains($0) }
        return ((isDomainLike ? [] : [first]) + [first + ".local"]).filter { isName($0) }
    }()

    /// The names by which other machines may know this one: its host name, and its name in the local network.
    package static let hosts: [String] = {
        guard let name = hostName else { return [] }
        return [name, name.prefix(before: ".") + ".local"].filter { isName($0) }
    }()

    /// The machine's host name in lower case; `nil` if it has none.
    private static let hostName: String? = {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
    }()

    /// The addresses of this machine, and the one under which an Android emulator sees it.
    package static var addresses: [String] {
        // The certificate then lacks these addresses; the name localhost still works.
        let own = (try? System.enumerateDevices())?.compactMap { $0.address?.ipAddress } ?? []
        // An interface's name may follow an IPv6 address.
        let all = ["127.0.0.1", "::1", "10.0.2.2"] + own.map { String($0.prefix(before: "%")) }
        var seen: Set<String> = []
        return all.filter { seen.insert($0).inserted }
    }

    package static func isBelow(_ name: String, _ domains: [String]) -> Bool {
        domains.contains { name.isIdentical(to: $0) || name.ends(with: "." + $0) }
    }

    /// Whether the text is a host name in lower case (RFC 1123).
    package static func isName(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count) && HostAndPort.isName(text)
            && text.split(at: ".").allSatisfy { !$0.begins(with: "-") && !$0.ends(with: "-") }
    }
}

/// A range of addresses: the bits of an address that count, and their values.
package struct AddressRange {
    private let address: [UInt8]
    private let mask: [UInt8]

    /// Loopback, private and link-local addresses.
    package static let local = [
        AddressRange("127.0.0.0", bits: 8), AddressRange("10.0.0.0", bits: 8), AddressRange("172.16.0.0", bits: 12),
        AddressRange("192.168.0.0", bits: 16), AddressRange("169.254.0.0", bits: 16), AddressRange("::1", bits: 128),
        AddressRange("fc00::", bits: 7), AddressRange("fe80::", bits: 10),
    ]

    private init(_ text: String, bits: Int) {
        address = Self.pack(text) ?? []
        mask = address.indices.map { index in
            let rest = bits - index * 8
            return rest >= 8 ? 0xff : rest <= 0 ? 0 : ~(0xff >> UInt8(rest))
        }
    }

    /// The range as a name constraint has it: the address, then the mask (RFC 5280, section 4.2.1.10).
    package var bytes: [UInt8] { address + mask }

    package func contains(_ packed: [UInt8]) -> Bool {
        packed.count == address.count
            && packed.indices.allSatisfy { packed[$0] & mask[$0] == address[$0] & mask[$0] }
    }

    /// The bytes of a numeric address; `nil` if the text is not one.
    package static func pack(_ text: String) -> [UInt8]? {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        case .v4(let address): return withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): return withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: return nil
        }
    }
}
