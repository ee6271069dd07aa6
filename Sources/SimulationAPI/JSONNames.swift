import Foundation

/// Checks the lengths of member names in a JSON text before `JSONDecoder` reads it. The decoder's time grows with
/// the square of the number of combining marks in a name.
enum JSONNames {
    /// The maximum length of a name, in bytes.
    static let maxBytes = 1000

    /// Whether no name is longer than the limit. Text that is not JSON is left for the decoder to reject.
    static func areShort(in json: Data) -> Bool {
        json.withUnsafeBytes { areShort(in: $0) }
    }

    private static func areShort(in json: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < json.count {
            guard json[index] == UInt8(ascii: "\"") else {
                index += 1
                continue
            }
            let start = index + 1
            index = end(ofStringAt: start, in: json)
            // A string is a name if a colon follows.
            let isLong = index - start > maxBytes
            index += 1
            while index < json.count, [0x20, 0x09, 0x0a, 0x0d].contains(json[index]) { index += 1 }
            if isLong, index < json.count, json[index] == UInt8(ascii: ":") { return false }
        }
        return true
    }

    /// The index of the closing quote, or the end of the text.
    private static func end(ofStringAt start: Int, in json: UnsafeRawBufferPointer) -> Int {
        var index = start
        while index < json.count, json[index] != UInt8(ascii: "\"") {
            index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, json.count)
    }
}
