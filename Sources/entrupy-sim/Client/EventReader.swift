import Foundation

/// Splits a stream into server-sent events. Holds at most one unfinished event; its time is linear in the stream's size.
struct EventReader {
    struct TooLong: Error {}

    let maxBytes: Int
    private var rest = Data()
    /// The number of bytes of `rest` that hold no end of an event.
    private var searched = 0
    private static let end = Data("\n\n".utf8)

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// The events that end in the stream's next part. Comments are left out.
    mutating func events(in part: some Sequence<UInt8>) throws -> [(name: String, data: Data)] {
        rest.append(contentsOf: part)
        var events: [(name: String, data: Data)] = []
        var start = 0
        // The end may have begun in the part before.
        var from = max(0, searched - 1)
        while let end = rest.range(of: Self.end, in: from..<rest.count) {
            let event = Self.event(rest[start..<end.lowerBound])
            if !event.name.isEmpty { events.append(event) }
            start = end.upperBound
            from = start
        }
        rest = Data(rest[start...])
        searched = rest.count
        guard rest.count <= maxBytes else { throw TooLong() }
        return events
    }

    private static func event(_ text: Data) -> (name: String, data: Data) {
        var (name, data) = ("", Data())
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("event: ") { name = String(line.dropFirst("event: ".count)) }
            if line.hasPrefix("data: ") { data = Data(line.dropFirst("data: ".count).utf8) }
        }
        return (name, data)
    }
}
