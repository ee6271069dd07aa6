import Foundation
import Testing

@testable import Simulation

@Suite struct Base64URLTests {
    @Test(arguments: 0...70) func dataIsDecodedUnchangedAndItsTextNeedsNoEscape(length: Int) throws {
        let data = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 * 251 + length) })
        let text = Base64URL.encode(data)
        #expect(!text.utf8.contains { [0x2b, 0x2f, 0x3d].contains($0) })
        #expect(Base64URL.decode(text) == data)
        let padded = data.base64EncodedString()
        #expect(text == padded.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
        #expect(Base64URL.decode(padded) == data, "plain base64 is decoded too")
    }

    @Test(arguments: ["a", "a.b", "äöü", "ab cd"]) func textThatIsNotBase64URLIsRefused(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
