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
        if begins("ftypavif", at: 4) || begins("ftypavis", at: 4) { return convert("an AVIF picture") }
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
        func begins(_ beginning: String) -> Bool {
            text.count >= beginning.utf8.count && zip(text, beginning.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
        if begins("--"), text.prefix(300).contains(UInt8(ascii: "\n")) {
            return "a multipart form; send the picture's bytes alone, as curl's --data-binary @FILE does"
        }
        if begins("data:") { return "a data URL; send the bytes that it encodes" }
        if first == UInt8(ascii: "\"") { return "a JSON text; send the picture's bytes alone" }
        if isBase64(text) { return "base64; send the bytes that it encodes" }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return "JSON; send the picture's bytes alone" }
        if begins("<svg") || begins("<?xml") { return "an SVG or XML document; send a picture of pixels" }
        if begins("http://") || begins("https://"), isLine(text) { return "a URL; send the bytes of what it leads to" }
        if begins("<!doctype") || begins("<html") { return "an HTML page; send the picture's bytes" }
        let isPath = begins("/") || begins("./") || begins("~/") || begins("file:") || begins("@") || begins("content:")
        let isDrive = text.dropFirst().starts(with: ":\\".utf8)
        return (isPath || isDrive) && isLine(text) ? "the path of a file; send what the file holds" : nil
    }

    /// Whether the text is the base64 of a picture: such texts begin with one of these.
    private static func isBase64(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        let isPicture = ["/9j/", "_9j_", "iVBORw0KGgo", "AAAA"].contains { text.starts(with: $0.utf8) }
        return isPicture && text.count >= 32
            && text.allSatisfy { $0.isLetterOrDigit || "+/=-_\r\n".utf8.contains($0) }
    }

    /// Whether the text is a short printable line.
    private static func isLine(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        text.count < maxBytes && text.allSatisfy { $0 >= 0x20 || $0 == 0x0a || $0 == 0x0d }
    }
}
