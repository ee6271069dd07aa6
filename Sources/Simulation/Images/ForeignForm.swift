/// Names the form that was sent in place of a picture, by its first bytes, and what would be right [P, D image-check]. None of its text is
/// repeated.
enum ForeignForm {
    /// The most bytes that are looked at.
    private static let maxBytes = 512

    /// The problem with bytes that are no picture that is taken.
    static func problem(_ bytes: UnsafeRawBufferPointer) -> String {
        let start = bytes.prefix(maxBytes)
        guard let form = fileForm(start) ?? textForm(start) else {
            return "not a JPEG, PNG or HEIC image, by its first bytes"
        }
        return "not a JPEG, PNG or HEIC image: the body is \(form)"
    }

    /// A file of another format.
    private static func fileForm(_ start: Slice<UnsafeRawBufferPointer>) -> String? {
        func begins(_ text: String, at offset: Int = 0) -> Bool { start.dropFirst(offset).starts(with: text.utf8) }
        if begins("RIFF"), begins("WEBP", at: 8) { return convert("a WebP picture") }
        if HEICStructure.isAVIF(start) { return convert("an AVIF picture") }
        if ["II*\0", "MM\0*", "II+\0", "MM\0+"].contains(where: { begins($0) }) { return convert("a TIFF picture") }
        if begins("GIF87a") || begins("GIF89a") { return convert("a GIF picture") }
        if begins("BM"), start.count > 14, start.dropFirst(6).prefix(4).allSatisfy({ $0 == 0 }) {
            return convert("a BMP picture")
        }
        return begins("%PDF-") ? "a PDF; send a picture" : nil
    }

    private static func convert(_ form: String) -> String { "\(form); convert it" }

    /// A text that stands for a picture.
    private static func textForm(_ start: Slice<UnsafeRawBufferPointer>) -> String? {
        let text = start.drop { $0 <= 0x20 || [0xef, 0xbb, 0xbf].contains($0) }
        guard let first = text.first else { return nil }
        func begins(_ beginnings: String...) -> Bool { beginnings.contains { isText($0, at: text) } }
        if begins("--") && text.prefix(300).contains(UInt8(ascii: "\n")) || hasPart(text) {
            return "a multipart form; send the picture's bytes alone, as curl's --data-binary @FILE does"
        }
        if begins("data:") { return "a data URL; send the bytes that it encodes" }
        if first == UInt8(ascii: "\"") { return "a JSON text; send the picture's bytes alone" }
        if isBase64(text) { return "base64; send the bytes that it encodes" }
        if begins("[object ") { return "the text of a JavaScript object; send the bytes that it holds" }
        if begins("{", "[") || ["null", "true", "false"].contains(where: { trimmed(text).elementsEqual($0.utf8) }) {
            return "JSON; send the picture's bytes alone"
        }
        if begins("<svg", "<?xml") { return "an SVG or XML document; send a picture of pixels" }
        if begins("<!doctype", "<html", "<head", "<body", "<!--") { return "an HTML page; send the picture's bytes" }
        guard isLine(text) else { return nil }
        if isPath(text) { return "the path of a file; send what the file holds" }
        let scheme = text.prefix { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
        let isURL = !scheme.isEmpty && text.dropFirst(scheme.count).starts(with: "://".utf8) || begins("blob:")
        return isURL ? "a URL; send the bytes of what it leads to" : nil
    }

    /// Whether a text is there, in any letter case.
    private static func isText(_ wanted: String, at text: Slice<UnsafeRawBufferPointer>) -> Bool {
        text.count >= wanted.utf8.count && zip(text, wanted.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }

    /// Whether a part of a form begins behind a preamble.
    private static func hasPart(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        return zip(lines, lines.dropFirst()).contains {
            $0.starts(with: "--".utf8) && isText("content-", at: $1)
        }
    }

    private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        text.dropLast(text.reversed().prefix { $0 <= 0x20 }.count)
    }

    /// Whether the text is a path, or the name of a picture's file.
    private static func isPath(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        let beginnings = [
            "/", "./", "../", "~/", "@", "\\\\", "file:", "content:", "ph://", "assets-library:", "asset:",
        ]
        if beginnings.contains(where: { isText($0, at: text) }) { return true }
        let rest = text.dropFirst()
        if rest.starts(with: ":\\".utf8) || rest.starts(with: ":/".utf8) { return true }
        let name = trimmed(text)
        return !name.contains(UInt8(ascii: ":"))
            && [".jpg", ".jpeg", ".png", ".heic", ".heif", ".webp", ".avif", ".gif", ".bmp", ".tif", ".tiff", ".pdf"]
                .contains { isText($0, at: name.suffix($0.utf8.count)) }
    }

    /// Whether the text is the base64 of a picture: such texts begin with one of these. Two of them are also short words.
    private static func isBase64(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        let isPicture = [("/9j/", 4), ("iVBORw0KGgo", 11), ("_9j_", 32), ("AAAA", 32)].contains { beginning, length in
            text.count >= length && text.starts(with: beginning.utf8)
        }
        return isPicture && text.allSatisfy { $0.isLetterOrDigit || "+/=-_\r\n".utf8.contains($0) }
    }

    /// Whether the text is a short printable line.
    private static func isLine(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        text.count < maxBytes && text.allSatisfy { $0 >= 0x20 || $0 == 0x0a || $0 == 0x0d }
    }
}
