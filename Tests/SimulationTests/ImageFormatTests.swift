import Foundation
import Testing

@testable import Simulation

@Suite struct ImageFormatTests {
    static let jpeg: [UInt8] = [
        0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2,  // start, one application segment
        0xff, 0xc0, 0, 11, 8, 0, 16, 0, 16, 1, 1, 0x11, 0,  // frame
        0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56,  // scan
        0xff, 0xd9,
    ]

    /// A 1 by 1 image made with another program.
    static let png = [UInt8](
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")!)

    static let heic: [UInt8] =
        box("ftyp", Array("heic".utf8) + [0, 0, 0, 0]) + box("meta", [0, 0, 0, 0]) + box("mdat", [1, 2])

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        [0, 0, 0, UInt8(8 + content.count)] + Array(name.utf8) + content
    }

    private func format(_ bytes: [UInt8]) -> ImageFormat? {
        try? bytes.withUnsafeBytes(ImageFormat.recognise).get()
    }

    @Test func wholeImagesAreRecognisedByTheirBytes() {
        #expect(format(Self.jpeg) == .jpeg)
        #expect(format(Self.png) == .png)
        #expect(format(Self.heic) == .heic)
    }

    /// A HEIC may end at the end of any box, so the ends of its first two boxes are left out.
    @Test(arguments: [jpeg, png, heic]) func everyTruncationIsDetected(image: [UInt8]) {
        for length in 0..<image.count where image != Self.heic || ![16, 28].contains(length) {
            #expect(format(Array(image.prefix(length))) == nil, "cut to \(length) of \(image.count) bytes")
        }
    }

