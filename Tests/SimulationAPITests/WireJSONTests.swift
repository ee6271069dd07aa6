import Foundation
import SimulationAPI
import Testing

@Suite struct WireJSONTests {
    @Test func keysAreSortedAndSlashesPlain() throws {
        let bytes = try WireJSON.encode(["b": "http://127.0.0.1/x", "a": "é"])
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"a":"é","b":"http://127.0.0.1/x"}"#)
    }

    @Test func nullableMembersAreSentAsNull() throws {
        let gap = EventGap(missed: nil, reason: "x")
        let text = String(decoding: try WireJSON.encode(gap), as: UTF8.self)
        #expect(text == #"{"missed":null,"reason":"x"}"#)
        #expect(try WireJSON.decode(EventGap.self, from: Data(#"{"reason":"x"}"#.utf8)).missed == nil)
    }

    @Test(arguments: ["12345678901234567890123", "0.1", "-7", "9007199254740993"])
    func numbersSurviveAnEchoExactly(text: String) throws {
        let value = JSONValue.object(["n": .number(JSONNumber(text: text))])
        let bytes = try WireJSON.encode(value)
        #expect(String(decoding: bytes, as: UTF8.self) == "{\"n\":\(text)}")
        #expect(try WireJSON.decode(JSONValue.self, from: bytes) == value)
    }

    @Test func mergePatchRemovesMergesAndReplaces() throws {
        let document = try WireJSON.decode(JSONValue.self, from: Data(#"{"a":{"b":1,"c":2},"d":[1],"e":0}"#.utf8))
        let patch = try WireJSON.decode(
            JSONValue.self, from: Data(#"{"a":{"b":null,"x":3},"d":{"y":1},"e":null}"#.utf8))
        let merged = String(decoding: try WireJSON.encode(document.merging(patch)), as: UTF8.self)
        #expect(merged == #"{"a":{"c":2,"x":3},"d":{"y":1}}"#)
    }
}
