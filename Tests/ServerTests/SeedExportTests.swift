import Foundation
import SimulationAPI
import TestSupport
import Testing
import Yams

@testable import Simulation

/// Exported seed data is read back as it was, by this program and by others, whatever texts and ids it holds.
@Suite struct SeedExportTests {
    private static let texts =
        HostileTexts.all + ["a\0b", "on", "off", "yes", "y", "N", "Null", "0o17", "190:20:30", "0b11", "+1", "-.INF"]
    /// Without the byte order mark alone, which the library reads as an empty key, of which there is one.
    private static let keys = texts.filter { $0.utf8.count != 3 || $0.unicodeScalars.first != "\u{feff}" }
    private static let document = SeedDocument.mapping([
        ("values", .texts(texts)), ("keys", .mapping(keys.map { ($0, .text($0)) })), ("flag", .bool(true)),
    ])

    @Test func textsAndKeysStayTexts() throws {
        let root = try #require(try Yams.compose(yaml: try Self.document.yaml())?.mapping)
        let values = try #require(root["values"]?.sequence)
        let keys = try #require(root["keys"]?.mapping)
        #expect(values.count == Self.texts.count && keys.count == Self.keys.count && root["flag"]?.bool == true)
        func check(_ node: Node, _ text: String) {
            // The library drops a byte order mark at the beginning of a value, however it is written.
            let read = text.unicodeScalars.first == "\u{feff}" ? String(text.unicodeScalars.dropFirst()) : text
            #expect(node.tag == Tag(.str), "\(text.debugDescription)")
            #expect(Array(node.string?.utf8 ?? "".utf8) == Array(read.utf8), "\(text.debugDescription)")
        }
        for (text, value) in zip(Self.texts, values) { check(value, text) }
        for (text, pair) in zip(Self.keys, keys) {
            check(pair.key, text)
            check(pair.value, text)
        }
    }

    @Test(.enabled(if: ForeignProgram.pythonYAML.works(with: "a: 1"), "needs python3 with yaml"))
    func pythonReadsTheSame() throws {
        let json = try ForeignProgram.pythonYAML.read(try Self.document.yaml())
        let read = try JSONDecoder().decode(JSONValue.self, from: json)
        guard case .object(let members) = read, case .array(let values)? = members["values"],
            case .object(let keys)? = members["keys"]
        else { throw NotRead() }
        for (text, value) in zip(Self.texts, values) { #expect(value == .string(text), "\(text.debugDescription)") }
        for text in Self.keys { #expect(keys[text] == .string(text), "\(text.debugDescription)") }
    }

    private struct NotRead: Error {}
}
