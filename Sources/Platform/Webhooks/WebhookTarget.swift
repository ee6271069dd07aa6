import Foundation

/// Where a webhook may go.
package struct WebhookTarget: Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// A name, or an address without brackets.
    package let host: String
    package let port: Int
    /// As it is written, with its escapes.
    let path: String

    /// The longest URL, in UTF-8 bytes [D].
    static let longest = 2000

    /// Reads a URL; what is wrong with it is said as a problem of the field `url`.
    package static func read(_ text: String) -> Result<WebhookTarget, Problem> {
        if let problem = TextRules.tooLong(text, bytes: longest) { return .failure(Problem(text: problem)) }
        let example = "for instance http://127.0.0.1:9000/hooks"
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased() else {
            return .failure(Problem(text: "must be a URL, \(example)"))
        }
        guard scheme == "http" || scheme == "https" else {
            return .failure(Problem(text: "must be http or https, \(example); this is \(scheme)"))
        }
        guard url.user == nil, url.password == nil else {
            return .failure(Problem(text: "must not hold a user or password; the secret_key signs what is sent"))
        }
        guard let host = url.host?.trimmingCharacters(in: ["[", "]"]), !host.isEmpty else {
            return .failure(Problem(text: "names no host, \(example)"))
        }
        guard !host.contains("%") else {
            return .failure(Problem(text: "must not name a zone or hold an escape in its host, \(example)"))
        }
        // A port that is no number, or too large, is read as none.
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        let authority = text.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let hasPort = authority.hasSuffix("]") ? false : authority.split(separator: "]").last?.contains(":") ?? false
        guard (1...65535).contains(port), !hasPort || url.port != nil else {
            return .failure(Problem(text: "must have a port from 1 to 65535"))
        }
        return .success(WebhookTarget(scheme: scheme, host: host, port: port, path: url.percentEncodedPath))
    }

    /// What is wrong with a URL.
    package struct Problem: Error {
        package let text: String
    }

    /// The address, where the host is one and no name.
    package var address: Address? { Address(host) }

    /// The host in the form in which names are compared.
    var plainHost: String { (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased() }

    /// An IPv4 or IPv6 address.
    package struct Address: Sendable, Hashable {
        /// 4 or 16.
        let bytes: [UInt8]

        /// Reads IPv4 or IPv6; nil where it is a name. IPv4 in every form that resolvers take for one: in fewer parts, decimal,
        /// octal, hexadecimal, with a dot at the end. An IPv4 address that is written as IPv6 is the IPv4 address.
        package init?(_ text: String) {
            var four = in_addr()
            var six = in6_addr()
            let dotless = text.ends(with: ".") ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text
            if inet_aton(dotless, &four) != 0 {
                bytes = withUnsafeBytes(of: four) { Array($0) }
            } else if inet_pton(AF_INET6, text, &six) == 1 {
                let all = withUnsafeBytes(of: six) { Array($0) }
                bytes = all.starts(with: Self.mappedPrefix) ? Array(all.suffix(4)) : all
            } else {
                return nil
            }
        }

        /// What IPv4 addresses begin with that are written as IPv6.
        private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]

        /// Whether it leads to this machine itself: loopback, or no address at all, which systems take for loopback.
        package var isThisMachine: Bool {
            bytes.count == 4
                ? bytes[0] == 127 || bytes[0] == 0 : bytes.prefix(15).allSatisfy { $0 == 0 } && bytes[15] <= 1
        }

        /// Whether it is this machine or one of a private network; never one at which clouds keep their metadata.
        package var isLocal: Bool {
            guard bytes.count == 16 else { return Self.isLocal(bytes) }
            let isLoopback = bytes.prefix(15).allSatisfy { $0 == 0 } && bytes[15] == 1
            return isLoopback || bytes[0] & 0xfe == 0xfc && !Self.metadata.contains { bytes.starts(with: $0) }
        }

        /// Where clouds keep their metadata among private IPv6 addresses: `fd00:ec2::/32` and `fd20:ce::254`.
        private static let metadata: [[UInt8]] = [
            [0xfd, 0x00, 0x0e, 0xc2], [0xfd, 0x20, 0x00, 0xce] + Array(repeating: 0, count: 10) + [0x02, 0x54],
        ]

        /// Addresses of a link, where clouds keep their metadata, are none.
        private static func isLocal(_ bytes: [UInt8]) -> Bool {
            switch (bytes[0], bytes[1]) {
            case (127, _), (10, _), (192, 168): true
            case (172, 16...31): true
            default: false
            }
        }
    }
}
