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

    @Test func bytesAfterAHEICAreRefused() {
        #expect(format(Self.heic + [0]) == nil)
    }

    @Test func theDemoPictureIsAJPEG() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let bytes = [UInt8](try Data(contentsOf: root.appendingPathComponent("demo/sneaker.jpg")))
        #expect(bytes.count > 100_000)
        #expect(format(bytes) == .jpeg)
    }
}
