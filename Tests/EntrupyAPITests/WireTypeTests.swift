import EntrupyAPI
import Foundation
import SimulationAPI
import Testing

@Suite struct WireTypeTests {
    @Test func nullableMembersAreSentAsNull() throws {
        let page = CapturePage(items: [], next_cursor: nil)
        let text = String(decoding: try WireJSON.encode(page), as: UTF8.self)
        #expect(text == #"{"item_count":0,"items":[],"next_cursor":null}"#)
        let again = try WireJSON.decode(CapturePage.self, from: Data(#"{"item_count":0,"items":[]}"#.utf8))
        #expect(again.next_cursor == nil)
    }

    @Test func sdkErrorsHaveTheVendorsRawValues() {
        #expect(SDKErrorCode.ErrorCodeOfflineAccess.rawValue == 0)
        #expect(SDKErrorCode.ErrorCodeTooManyRequests.rawValue == 7)
        #expect(SDKErrorCode.ErrorCodeImageUploadError.rawValue == 8)
        #expect(SDKErrorCode.ErrorCodeSearchItemNotFound.rawValue == 11)
    }
}
