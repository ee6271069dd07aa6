/// The trace that a request belongs to: the `traceparent` header of W3C Trace Context, without the caller's own span.
package struct TraceContext: Sendable, Hashable {
    /// 32 hexadecimal digits, not all of them 0.
    package let id: String
    /// 2 hexadecimal digits.
    package let flags: String

    /// The length of ``stored``, in bytes.
    static let length = 35

    /// The form in which a column holds it: the id, a dash and the flags.
    package var stored: String { "\(id)-\(flags)" }

    /// Reads ``stored``; `nil` if the text is something else.
    package init?(stored text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.length, bytes[32] == UInt8(ascii: "-") else { return nil }
        self.init(id: bytes[..<32], flags: bytes[33...])
    }

    /// Reads a `traceparent` header. Versions after 00 may have more parts, which are not read.
    ///
    /// - Returns: `nil` if the header is not valid. It then counts as absent, as the standard asks.
    package init?(header: String) {
        let bytes = Array(header.utf8.prefix(56))
        let dash = UInt8(ascii: "-")
        guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
            Self.isHex(bytes[..<2]), Self.isHex(bytes[36..<52]),
            bytes[36..<52].contains(where: { $0 != UInt8(ascii: "0") }),
            !bytes[..<2].elementsEqual("ff".utf8)
        else { return nil }
        let isFirstVersion = bytes[..<2].elementsEqual("00".utf8)
        guard isFirstVersion ? header.utf8.count == 55 : bytes.count == 55 || bytes[55] == dash else { return nil }
        self.init(id: bytes[3..<35], flags: bytes[53..<55])
    }

    private init?(id: ArraySlice<UInt8>, flags: ArraySlice<UInt8>) {
        guard Self.isHex(id), Self.isHex(flags), id.contains(where: { $0 != UInt8(ascii: "0") }) else { return nil }
        self.id = String(decoding: id, as: UTF8.self)
        self.flags = String(decoding: flags, as: UTF8.self)
    }

    /// Whether all are lower-case hexadecimal digits: the standard refuses others.
    private static func isHex(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.allSatisfy(\.isLowerCaseHex) }

    /// The header for a request that this trace goes on with.
    ///
    /// - Parameter span: 16 hexadecimal digits, the id of the new request's span.
    package func header(span: String) -> String { "00-\(id)-\(span)-\(flags)" }
}
