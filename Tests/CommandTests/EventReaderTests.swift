import Testing

@testable import entrupy_sim

/// Server-sent events as the commands read them.
@Suite struct EventReaderTests {
    @Test(arguments: [1, 2, 3, 7, 100]) func eventsAreReadFromPartsOfAnySize(size: Int) throws {
        let text = Array(
            "retry: 1000\n: hello\n\nid: 1\nevent: a\ndata: {\"a\":1}\n\n:\n\nevent: b\ndata: 2\n\nevent: c\n".utf8)
        var reader = EventReader(maxBytes: 30)
        var found: [String] = []
        for start in stride(from: 0, to: text.count, by: size) {
            for event in try reader.events(in: text[start..<min(start + size, text.count)]) {
                found.append("\(event.name) \(String(decoding: event.data, as: UTF8.self))")
            }
        }
        #expect(found == ["a {\"a\":1}", "b 2"])
    }
}
