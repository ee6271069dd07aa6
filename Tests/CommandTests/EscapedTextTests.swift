import Foundation
import Logging
import SimulationAPI
import Testing

@testable import entrupy_sim

/// Text from outside as the command line prints it.
@Suite struct EscapedTextTests {
    /// A colour that this program does not use, a bell, C1's introducer of the same colour, a carriage return, three scalars that
    /// change the order of text or break lines, and the ends of cells and lines.
    private static let hostile = "a\u{1b}[35mb\u{7}c\u{9b}35md\re\u{202e}f\u{2066}g\u{2028}h\ti\nj"
    private static let shown = #"a\x1b[35mb\x07c\x9b35md\x0de\u{202e}f\u{2066}g\u{2028}h\x09i\x0aj"#

    /// The scalars of a text that a terminal would obey or hide, except ends of lines.
    private static func hidden(in text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar != "\n"
            case .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }

    @Test func everyControlAndFormatCharacterIsEscaped() {
        #expect(VisibleText.line(Self.hostile) == Self.shown)
        #expect(VisibleText.lines("a\tb\r\nc\u{0}") == "a\tb\\x0d\nc\\x00")
        var count = 0
        // Above the second plane only these have such characters; of the others, which have one answer for all, each 97th is tried.
        let rest = stride(from: UInt32(0x20000), through: 0x10ffff, by: 97)
        for value in Array(UInt32(0)...0x1ffff) + Array(0xe0000...0xe0fff) + rest {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let line = VisibleText.line("x\(scalar)y")
            let isHidden = !Self.hidden(in: String(scalar)).isEmpty || scalar == "\n"
            #expect(Self.hidden(in: line).isEmpty && !line.unicodeScalars.contains("\n"))
            // What people read stays.
            if isHidden { count += 1 } else { #expect(line.unicodeScalars.elementsEqual("x\(scalar)y".unicodeScalars)) }
        }
        #expect(count > 200)
        for scalar in "\u{61c}\u{200b}\u{200e}\u{200f}\u{2029}\u{202a}\u{2069}\u{feff}\u{e0041}".unicodeScalars {
            #expect(VisibleText.line(String(scalar)) == "\\u{\(String(scalar.value, radix: 16))}")
        }
    }

    @Test func jsonStaysTheSameJSON() throws {
        let value = JSONValue.object([
            "a": .string(Self.hostile + "\u{e0041}\u{7f}é👩‍👧"), "b": .array([.number(JSONNumber(1)), .null]),
        ])
        let text = String(decoding: try WireJSON.encode(value), as: UTF8.self)
        let shown = VisibleText.json(text)
        #expect(Self.hidden(in: shown) == [] && shown.contains(#"\u001b"#) && shown.contains(#"\u202e"#))
        #expect(shown.contains(#"\udb40\udc41"#))
        #expect(try WireJSON.decode(JSONValue.self, from: Data(shown.utf8)) == value)
        // Between values a carriage return is white space.
        #expect(VisibleText.json("{\r\n\t\"a\": 1}") == "{ \n\t\"a\": 1}")
    }

    @Test func logLinesAreEscapedToo() {
        let event = LogEvent(
            level: .info, message: "\(Self.hostile)", metadata: ["path": "\(Self.hostile)"], source: nil, file: "",
            function: "", line: 0)
        let shown = TextLogHandler.visible(event, ["url": "\(Self.hostile)"])
        #expect("\(shown.message)" == Self.shown)
        #expect(shown.metadata?.mapValues { "\($0)" } == ["path": Self.shown, "url": Self.shown])
    }
}
