import Foundation
import Mustache

/// Escapes texts for HTML byte by byte.
///
/// The library escapes characters: it leaves a quote as it is that a combining mark follows, since both together are another
/// character, and its time grows with the square of the number of marks.
package struct EscapedHTML: MustacheContentType {
    private static let name = "EscapedHTML"
    private static let registration: Void = MustacheContentTypes.register(EscapedHTML(), named: name)

    /// A template whose values are escaped in this way. Each template says so itself, since the library forgets it in partials.
    ///
    /// - Throws: the library's error if the source is not a valid template.
    package static func template(_ source: String) throws -> MustacheTemplate {
        _ = registration
        return try MustacheTemplate(string: "{{% CONTENT_TYPE:\(name)}}" + source)
    }

    package func escapeText(_ text: String) -> String { Self.escaped(text) }

    /// A text as the content of an element, or as the value of an attribute in quotes.
    package static func escaped(_ text: String) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): escaped += "&lt;".utf8
            case UInt8(ascii: ">"): escaped += "&gt;".utf8
            case UInt8(ascii: "&"): escaped += "&amp;".utf8
            case UInt8(ascii: "\""): escaped += "&quot;".utf8
            case UInt8(ascii: "'"): escaped += "&#39;".utf8
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
