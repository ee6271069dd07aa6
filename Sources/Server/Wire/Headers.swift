import Entrupy
import Foundation
import HTTPTypes
import Simulation

extension HTTPField.Name {
    static let apiVersion = HTTPField.Name("Api-Version")!
    static let requestID = HTTPField.Name("X-Request-Id")!
    /// W3C Trace Context.
    static let traceparent = HTTPField.Name("traceparent")!
    static let contentDigest = HTTPField.Name("Content-Digest")!
}

extension HTTPFields {
    /// A field's value. Several values are joined, as the subscript with its name does. For a field with one value,
    /// which is the usual case, this takes a fifth of the time.
    func value(of name: HTTPField.Name) -> String? {
        let values = self[values: name]
        return values.count < 2 ? values.first : self[name]
    }
}

/// Reads the request headers that the platform uses.
struct HeaderReader {
    private let fields: HTTPFields

    init(_ fields: HTTPFields) {
        self.fields = fields
    }

    /// The caller's request id, if it is valid: 1 to 128 of `[A-Za-z0-9._-]` [D request-ids].
    var requestID: String? {
        fields.value(of: .requestID).flatMap { id in
            (1...128).contains(id.utf8.count)
                && id.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) } ? id : nil
        }
    }

    /// The trace of a valid `traceparent` header; `nil` if there is none, or more than one [D trace].
    var trace: TraceContext? {
        let values = fields[values: .traceparent]
        return values.count == 1 ? TraceContext(header: values[0]) : nil
    }

    /// Whether the client has the representation with this tag already (RFC 9110, weak comparison).
    func hasNoneMatch(_ tag: String) -> Bool {
        let wanted = Array("\"\(tag)\"".utf8)
        return fields[values: .ifNoneMatch].contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { part in
                var text = part.drop { $0 == 0x20 || $0 == 0x09 }
                while text.last == 0x20 || text.last == 0x09 { text = text.dropLast() }
                if text.starts(with: "W/".utf8) { text = text.dropFirst(2) }
                return text.elementsEqual(wanted) || text.elementsEqual("*".utf8)
            }
        }
    }

    /// The credential of `Token <t>` [S]. `Bearer <t>` means the same [P].
    var credential: Credential {
        guard let text = fields.value(of: .authorization) else { return .missing }
        if let token = Self.plainToken(text) { return .token(token) }
        let parts = text.split(at: " ")
        guard parts.count == 2, parts[0].lowercased().isOne(of: ["token", "bearer"]) else {
            return .malformed("is not \"Token <t>\"")
        }
        guard parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            return .malformed("contains a token with characters that are not allowed")
        }
        if Self.isQuoted(parts[1]) { return .malformed("has the token in quotation marks or brackets") }
        return .token(String(parts[1]))
    }

    /// The token of a header in exactly the usual form. `nil` for any other form.
    private static func plainToken(_ text: String) -> String? {
        let scheme = "Token "
        guard text.begins(with: scheme) else { return nil }
        let (isPlain, isWord) = text.withBytes { bytes in
            let token = bytes.dropFirst(scheme.utf8.count)
            return (
                !token.isEmpty && token.allSatisfy { $0 > 0x20 && $0 < 0x7f }, token.first?.isLetterOrDigit ?? false
            )
        }
        // A letter or digit, as in nearly every token, opens no quotation.
        guard isPlain, isWord || !isQuoted(text.dropFirst(scheme.count)) else { return nil }
        return String(text.utf8.dropFirst(scheme.utf8.count))
    }

    /// Whether a token stands in the marks of an example, as in `Token "<t>"`.
    private static func isQuoted(_ token: Substring) -> Bool {
        guard token.utf8.count > 1, let first = token.utf8.first, let last = token.utf8.last else { return false }
        return ["\"\"", "''", "<>", "{}", "[]"].contains { $0.utf8.elementsEqual([first, last]) }
    }

    /// English or Japanese, by the weights in `Accept-Language`. English if neither matches [P] (RFC 9110, section
    /// 12.5.4).
    var language: Language {
        guard let text = fields.value(of: .acceptLanguage) else { return .english }
        let ranges = text.split(at: ",").compactMap { LanguageRange($0) }
        let ordered = ranges.filter { $0.weight > 0 }.enumerated().sorted { left, right in
            left.element.weight == right.element.weight
                ? left.offset < right.offset : left.element.weight > right.element.weight
        }
        // `*` matches every language that the header does not name. Looked up once: a header may have many stars.
        let unnamed = Language.allCases.first { language in !ranges.contains { $0.language == language } }
        return ordered.lazy.compactMap { $0.element.language ?? unnamed }.first ?? .english
    }

    private struct LanguageRange {
        /// The language of the tag's primary part. `nil` for a star.
        let language: Language?
        /// In thousandths.
        let weight: Int

        /// Returns `nil` if the range names another language, or if its weight is not valid in RFC 9110.
        init?(_ text: Substring) {
            let parts = text.split(at: ";").map { $0.trimmed.lowercased() }
            guard let tag = parts.first?.split(at: "-").first else { return nil }
            language = Language.allCases.first { $0.rawValue.isIdentical(to: tag) }
            guard language != nil || tag.isIdentical(to: "*") else { return nil }
            guard let quality = parts.dropFirst().first(where: { $0.begins(with: "q=") }) else {
                weight = 1000
                return
            }
            guard let weight = Self.weight(Array(quality.utf8.dropFirst(2))) else { return nil }
            self.weight = weight
        }

        /// A weight in thousandths: 0 or 1, then optionally a point and up to three digits.
        private static func weight(_ text: [UInt8]) -> Int? {
            guard (1...5).contains(text.count), let whole = digit(text[0]), whole <= 1 else { return nil }
            if text.count > 1, text[1] != UInt8(ascii: ".") { return nil }
            var weight = whole
            for place in 2..<5 {
                guard let digit = place < text.count ? digit(text[place]) : 0 else { return nil }
                weight = weight * 10 + digit
            }
            return weight <= 1000 ? weight : nil
        }

        private static func digit(_ byte: UInt8) -> Int? {
            (0x30...0x39).contains(byte) ? Int(byte - 0x30) : nil
        }
    }

    /// The problem with the media type of a JSON body. `nil` if it is valid or absent.
    var jsonMediaTypeProblem: String? {
        // Most clients send exactly this. Splitting it costs more than reading the rest of the head.
        guard let text = fields.value(of: .contentType), !text.isIdentical(to: "application/json") else { return nil }
        let parts = text.split(at: ";").map { $0.trimmed.lowercased() }
        let type = parts.first ?? ""
        let isJSON =
            type.isIdentical(to: "application/json")
            || (type.begins(with: "application/") && type.ends(with: "+json"))
        let charset = parts.dropFirst().first { $0.begins(with: "charset=") }?
            .utf8.dropFirst("charset=".utf8.count).filter { $0 != UInt8(ascii: "\"") }
        guard isJSON, charset.map({ String(decoding: $0, as: UTF8.self).isOne(of: ["utf-8", "us-ascii"]) }) ?? true
        else {
            return type.isEmpty
                ? "Content-Type is empty; the body must be application/json in UTF-8"
                : "the body must be application/json in UTF-8, this says \(text)"
        }
        return nil
    }

    /// Whether `Content-Type` says JSON. False if it is absent.
    var isJSON: Bool { fields.value(of: .contentType) != nil && jsonMediaTypeProblem == nil }

    /// Whether `Content-Type` says an archive or arbitrary bytes.
    var isArchive: Bool {
        let type = fields.value(of: .contentType)?.prefix(before: ";").trimmed.lowercased()
        return type?.isOne(of: ["application/octet-stream", "application/x-tar"]) ?? false
    }

    /// The problem with the media type of a YAML or JSON body. `nil` if it is valid or absent.
    var documentMediaTypeProblem: String? {
        guard let text = fields.value(of: .contentType) else { return nil }
        let type = text.prefix(before: ";").trimmed.lowercased()
        let accepted = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"]
        if type.isOne(of: accepted) { return nil }
        return jsonMediaTypeProblem == nil
            ? nil : "the body must be application/yaml or application/json in UTF-8, this says \(text)"
    }

    /// The checksums in `Content-Digest` (RFC 9530) that this server can check. The RFC allows the others to be
    /// ignored.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` if the header is malformed.
    func contentDigests() throws -> [ContentDigest] {
        guard let text = fields.value(of: .contentDigest) else { return [] }
        return try text.split(at: ",").compactMap { member in
            let parts = member.trimmed.split(at: "=", maxSplits: 1, omittingEmpty: false)
            // A structured field: the bytes between colons, then optional parameters.
            let value = parts.count == 2 ? parts[1].prefix(before: ";").utf8 : "".utf8[...]
            let colon = UInt8(ascii: ":")
            guard Self.isDigestName(parts[0].utf8), value.count >= 2, value.first == colon, value.last == colon,
                let digest = Data(base64Encoded: Data(value.dropFirst().dropLast()))
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

    /// Whether a name is a key of a structured field: `[A-Za-z*][A-Za-z0-9_.*-]*`.
    private static func isDigestName(_ name: Substring.UTF8View) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "*") }
        return name.first.map(isLetter) == true
            && name.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_.-".utf8.contains($0) }
    }

    /// The problem with `Api-Version`. `nil` if it is valid. Every `/v1` route needs 1.0 to 1.4 [S, P].
    ///
    /// - Parameter least: the lowest minor version that has the route.
    func apiVersionProblem(from least: Int = 0) -> PlatformError? {
        let accepted = PartnerVersion.accepted[least...].joined(separator: ", ")
        guard let text = fields.value(of: .apiVersion) else {
            return .invalid([.init("Api-Version", "header is missing; /v1 needs one of \(accepted)")])
        }
        guard case .v1(let minor) = PartnerVersion(header: text), minor >= least else {
            let what = least == 0 ? "must" : "of this route must"
            return .invalid([.init("Api-Version", "\(what) be one of \(accepted), got \"\(text.excerpt)\"")])
        }
        return nil
    }

    /// The requested version of `/v1`. `nil` if the header is absent or not valid.
    var apiVersion: PartnerVersion? {
        fields.value(of: .apiVersion).flatMap { PartnerVersion(header: $0) }
    }

    /// The announced length of the body. `nil` if the client did not send one.
    var contentLength: Int? {
        fields.value(of: .contentLength).flatMap { Int($0) }
    }

    /// The encoding of the body. `nil` if the server does not support it.
    var contentCoding: ContentCoding? {
        guard let text = fields.value(of: .contentEncoding) else { return .identity }
        let names = text.split(at: ",").map { $0.trimmed.lowercased() }.filter {
            !$0.isEmpty && !$0.isIdentical(to: "identity")
        }
        // x-gzip means gzip (RFC 9110, section 8.4.1.3). Gzip twice is refused: no client means it.
        guard let name = names.first else { return .identity }
        return names.count == 1 && name.isOne(of: ["gzip", "x-gzip"]) ? .gzip : nil
    }

    var contentCodingProblem: PlatformError {
        .unsupportedEncoding(
            "the body's Content-Encoding must be gzip or identity, got "
                + "\"\(fields.value(of: .contentEncoding)?.excerpt ?? "")\"")
    }

    /// Whether a body may follow the headers. Over HTTP/2 one without a length needs no header (RFC 9113, section 8.1).
    var announcesBody: Bool {
        fields.contains(.transferEncoding) || contentLength.map { $0 > 0 } ?? (CurrentStream.stream != nil)
    }
}

/// The supported encodings of a body [D content-encoding].
enum ContentCoding {
    case identity, gzip
}
