import Foundation

/// Small pictures that stand for photos.
enum PlaceholderImage {
    /// A PNG of 48 by 48 pixels, in a colour that follows from the region's id.
    static func png(of region: String) -> Data {
        let side = 48
        let hash = region.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let colour = bigEndian(hash).suffix(3)
        var rows: [UInt8] = []
        for row in 0..<side {
            rows.append(0)
            for column in 0..<side {
                let isFrame = row < 4 || column < 4 || row >= side - 4 || column >= side - 4
                rows += isFrame ? [255, 255, 255] : colour
            }
        }
        var png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        png += chunk("IHDR", bigEndian(UInt32(side)) + bigEndian(UInt32(side)) + [8, 2, 0, 0, 0])
        png += chunk("IDAT", zlib(rows))
        png += chunk("IEND", [])
        return png
    }

    private static func chunk(_ type: String, _ bytes: [UInt8]) -> [UInt8] {
        let content = Array(type.utf8) + bytes
        return bigEndian(UInt32(bytes.count)) + content + bigEndian(crc32(content))
    }

    /// One block without compression.
    private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        precondition(bytes.count <= 65535, "a block without compression holds at most 65,535 bytes")
        let count = UInt16(bytes.count)
        let length = [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)]
        return [0x78, 0x01, 0x01] + length + bytes + bigEndian(adler32(bytes))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return high << 16 | low
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
