/// A video in the ISO base media format, recognised by its structure [D video-check].
///
/// Videos are not decoded. The check is that the file's boxes end exactly at its end, and that it says how long it is.
package struct VideoFormat: FileFormat {
    package let container: Container
    /// The length that the movie header names.
    package let milliseconds: Int64

    /// The media types.
    package enum Container: String, CaseIterable, Sendable {
        case mp4 = "video/mp4"
        case quickTime = "video/quicktime"
    }

    /// The longest video: a day.
    package static let maxMilliseconds: Int64 = 86_400_000
    /// The maximum number of boxes on the outermost level. Fragments of a second have two.
    private static let maxBoxes = 100_000

    package static func recognise(_ bytes: UnsafeRawBufferPointer) -> Result<VideoFormat, ImageProblem> {
        if bytes.isEmpty { return .failure(ImageProblem("the video is empty")) }
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else {
            return .failure(ImageProblem("not an MP4 or QuickTime video, by its first bytes"))
        }
        let isImage = (HEICStructure.brands + ["avif"]).contains { bytes[8..<12].elementsEqual($0.utf8) }
        guard !isImage, bytes.bigEndian(at: 0) >= 12 else {
            return .failure(ImageProblem("not an MP4 or QuickTime video, by its brand"))
        }
        let container = bytes[8..<12].elementsEqual("qt  ".utf8) ? Container.quickTime : .mp4
        do throws(ImageProblem) {
            var length: Int64?
            var count = 0
            try boxes(bytes, 0..<bytes.count) { name, content throws(ImageProblem) in
                count += 1
                guard count <= maxBoxes else { throw ImageProblem("the video has more than \(maxBoxes) boxes") }
                guard name.elementsEqual("moov".utf8) else { return }
                try boxes(bytes, content) { name, content throws(ImageProblem) in
                    if name.elementsEqual("mvhd".utf8) { length = try milliseconds(bytes, content) }
                }
            }
            guard let length else { throw ImageProblem("the video has no movie header, which names its length") }
            return .success(VideoFormat(container: container, milliseconds: length))
        } catch {
            return .failure(error)
        }
    }

    /// Calls `body` with the name and the content of each box of a range.
    private static func boxes(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>,
        _ body: (_ name: Slice<UnsafeRawBufferPointer>, _ content: Range<Int>) throws(ImageProblem) -> Void
    ) throws(ImageProblem) {
        var index = range.lowerBound
        while index < range.upperBound {
            guard index + 8 <= range.upperBound else {
                throw ImageProblem("the video is truncated: it ends inside a box")
            }
            var size = Int64(bytes.bigEndian(at: index))
            var header = 8
            if size == 1 {
                guard index + 16 <= range.upperBound else {
                    throw ImageProblem("the video is truncated: it ends inside a box")
                }
                size = Int64(clamping: bytes.bigEndian(at: index + 8, 8))
                header = 16
            } else if size == 0 {
                size = Int64(range.upperBound - index)
            }
            guard size >= header else {
                throw ImageProblem("the video is damaged: its box at byte \(index) is shorter than its own header")
            }
            guard size <= range.upperBound - index else {
                throw ImageProblem("the video is truncated: its box at byte \(index) is longer than what holds it")
            }
            let end = index + Int(size)
            try body(bytes[index + 4..<index + 8], index + header..<end)
            index = end
        }
    }

    /// The length that a movie header names, in its own unit of time.
    private static func milliseconds(
        _ bytes: UnsafeRawBufferPointer, _ header: Range<Int>
    ) throws(ImageProblem) -> Int64 {
        let isLong = !header.isEmpty && bytes[header.lowerBound] == 1
        let (start, width) = isLong ? (20, 8) : (12, 4)
        guard header.count >= start + 4 + width else { throw ImageProblem("the video's movie header is truncated") }
        let unit = bytes.bigEndian(at: header.lowerBound + start)
        let length = bytes.bigEndian(at: header.lowerBound + start + 4, width)
        guard unit > 0 else { throw ImageProblem("the video's movie header has no unit of time") }
        let milliseconds = Double(length) / Double(unit) * 1000
        guard milliseconds <= Double(maxMilliseconds) else {
            throw ImageProblem("the video's movie header names more than a day")
        }
        return Int64(milliseconds.rounded())
    }
}
