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

    /// A type with all that `Encodable` can ask an encoder for.
    private struct Everything: Encodable {
        var text = "a \"quote\", a / and \u{1}\n"
        var none: String?
        @Nullable var null: String?
        var yes = true
        var numbers: [Double] = [0, -0.0, 1.5, 1e21, 1e-7, 1_767_603_600.25, 123_456_789]
        var float: Float = 0.1
        var integers = [Int.min, Int.max]
        var small: Int8 = -128
        var large = UInt64.max
        var lists = [["a"], []]
        var optional: [Int?] = [1, nil]
        var map = ["b": ["x": 1], "a": [:], "e\u{301}": [:]]
        var json: JSONValue = ["n": 1.25, "l": [.null, true, "x"], "o": [:]]
        var nothing = Nothing()
        var order = Order.first
        var nested = Nested()
    }

    private struct Nothing: Encodable {
        func encode(to encoder: any Encoder) {}
    }

    private enum Order: String, Encodable { case first }

    private enum Key: String, CodingKey { case z, a, list, inner, base }

    /// Encodes through nested containers.
    private struct Nested: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("last", forKey: .z)
            var inner = container.nestedContainer(keyedBy: Key.self, forKey: .inner)
            try inner.encodeNil(forKey: .a)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            try list.encodeNil()
            var member = list.nestedContainer(keyedBy: Key.self)
            try member.encode(false, forKey: .a)
            var deep = list.nestedUnkeyedContainer()
            try deep.encode("deep")
            try "base".encode(to: container.superEncoder(forKey: .base))
            try "super".encode(to: container.superEncoder())
        }
    }

    @Test func theBytesMatchFoundationsEncoder() throws {
        let ours = try WireJSON.encode(Everything())
        #expect(
            String(decoding: ours, as: UTF8.self)
                == String(decoding: try WireJSON.encoder.encode(Everything()), as: UTF8.self))
    }

    /// Whole numbers have a shorter way, up to where the description changes its form.
    @Test(
        arguments: [
            0, -0.0, 1, -3, 0.5, 1_767_603_600, 1_767_603_600.25, 0x1p24, 0x1p53 - 1, 0x1p53, 0x1p53 + 2, 0x1p54,
            0x1p63, 0x1p64,
            -0x1p54, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        ] as [Double])
    func aNumberIsItsDescriptionWithoutAFractionOfZero(number: Double) throws {
        func expected(_ description: String) -> String {
            description.hasSuffix(".0") ? String(description.dropLast(2)) : description
        }
        #expect(String(decoding: try WireJSON.encode(number), as: UTF8.self) == expected(number.description))
        var text = JSONText()
        text.number(number)
        #expect(String(decoding: text.bytes, as: UTF8.self) == expected(number.description))
        let short = Float(number)
        guard short.isFinite else { return }
        #expect(String(decoding: try WireJSON.encode(short), as: UTF8.self) == expected(short.description))
    }

    /// An item, and members beside those of the item, one of them again.
    private struct Beside<Item: Encodable>: Encodable {
        let item: Item

        func encode(to encoder: any Encoder) throws {
            try item.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("beside", forKey: .list)
            try container.encode("again", forKey: .a)
        }
    }

    @Test func aTypeMayEncodeItsMembersBesideThoseOfAnother() throws {
        let expected = #"[{"a":"again","list":"beside","z":"item"}]"#
        let members = ["a": "item", "z": "item"]
        let value = JSONValue.object(JSONObject(members.map { ($0.key, .string($0.value)) }))
        #expect(String(decoding: try WireJSON.encode([Beside(item: members)]), as: UTF8.self) == expected)
        #expect(String(decoding: try WireJSON.encode([Beside(item: value)]), as: UTF8.self) == expected)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan]) func aNumberThatJSONCannotExpressIsRefused(number: Double) {
        #expect(throws: EncodingError.self) { try WireJSON.encode(["ratio": number]) }
        #expect(throws: EncodingError.self) { try WireJSON.encode([number]) }
        #expect(throws: EncodingError.self) { try WireJSON.encode(number) }
    }
}
