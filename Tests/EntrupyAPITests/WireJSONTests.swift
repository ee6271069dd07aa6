import EntrupyAPI
import Foundation
import Testing

@Suite struct WireJSONTests {
    @Test func keysAreSortedAndSlashesPlain() throws {
        let bytes = try WireJSON.encode(["b": "http://127.0.0.1/x", "a": "é"])
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"a":"é","b":"http://127.0.0.1/x"}"#)
    }

    @Test func nullableMembersAreSentAsNull() throws {
        let page = CapturePage(items: [], next_cursor: nil)
        let text = String(decoding: try WireJSON.encode(page), as: UTF8.self)
        #expect(text == #"{"item_count":0,"items":[],"next_cursor":null}"#)
        let again = try WireJSON.decode(CapturePage.self, from: Data(#"{"item_count":0,"items":[]}"#.utf8))
        #expect(again.next_cursor == nil)
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

    @Test func sdkErrorsHaveTheVendorsRawValues() {
        #expect(SDKErrorCode.ErrorCodeOfflineAccess.rawValue == 0)
        #expect(SDKErrorCode.ErrorCodeTooManyRequests.rawValue == 7)
        #expect(SDKErrorCode.ErrorCodeImageUploadError.rawValue == 8)
        #expect(SDKErrorCode.ErrorCodeSearchItemNotFound.rawValue == 11)
    }
}
