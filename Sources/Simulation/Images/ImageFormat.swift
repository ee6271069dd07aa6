/// The format of an image, recognised by its structure [D image-check].
///
/// Images are not decoded. The check is that the file is whole, from its first marker to its last.
package enum ImageFormat: String, FileFormat, CaseIterable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case heic = "image/heic"

    /// The format of a complete image, or the problem with its bytes.
    package static func recognise(_ bytes: UnsafeRawBufferPointer) -> Result<ImageFormat, ImageProblem> {
        if bytes.isEmpty { return .failure(ImageProblem("the image is empty")) }
        if bytes.starts(with: [0xff, 0xd8]) { return result(.jpeg, JPEGStructure.problem(bytes)) }
        if bytes.starts(with: PNGStructure.signature) { return result(.png, PNGStructure.problem(bytes)) }
        if bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8), !HEICStructure.isAVIF(bytes[...]) {
            return result(.heic, HEICStructure.problem(bytes))
        }
        return .failure(ImageProblem(ForeignForm.problem(bytes)))
    }

    private static func result(_ format: ImageFormat, _ problem: String?) -> Result<ImageFormat, ImageProblem> {
        problem.map { .failure(ImageProblem($0)) } ?? .success(format)
    }
}

/// The reason why bytes are not a complete image.
package struct ImageProblem: Error {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

/// JPEG: segments from SOI to EOI, with a frame and a scan in between.
private enum JPEGStructure {
    static func problem(_ bytes: UnsafeRawBufferPointer) -> String? {
        var index = 2
        var hasFrame = false
        var hasScan = false
        while true {
            guard index < bytes.count else { return "the JPEG is truncated: it ends before its end marker" }
            guard bytes[index] == 0xff else { return "the JPEG has no marker where one must be, at byte \(index)" }
            while index < bytes.count, bytes[index] == 0xff { index += 1 }
            guard index < bytes.count else { return "the JPEG is truncated: it ends inside a marker" }
            let marker = bytes[index]
            index += 1
            switch marker {
            case 0xd9:
                return hasFrame && hasScan ? nil : "the JPEG ends before it has a picture"
            case 0x01, 0xd0...0xd7: continue
            case 0x00, 0xd8: return "the JPEG has a marker that must not be there, at byte \(index - 1)"
            default: break
            }
            guard index + 2 <= bytes.count else { return "the JPEG is truncated: it ends inside a segment" }
            let length = Int(bytes[index]) << 8 | Int(bytes[index + 1])
            guard length >= 2, index + length <= bytes.count else {
                return "the JPEG is truncated: a segment at byte \(index) is longer than the file"
            }
            index += length
            switch marker {
            case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf: hasFrame = true
            case 0xda:
                guard hasFrame else { return "the JPEG has a scan before its frame" }
                hasScan = true
                index = endOfScan(bytes, from: index)
            default: break
            }
        }
    }

    /// The index of the next marker that is neither a stuffed byte nor a restart.
    private static func endOfScan(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 1 < bytes.count {
            if bytes[index] == 0xff, bytes[index + 1] != 0x00, !(0xd0...0xd7).contains(bytes[index + 1]) {
                return index
            }
            index += 1
        }
        return bytes.count
    }
}

/// PNG: chunks with their CRC, from IHDR to IEND.
private enum PNGStructure {
    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    static func problem(_ bytes: UnsafeRawBufferPointer) -> String? {
        var index = 8
        var hasData = false
        while true {
            guard index + 12 <= bytes.count else { return "the PNG is truncated: it ends before its IEND chunk" }
            let length = Int(bytes.bigEndian(at: index))
            let name = String(decoding: bytes[index + 4..<index + 8], as: UTF8.self)
            guard length <= bytes.count - index - 12 else {
                return "the PNG is truncated: its \(name) chunk at byte \(index) is longer than the file"
            }
            guard CRC32.of(bytes[index + 4..<index + 8 + length]) == bytes.bigEndian(at: index + 8 + length)
            else { return "the PNG is damaged: the checksum of its \(name) chunk at byte \(index) is wrong" }
            if index == 8, name != "IHDR" { return "the PNG does not begin with an IHDR chunk" }
            if name == "IDAT" { hasData = true }
            if name == "IEND" { return hasData ? nil : "the PNG ends before it has a picture" }
            index += 12 + length
        }
    }
}

/// HEIC: an `ftyp` box of a known brand, then boxes. Bytes after the last box are ignored, as after a JPEG and a PNG, once the description
/// and the data of a picture were there: before, they are a box that was cut off.
enum HEICStructure {
    static let brands = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]

    /// Whether a file of this structure is an AVIF: by its brand, or by those that it is compatible with where its own is of pictures in
    /// general. The first of these are looked at.
    static func isAVIF(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        let box = Array(bytes.prefix(256))
        guard box.count >= 12, box[4..<8].elementsEqual("ftyp".utf8) else { return false }
        let size = min(box.count, box[..<4].reduce(0) { $0 << 8 | Int($1) })
        let compatible = stride(from: 16, through: size - 4, by: 4)
        let names = ([8] + compatible).map { String(decoding: box[$0..<$0 + 4], as: UTF8.self) }
        let first = names.first {
            !$0.isOne(of: ["mif1", "msf1", "miaf"]) && ($0.begins(with: "avi") || brands.contains($0))
        }
        return first?.begins(with: "avi") == true
    }

    static func problem(_ bytes: UnsafeRawBufferPointer) -> String? {
        var index = 0
        var (hasDescription, hasData) = (false, false)
        while index < bytes.count {
            let isComplete = hasDescription && hasData
            guard index + 8 <= bytes.count else {
                return isComplete ? nil : "the HEIC is truncated: it ends inside a box"
            }
            var size = Int(bytes.bigEndian(at: index))
            let name = String(decoding: bytes[index + 4..<index + 8], as: UTF8.self)
            var header = 8
            if size == 1 {
                guard index + 16 <= bytes.count, bytes.bigEndian(at: index + 8) == 0 else {
                    return isComplete ? nil : "the HEIC is truncated: its \(name) box is longer than the file"
                }
                size = Int(bytes.bigEndian(at: index + 12))
                header = 16
            } else if size == 0 {
                size = bytes.count - index
            }
            guard size >= header, size <= bytes.count - index else {
                return isComplete
                    ? nil : "the HEIC is truncated: its \(name) box at byte \(index) is longer than the file"
            }
            if index == 0 {
                let brand = size >= header + 4 ? String(decoding: bytes[header..<header + 4], as: UTF8.self) : ""
                guard brands.contains(brand) else { return "not a HEIC image: its brand is \"\(brand)\"" }
            }
            if name == "meta" { hasDescription = true }
            if name == "mdat" { hasData = true }
            index += size
        }
        return nil
    }
}

/// The checksum of PNG chunks (ISO 3309).
private enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
    }

    static func of(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            ~bytes.reduce(0xffff_ffff) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The number in `width` bytes, the most significant first.
    func bigEndian(at index: Int, _ width: Int = 4) -> UInt64 {
        self[index..<index + width].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
