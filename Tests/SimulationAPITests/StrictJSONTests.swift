import Foundation
import SimulationAPI
import Testing

@Suite struct StrictJSONTests {
    @Test func aTextIsANumberAsJSONWritesIt() {
        for text in ["0", "-0", "7", "10", "1.50", "-0.1", "1e5", "1E+05", "0.1e-7", "1e999"] {
            #expect(JSONNumber.isNumber(text), "\(text)")
        }
        let others = [
            "", "-", "01", "1.", ".5", "1e", "1e+", "+1", "1 ", " 1", "0x1", "1_0", "--1", "1.2.3", "1e5.0", "٣",
        ]
        for text in others {
            #expect(!JSONNumber.isNumber(text), "\(text)")
        }
    }

    private func problem(_ bytes: [UInt8]) -> JSONProblem? {
        do {
            _ = try StrictJSON.parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        #"{"a":[1,2.5e3,-0,"x",true,false,null,{}],"b":"é\u00e9\ud83d\ude00\n\/"}"#, " [ ] ", "0", "\"\"",
        "\r\n\t{\"a\" : 1 }\n",
    ])
    func validJSONIsReadAsFoundationReadsIt(text: String) throws {
        let ours = try StrictJSON.parse(Array(text.utf8))
        #expect(
            try WireJSON.encode(ours) == WireJSON.encode(try WireJSON.decode(JSONValue.self, from: Data(text.utf8))))
    }

    @Test(arguments: [
        ("", 1, 1), ("{", 1, 2), ("{\"a\":1,}", 1, 8), ("[1,]", 1, 4), ("{\"a\" 1}", 1, 6), ("{a:1}", 1, 2),
        ("{\n  \"a\": 01\n}", 2, 9), ("tru", 1, 1), ("nul", 1, 1), ("1 2", 1, 3), ("-", 1, 2), ("1.", 1, 3),
        ("1e", 1, 3), ("+1", 1, 1), ("NaN", 1, 1), ("\"\u{1}\"", 1, 2), ("\"\\x\"", 1, 2), ("\"\\ud800\"", 1, 2),
        ("\"\\ud800\\u0041\"", 1, 2), ("\"abc", 1, 5), ("[1 2]", 1, 4), ("{\"a\":1 \"b\":2}", 1, 8), ("1e400", 1, 1),
        ("'a'", 1, 1), ("// x\n1", 1, 1), ("\u{feff}1", 1, 1),
    ])
    func theFirstErrorIsReportedWithLineAndColumn(text: String, line: Int, column: Int) {
        let problem = problem(Array(text.utf8))
        #expect(problem?.line == line, "\(text): \(String(describing: problem))")
        #expect(problem?.column == column, "\(text): \(String(describing: problem))")
    }

    @Test func aDuplicateKeyIsNamedWithItsPath() {
        #expect(problem(Array(#"{"item":{"list":[{"a":1,"a":2}]}}"#.utf8))?.path == "item.list[0].a")
    }

    @Test func keysAreComparedByTheirBytes() throws {
        let text = "{\"e\u{301}\":[\"\u{e9}\"],\"\u{e9}\":2,\"\u{212a}\":3,\"K\":4}"
        let value = try StrictJSON.parse(Array(text.utf8))
        #expect(value.members?.count == 4)
        #expect(value.members?["e\u{301}"] == .array([.string("\u{e9}")]))
        #expect(value.members?["e\u{301}"] != .array([.string("e\u{301}")]))
        // The encoder keeps such keys apart too, alone and within another type.
        #expect(try String(decoding: WireJSON.encode(value), as: UTF8.self).utf8.elementsEqual(sorted(text).utf8))
        let members = try #require(value.members)
        let encoded = try WireJSON.encode(["item": members])
        #expect(try WireJSON.decode(JSONValue.self, from: encoded).members?["item"] == value)
    }

    /// The members of ``keysAreComparedByTheirBytes()`` in the order of their bytes.
    private func sorted(_ text: String) -> String {
        let parts = text.utf8.dropFirst().dropLast().split(separator: UInt8(ascii: ",")).map { String(Substring($0)) }
        return "{\(parts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: ","))}"
    }

    @Test func sixtyFourLevelsAreFineAndSixtyFiveAreNot() {
        let nested = { (depth: Int) in
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(problem(nested(64)) == nil)
        #expect(problem(nested(65))?.text.contains("64") == true)
        #expect(problem(nested(100_000)) != nil)
    }

    @Test func invalidUTF8IsReportedWithItsPosition() {
        let problem = problem(Array("{\n\"a\":\"".utf8) + [0xc3, 0x28] + Array("\"}".utf8))
        #expect(problem?.text == "not UTF-8")
        #expect(problem?.line == 2)
        #expect(problem?.column == 6)
    }

    @Test func everyPrefixOfADocumentIsAnError() {
        let whole = Array(#"{"a":[1,"é",{"b":null}],"c":-1.5e-3}"#.utf8)
        for length in 0..<whole.count { #expect(problem(Array(whole.prefix(length))) != nil) }
        #expect(problem(whole) == nil)
    }

    @Test(arguments: [("[1,2]", 3), (#"{"a":{"b":[]}}"#, 3), ("1", 1), (#"[[[]]]"#, 3)])
    func theNumberOfValuesIsBounded(text: String, count: Int) throws {
        let bytes = Array(text.utf8)
        #expect(try StrictJSON.read(bytes, maxValues: count, allowsTrailingCommas: false).count == count)
        let problem = #expect(throws: JSONProblem.self) { try StrictJSON.parse(bytes, maxValues: count - 1) }
        #expect(problem?.text == "more than \(count - 1) values")
    }
}
