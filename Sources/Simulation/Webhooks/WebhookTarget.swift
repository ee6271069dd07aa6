import Foundation

/// The target of a webhook, read from its URL [D webhook-targets].
package struct WebhookTarget: Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// A name, or an address without brackets.
    package let host: String
    package let port: Int
    /// The path as written, with its percent escapes.
    package let path: String

    /// The longest URL, in UTF-8 bytes [D webhook-url-size].
    package static let maxBytes = 2000

    /// Reads a URL. A failure describes the problem of the field `url`.
    package static func read(_ text: String) -> Result<WebhookTarget, Problem> {
        if let problem = TextRules.tooLong(text, bytes: maxBytes) { return .failure(Problem(text: problem)) }
        let example = "for instance http://127.0.0.1:9000/hooks"
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased() else {
            return .failure(Problem(text: "must be a URL, \(example)"))
        }
        guard scheme == "http" || scheme == "https" else {
            return .failure(Problem(text: "must begin with http:// or https://, \(example)"))
        }
        guard url.user == nil, url.password == nil else {
            return .failure(Problem(text: "must not hold a user or password; the secret_key signs what is sent"))
        }
        guard let host = url.host?.trimmingCharacters(in: ["[", "]"]), !host.isEmpty else {
            return .failure(Problem(text: "must name a host, \(example)"))
        }
        guard !host.contains("%") else {
            return .failure(Problem(text: "must not name a zone or hold an escape in its host, \(example)"))
        }
        // `URLComponents` reads a port that is not a number, or too large, as missing.
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        let authority = text.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let hasPort = authority.hasSuffix("]") ? false : authority.split(separator: "]").last?.contains(":") ?? false
        guard (1...65535).contains(port), !hasPort || url.port != nil else {
            return .failure(Problem(text: "must have a port from 1 to 65535"))
        }
        return .success(WebhookTarget(scheme: scheme, host: host, port: port, path: url.percentEncodedPath))
    }

    /// The problem of a URL.
    package struct Problem: Error {
        package let text: String
    }

    /// The scheme, host and port, as a URL without a path.
    package var origin: String {
        let isDefaultPort = port == (scheme == "https" ? 443 : 80)
        return
            "\(scheme)://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host)\(isDefaultPort ? "" : ":\(port)")"
    }

    /// Whether two targets have the same scheme, host and port.
    package func hasOrigin(of other: WebhookTarget) -> Bool {
        scheme == other.scheme && port == other.port && plainHost.isIdentical(to: other.plainHost)
    }

    /// The address; `nil` if the host is a name.
    package var address: Address? { Address(host) }

    /// The host without a final dot, in lower case, for comparisons.
    package var plainHost: String { (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased() }

    /// The first of the addresses of the target's name if webhooks go to none of them without `--webhook-targets any`, else `nil`.
    package func refused(of addresses: [String]) -> String? {
        addresses.contains(where: allows) ? nil : addresses.first
    }

    /// Whether webhooks go to an address of the target's name without `--webhook-targets any`.
    package func allows(_ address: String) -> Bool { Address(address)?.isLocal(as: plainHost) == true }

    /// What is said of an address at which a cloud's metadata service answers.
    package static let metadataService = "the address of a cloud's metadata service, to which nothing is sent"

    /// Whether a cloud's metadata service answers at an address, given as text.
    package func isMetadata(_ address: String) -> Bool { Address(address)?.isMetadata == true }

    /// An IPv4 or IPv6 address.
    package struct Address: Sendable, Hashable {
        /// 4 bytes for IPv4, 16 for IPv6.
        package let bytes: [UInt8]

        /// Reads an IPv4 or IPv6 address; `nil` if `text` is a name.
        ///
        /// IPv4 is read in every form that resolvers accept: fewer parts, decimal, octal, hexadecimal, a final dot.
        /// An IPv4-mapped IPv6 address becomes the IPv4 address.
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

        private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]

        /// Whether the address leads to this machine: loopback, or the unspecified address, which systems treat as
        /// loopback.
        package var isThisMachine: Bool {
            bytes.count == 4
                ? bytes[0] == 127 || bytes[0] == 0 : bytes.prefix(15).allSatisfy { $0 == 0 } && bytes[15] <= 1
        }

        /// Whether the address is loopback, private, or shared by the machines of a provider or a test network (RFC 6598, RFC 2544),
        /// which virtual machines use. Addresses of cloud metadata services are not.
        package var isLocal: Bool {
            switch (bytes.count, bytes[0], bytes[1]) {
            // Link-local addresses are not local: cloud metadata services use them.
            case (4, 127, _), (4, 10, _), (4, 192, 168), (4, 172, 16...31), (4, 100, 64...127), (4, 198, 18...19): true
            case (4, _, _): false
            case (_, 0xfc...0xfd, _): !isMetadata
            default: bytes.prefix(15).allSatisfy { $0 == 0 } && bytes[15] == 1
            }
        }

        /// Whether the address is local as one of a name. Engines give their machine addresses that lead nowhere else, such as
        /// 0.250.250.254 or 169.254.1.2.
        package func isLocal(as name: String) -> Bool {
            if isLocal { return true }
            guard EngineHosts.contains(name), !isMetadata else { return false }
            return switch (bytes.count, bytes[0], bytes[1]) {
            case (4, 0, _), (4, 169, 254): true
            case (16, 0xfe, 0x80...0xbf): true
            default: false
            }
        }

        /// Whether a cloud's metadata service answers there, which gives away credentials.
        package var isMetadata: Bool { Self.metadata.contains { bytes.starts(with: $0) } }

        /// The addresses of cloud metadata services: 169.254.169.0/24, 169.254.170.0/24, `fd00:ec2::/32` and `fd20:ce::254`.
        private static let metadata: [[UInt8]] = [
            [169, 254, 169], [169, 254, 170], [0xfd, 0x00, 0x0e, 0xc2],
            [0xfd, 0x20, 0x00, 0xce] + Array(repeating: 0, count: 10) + [0x02, 0x54],
        ]
    }
}

/// The names under which containers and virtual machines know the machine that runs them [D hosts].
package enum EngineHosts {
    private static let names = [
        "host.docker.internal", "gateway.docker.internal", "host.containers.internal", "host.orb.internal",
        "host.lima.internal", "host.minikube.internal",
    ]

    /// - Parameter host: a name in lower case, without a final dot.
    package static func contains(_ host: String) -> Bool { host.isOne(of: names) }
}
