import Foundation

/// Small pictures that stand for photos.
enum PlaceholderImage {
    /// The signature and the header: 48 by 48 pixels, each of one of two colours.
    private static let beginning = Data(base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwAQMAAABtzGvE") ?? Data()
    /// The pixels: a frame of four in the first colour around the second one.
    private static let end =
        Data(base64Encoded: "AAAAFUlEQVR4XmNgwAP4/wPBh1EKncIDAG3KxzmhmR/qAAAAAElFTkSuQmCC") ?? Data()

    /// A PNG of 48 by 48 pixels, in a colour that follows from the region's id.
    static func png(of region: String) -> Data {
        let hash = region.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let palette: [UInt8] = Array("PLTE".utf8) + [255, 255, 255] + bigEndian(hash).suffix(3)
        return beginning + Data(bigEndian(6) + palette + bigEndian(crc32(palette))) + end
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = crc & 1 == 1
                crc >>= 1
                if isOdd { crc ^= 0xEDB8_8320 }
            }
        }
        return ~crc
    }
}
