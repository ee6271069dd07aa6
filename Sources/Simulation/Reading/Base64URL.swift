import Foundation

/// base64url without padding (RFC 4648, section 5; RFC 7515).
package enum Base64URL {
    package static func encode(_ data: Data) -> String {
        let bytes = data.base64EncodedData().prefix { $0 != UInt8(ascii: "=") }.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes a text, with or without padding; `nil` if it is not valid base64url.
    package static func decode(_ text: some StringProtocol) -> Data? {
        var bytes = text.utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        while bytes.count % 4 != 0 { bytes.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(bytes))
    }
}
