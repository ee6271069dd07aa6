import Foundation
import HTTPTypes
import Platform

extension HTTPField.Name {
    static let apiVersion = HTTPField.Name("Api-Version")!
    static let requestID = HTTPField.Name("X-Request-Id")!
    static let contentDigest = HTTPField.Name("Content-Digest")!
}

extension HTTPFields {
    /// What a field says, as the subscript with its name does: several values are joined. For one that stands once, as nearly
    /// all do, this takes a fifth of the time.
    func value(of name: HTTPField.Name) -> String? {
        let values = self[values: name]
        return values.count < 2 ? values.first : self[name]
    }
}

/// What the platform reads from headers.
struct HeaderReader {
    private let fields: HTTPFields

    init(_ fields: HTTPFields) {
        self.fields = fields
    }

    /// The caller's request id, where it sent a good one: 1 to 128 of `[A-Za-z0-9._-]` [D].
    var requestID: String? {
        fields.value(of: .requestID).flatMap { id in
            (1...128).contains(id.utf8.count) && id.utf8.allSatisfy(Self.isRequestIDByte) ? id : nil
        }
    }

    private static func isRequestIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// `Token <t>` [S]; `Bearer <t>` is the same thing [P].
    var credential: Credential {
        guard let text = fields.value(of: .authorization) else { return .missing }
        if let token = Self.plainToken(text) { return .token(token) }
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, ["token", "bearer"].contains(parts[0].lowercased()) else {
            return .malformed("is not \"Token <t>\"")
        }
        guard parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            return .malformed("holds a token with characters no token has")
        }
        return .token(String(parts[1]))
    }

    /// The token of a header that is exactly as it should be, which nearly all are.
    private static func plainToken(_ text: String) -> String? {
        let scheme = "Token "
        let bytes = text.utf8.span
        guard text.hasPrefix(scheme), bytes.count > scheme.utf8.count else { return nil }
        for index in scheme.utf8.count..<bytes.count where bytes[index] <= 0x20 || bytes[index] >= 0x7f { return nil }
        return String(text.utf8.dropFirst(scheme.utf8.count))
    }

    /// The first of English and Japanese that matches, by weight, else English [P] (RFC 9110, section 12.5.4).
    var language: Language {
        guard let text = fields.value(of: .acceptLanguage) else { return .english }
        let ranges = text.split(separator: ",").compactMap { LanguageRange($0) }
        let named = Set(ranges.map(\.tag))
        let ordered = ranges.filter { $0.weight > 0 }.enumerated().sorted { left, right in
            left.element.weight == right.element.weight
                ? left.offset < right.offset : left.element.weight > right.element.weight
        }
        for (_, range) in ordered {
            if let language = Language(rawValue: range.tag) { return language }
            // A star stands for whatever is not named itself.
            if range.tag == "*", let other = Language.allCases.first(where: { !named.contains($0.rawValue) }) {
                return other
            }
        }
        return .english
    }

    private struct LanguageRange {
        /// The primary part of the tag, or a star.
        let tag: String
        let weight: Double

        /// Nil where the weight is none that RFC 9110 allows.
        init?(_ text: Substring) {
            let parts = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            tag = parts.first?.split(separator: "-").first.map(String.init) ?? ""
            guard let quality = parts.dropFirst().first(where: { $0.hasPrefix("q=") })?.dropFirst(2) else {
                weight = 1
                return
            }
            guard quality.wholeMatch(of: /0(\.[0-9]{0,3})?|1(\.0{0,3})?/) != nil else { return nil }
            weight = Double(quality) ?? 0
        }
    }

    /// What is wrong with the media type of a JSON body, or nil: absent is fine.
    var jsonMediaTypeProblem: String? {
        // Most send just this; looking at parts costs more than all else that is read of a head.
        guard let text = fields.value(of: .contentType), text != "application/json" else { return nil }
        let parts = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        let type = parts.first ?? ""
        let isJSON = type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
        let charset = parts.dropFirst().first { $0.hasPrefix("charset=") }?
            .dropFirst("charset=".count).trimmingCharacters(in: ["\""])
        guard isJSON, charset == nil || charset == "utf-8" || charset == "us-ascii" else {
            return "the body must be application/json in UTF-8, this says \(text)"
        }
        return nil
    }

    /// Whether the body says that it is JSON.
    var isJSON: Bool { fields.value(of: .contentType) != nil && jsonMediaTypeProblem == nil }

    /// Whether the body says that it is an archive, or bytes of whatever kind.
    var isArchive: Bool {
        let type = fields.value(of: .contentType)?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            .lowercased()
        return type == "application/octet-stream" || type == "application/x-tar"
    }

    /// What is wrong with the media type of a YAML or JSON body, or nil: absent is fine.
    var documentMediaTypeProblem: String? {
        guard let text = fields.value(of: .contentType) else { return nil }
        let type = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let accepted = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"]
        if accepted.contains(type) { return nil }
        return jsonMediaTypeProblem == nil
            ? nil : "the body must be application/yaml or application/json in UTF-8, this says \(text)"
    }

    /// The checksums of `Content-Digest` (RFC 9530) this server can check; others may be ignored.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` where the header is malformed.
    func contentDigests() throws -> [ContentDigest] {
        guard let text = fields.value(of: .contentDigest) else { return [] }
        return try text.split(separator: ",").compactMap { member in
            let parts = member.trimmingCharacters(in: .whitespaces).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // A structured field: the bytes between colons, then perhaps parameters.
            let value = parts.count == 2 ? parts[1].split(separator: ";").first.map(String.init) ?? "" : ""
            guard parts[0].wholeMatch(of: /[A-Za-z*][A-Za-z0-9_.*\-]*/) != nil,
                value.count >= 2, value.first == ":", value.last == ":",
                let digest = Data(base64Encoded: String(value.dropFirst().dropLast()))
            else {
                throw PlatformError.invalid([
                    .init("Content-Digest", "must be sha-256=:<base64>: or sha-512=:<base64>: (RFC 9530)")
                ])
            }
            return ContentDigest.Algorithm(rawValue: parts[0].lowercased()).map {
                ContentDigest(algorithm: $0, digest: digest)
            }
        }
    }

    /// What is wrong with `Api-Version`, or nil: every `/v1` route needs 1.0 to 1.4 [S, P].
    ///
    /// - Parameter least: the lowest minor version that has the route.
    func apiVersionProblem(from least: Int = 0) -> PlatformError? {
        let accepted = PartnerVersion.accepted[least...].joined(separator: ", ")
        guard let text = fields.value(of: .apiVersion) else {
            return .invalid([.init("Api-Version", "header is missing; /v1 needs one of \(accepted)")])
        }
        guard case .v1(let minor) = PartnerVersion(header: text), minor >= least else {
            let what = least == 0 ? "must" : "of this route must"
            return .invalid([.init("Api-Version", "\(what) be one of \(accepted), this is \"\(text.prefix(100))\"")])
        }
        return nil
    }

    /// The version of `/v1` that is asked for; nil where there is no good header.
    var apiVersion: PartnerVersion? {
        fields.value(of: .apiVersion).flatMap { PartnerVersion(header: $0) }
    }

    /// The body's length, where the client said it.
    var contentLength: Int? {
        fields.value(of: .contentLength).flatMap { Int($0) }
    }

    /// Whether a body follows.
    var announcesBody: Bool {
        fields.contains(.transferEncoding) || (contentLength ?? 0) > 0
    }
}