    @Test func everyChangedBitOfAPNGIsDetected() {
        for index in Self.png.indices {
            for bit in 0..<8 {
                var damaged = Self.png
                damaged[index] ^= 1 << UInt8(bit)
                #expect(format(damaged) == nil, "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test(
        arguments: [
            [], [0xff], Array("GIF89a".utf8), Array("{}".utf8), [0xff, 0xd8, 0xff, 0xd9],
            [0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0], Array(repeating: 0xff, count: 100),
        ] as [[UInt8]])
    func dataThatIsNotAnImageIsRefused(bytes: [UInt8]) {
        #expect(format(bytes) == nil)
    }

    @Test(
        arguments: [[0], [0, 0, 0, 1], [0, 0, 0, 1] + Array("free1234".utf8), Array(repeating: 0xff, count: 40)]
            as [[UInt8]])
    func bytesAfterTheLastBoxOfAHEICAreIgnored(bytes: [UInt8]) {
        #expect(format(Self.heic + bytes) == .heic)
        // Before its data, they are a box that was cut off.
        #expect(format(Array(Self.heic.prefix(28)) + bytes) == nil)
    }

    @Test(
        arguments: [
            (Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8), "a WebP picture; convert it"),
            ([0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0], "an AVIF picture; convert it"),
            (Array("II*\0".utf8) + [8, 0, 0, 0], "a TIFF picture; convert it"),
            (Array("MM\0*".utf8) + [0, 0, 0, 8], "a TIFF picture; convert it"),
            (Array("II+\0".utf8) + [8, 0, 0, 0], "a TIFF picture; convert it"),
            (Array("GIF89a".utf8), "a GIF picture; convert it"),
            (Array("BM".utf8) + [54, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0], "a BMP picture; convert it"),
            (Array("%PDF-1.7\n".utf8), "a PDF; send a picture"),
            (Array("--b\r\nContent-Disposition: form-data; name=\"<script>\"\r\n\r\n".utf8), "a multipart form"),
            (Array("data:image/jpeg;base64,/9j/4AAQ".utf8), "a data URL"),
            (Array("/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAg==\n".utf8), "base64"),
            (Array("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".utf8), "base64"),
            (Array("_9j_4AAQSkZJRgABAQAAAQABAAD_2wBDAAMCAg".utf8), "base64"),
            (Array("\"/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAg==\"".utf8), "a JSON text; send the picture's bytes"),
            (Array("<svg onload=alert(1)>".utf8), "an SVG or XML document"),
            (Array("<?xml version=\"1.0\"?><svg/>".utf8), "an SVG or XML document"),
            (Array("https://a.example/<b>.jpg".utf8), "a URL; send the bytes of what it leads to"),
            (Array("\u{feff} {\"image\": \"x\"}".utf8), "JSON"), (Array("[1]".utf8), "JSON"),
            (Array("<!DOCTYPE html><html>".utf8), "an HTML page"), (Array("<HTML lang=en>".utf8), "an HTML page"),
            (Array("/tmp/../<b>.jpg".utf8), "the path of a file"), (Array("C:\\a b.png\n".utf8), "the path of a file"),
            (Array("file:///a.heic".utf8), "the path of a file"), (Array("@shoe.jpg".utf8), "the path of a file"),
            (Array("/9j/".utf8), "base64"), (Array("iVBORw0KGgo".utf8), "base64"),
            (Array("[object Object]".utf8), "the text of a JavaScript object"),
            (Array("[object Blob]".utf8), "the text of a JavaScript object"),
            (Array("null".utf8), "JSON"), (Array(" true\r\n".utf8), "JSON"), (Array("false".utf8), "JSON"),
            (Array("<head><title>".utf8), "an HTML page"), (Array("<!-- a -->\n<html>".utf8), "an HTML page"),
            (Array("<body onload=a()>".utf8), "an HTML page"),
            (
                Array("A form.\r\n--b\r\nContent-Disposition: form-data; name=\"<b>\"\r\n\r\n".utf8),
                "a multipart form"
            ),
            (avif("avif", []), "an AVIF picture; convert it"), (avif("avis", ["heic"]), "an AVIF picture; convert it"),
            (avif("mif1", ["avif", "mif1", "miaf"]), "an AVIF picture; convert it"),
            (avif("msf1", ["miaf", "avis"]), "an AVIF picture; convert it"),
            (Array("blob:https://a.example/1-2".utf8), "a URL"), (Array("gs://a/b".utf8), "a URL"),
        ] as [([UInt8], String)])
    func anotherFormIsNamed(bytes: [UInt8], form: String) {
        let result = bytes.withUnsafeBytes { ImageFormat.recognise($0) }
        guard case .failure(let problem) = result else { return #expect(Bool(false), "\(form)") }
        #expect(problem.text.hasPrefix("not a JPEG, PNG or HEIC image: the body is \(form)"), "\(problem.text)")
        #expect(!problem.text.contains("<"))
    }

    @Test(arguments: [
        "ph://1F2E/L0/001", "assets-library://asset/asset.JPG?id=1", "content://media/1", "images/a.jpg", "photo.JPG",
        "a photo.heic\n", "../a.png", "C:/a.jpg", #"C:\a.jpg"#, #"\\srv\a.jpg"#, "asset:/a",
    ])
    func aPathOfAnySystemIsNamed(text: String) {
        let result = Array(text.utf8).withUnsafeBytes { ImageFormat.recognise($0) }
        guard case .failure(let problem) = result else { return #expect(Bool(false)) }
        #expect(problem.text.hasSuffix("the body is the path of a file; send what the file holds"), "\(problem.text)")
    }

    private static func avif(_ brand: String, _ compatible: [String]) -> [UInt8] {
        box("ftyp", Array(([brand, "\0\0\0\0"] + compatible).joined().utf8)) + box("meta", [0, 0, 0, 0])
            + box("mdat", [1, 2])
    }

    @Test func aHEICMayBeCompatibleWithOthers() {
        for brands in [["mif1", "heic"], ["mif1", "heic", "avif"], ["mif1"], ["heic", "avif"]] {
            #expect(format(Self.avif(brands[0], Array(brands.dropFirst()))) == .heic, "\(brands)")
        }
    }

    /// Texts that only look like one of the forms at first sight.
    @Test(arguments: [
        "hello", "BMW", "RIFFxxxxWAVE", "--", "AAAA", "dat:", "<sv", "C:", "http://\u{1}", "/\u{1}\u{2}", "%PD",
        "nullable", "://", "a\n--b\nc", "jpg", "_9j_", "a.jpg b", "x: y.jpg",
    ])
    func otherBytesAreNotNamed(text: String) {
        let result = Array(text.utf8).withUnsafeBytes { ImageFormat.recognise($0) }
        guard case .failure(let problem) = result else { return #expect(Bool(false)) }
        #expect(problem.text == "not a JPEG, PNG or HEIC image, by its first bytes")
    }

    @Test func theDemoPictureIsAJPEG() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let bytes = [UInt8](try Data(contentsOf: root.appendingPathComponent("demo/sneaker.jpg")))
        #expect(bytes.count > 100_000)
        #expect(format(bytes) == .jpeg)
    }
}
