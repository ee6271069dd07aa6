import Entrupy
import EntrupyAPI
import Foundation
import Testing

/// Hints for developers of receivers, which look at the body in other spellings.
@Suite struct SignatureHintTests {
    private func hint(_ body: Data) -> String? {
        let signed = SignatureCheck("", of: body + [UInt8(ascii: "\n")], secret: "s3cr3t").expected[0].text
        return SignatureCheck(signed, of: body, secret: "s3cr3t").hint
    }

    @Test func aBodyIsLookedAtInOtherSpellingsOnlyIfItIsShort() {
        let body = Data(repeating: UInt8(ascii: "1"), count: SignatureCheck.maxHintedBytes)
        #expect(hint(body)?.contains("with a line end after it") == true)
        #expect(hint(body + body) == nil)
    }

    @Test func aRightCodeInAnotherFormIsNamedWhateverTheSizeIs() {
        let body = Data(repeating: UInt8(ascii: "1"), count: SignatureCheck.maxHintedBytes * 2)
        let all = SignatureCheck("", of: body, secret: "s3cr3t").expected
        let check = SignatureCheck(all[0].text, of: body, secret: "s3cr3t", form: all[1].form)
        #expect(check.form == nil && check.hint == "the code is right, but in the form \(all[0].form.rawValue)")
        #expect(SignatureCheck(all[1].text, of: body, secret: "s3cr3t", form: all[1].form).hint == nil)
    }
}
