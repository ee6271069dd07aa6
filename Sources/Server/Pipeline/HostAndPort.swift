import Simulation
import SimulationAPI

/// A host with its port, as `Host`, a target and an origin name it (RFC 3986, section 3.2). The whole text must be read.
struct HostAndPort: Equatable {
    /// In lower case, without the dot at the end of a full name. An IPv6 address keeps its brackets, and loses its zone.
    let host: String
    /// Whether the host is an IP address. No page can use an address as the name of another machine.
    let isAddress: Bool
    let port: Int?

    /// The length of the longest name, with the dot at its end and a port.
    private static let maxBytes = 253 + ".:65535".utf8.count

    /// Reads a text such as `localhost:8642`, `sim.example.com` or `[::1]:8642`; `nil` if it is anything else.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maxBytes else { return nil }
        let text = text.lowercased()
        let isBracketed = text.begins(with: "[")
        let host = isBracketed ? text.prefix(before: "]") : text.prefix(before: ":")
        var rest = text.utf8.dropFirst(host.utf8.count)
        if isBracketed {
            // A browser knows no zones. Other clients may send the one that they connect through.
            let address = Substring(host.utf8.dropFirst()).prefix(before: "%")
            guard rest.popFirst() == UInt8(ascii: "]"), address.contains(ascii: ":"),
                AddressRange.pack(String(address)) != nil
            else { return nil }
            (self.host, isAddress) = ("[\(address)]", true)
        } else {
            let name = String(Substring(host.ends(with: ".") ? host.utf8.dropLast() : host.utf8[...]))
            guard Self.isName(name) else { return nil }
            isAddress = Self.endsInNumber(name)
            guard !isAddress || Self.isIPv4(name) else { return nil }
            self.host = name
        }
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.popFirst() == UInt8(ascii: ":"), rest.count <= 5, rest.allSatisfy(Self.isDigit),
            let port = rest.isEmpty ? 0 : Int(Substring(rest)), port <= 65_535
        else { return nil }
        // An empty port is none (RFC 3986, section 3.2.3).
        self.port = rest.isEmpty ? nil : port
    }

    /// Whether the text may be a host name: labels of letters, digits, `-` and `_`. Containers have such names, also with
    /// hyphens at the ends of labels.
    static func isName(_ text: String) -> Bool {
        text.split(at: ".", omittingEmpty: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    isDigit(byte) || (0x61...0x7a).contains(byte) || "-_".utf8.contains(byte)
                }
        }
    }

    /// Whether the last label is a decimal or hexadecimal number. Browsers take such a name for an IPv4 address, and never
    /// look it up (URL Standard, "ends in a number checker").
    private static func endsInNumber(_ name: String) -> Bool {
        guard let last = name.split(at: ".").last else { return false }
        return last.utf8.allSatisfy(isDigit)
            || (last.begins(with: "0x")
                && last.utf8.dropFirst(2).allSatisfy { isDigit($0) || (0x61...0x66).contains($0) })
    }

    /// Whether browsers can read the name as an IPv4 address: one to four numbers, of which the last fills the bytes that are
    /// left, such as `127.0.0.1`, `127.1` and `0x7f000001` (URL Standard, "IPv4 parser").
    private static func isIPv4(_ name: String) -> Bool {
        let parts = name.split(at: ".", omittingEmpty: false)
        let numbers = parts.compactMap(number)
        guard let last = numbers.last, numbers.count == parts.count, parts.count <= 4 else { return false }
        return numbers.dropLast().allSatisfy { $0 <= 255 } && last < 1 << (8 * (5 - UInt64(parts.count)))
    }

    /// A decimal number, an octal one after `0`, or a hexadecimal one after `0x`.
    private static func number(_ text: Substring) -> UInt64? {
        let (digits, radix) =
            text.begins(with: "0x")
            ? (text.dropFirst(2), 16)
            : text.begins(with: "0") && text.utf8.count > 1 ? (text.dropFirst(), 8) : (text, 10)
        return digits.isEmpty ? 0 : UInt64(digits, radix: radix)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
