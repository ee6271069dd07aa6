import Foundation

/// Where a webhook may go.
package struct WebhookTarget: Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// A name, or an address without brackets.
    package let host: String
    package let port: Int

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
        return .success(WebhookTarget(scheme: scheme, host: host, port: port))
    }

    /// What is wrong with a URL.
    package struct Problem: Error {
        package let text: String
    }

    /// The address, where the host is one and no name.
    package var address: Address? { Address(host) }

    /// An IPv4 or IPv6 address.
    package struct Address: Sendable, Hashable {
        /// 4 or 16.
        let bytes: [UInt8]

        /// Reads IPv4 or IPv6; nil where it is a name. IPv4 in every form that resolvers take for one: in fewer parts, decimal,
        /// octal, hexadecimal, with a dot at the end.
        package init?(_ text: String) {
            var four = in_addr()
            var six = in6_addr()
            let dotless = text.hasSuffix(".") ? String(text.dropLast()) : text
            if inet_aton(dotless, &four) != 0 {
                bytes = withUnsafeBytes(of: four) { Array($0) }
            } else if inet_pton(AF_INET6, text, &six) == 1 {
                bytes = withUnsafeBytes(of: six) { Array($0) }
            } else {
                return nil
            }
        }

        /// Whether it is this machine or one of a private network; never one of a link, where clouds keep their metadata.
        package var isLocal: Bool {
            if bytes.count == 16 {
                // An IPv4 address in IPv6 clothes.
                if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xff, bytes[11] == 0xff {
                    return Self.isLocal(Array(bytes.suffix(4)))
                }
                let isLoopback = bytes.prefix(15).allSatisfy { $0 == 0 } && bytes[15] == 1
                return isLoopback || bytes[0] & 0xfe == 0xfc
            }
            return Self.isLocal(bytes)
        }

        private static func isLocal(_ bytes: [UInt8]) -> Bool {
            switch (bytes[0], bytes[1]) {
            case (127, _), (10, _), (192, 168): true
            case (172, 16...31): true
            default: false
            }
        }
    }
}
