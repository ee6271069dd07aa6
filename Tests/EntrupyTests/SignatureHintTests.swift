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

    @Test func aSignatureIsRightInEachFormAndItsMistakesAreNamed() {
        let body = Data(#"{"items":[{"entrupy_id":"ABCD2345"}]}"#.utf8)
        let spaced = Data(#"{ "items": [{"entrupy_id": "ABCD2345"}] }"#.utf8)
        let texts = SignatureCheck("", of: body, secret: "s3crét").expected
        for (form, text) in texts { #expect(SignatureCheck(text, of: body, secret: "s3crét").form == form) }
        let (base64, hex) = (String(texts[0].text.dropFirst("SHA256:".count)), texts[2].text)
        #expect(texts.map(\.text) == ["SHA256:\(base64)", "SHA256:\(hex)", hex])
        for (signature, sent, hint) in [
            (base64, body, "written exactly"), ("sha256=\(hex)", body, "written exactly"),
            ("SHA256: \(base64)", body, "written exactly"), (hex.uppercased(), body, "written exactly"),
            ("SHA256:\(base64)", body + Data("\n".utf8), "without the line end"),
            ("SHA256:\(base64)", spaced, "decoded and encoded again"),
            ("SHA256:" + Data(repeating: 7, count: 32).base64EncodedString(), body, nil),
        ] as [(String, Data, String?)] {
            let check = SignatureCheck(signature, of: sent, secret: "s3crét")
            #expect(check.form == nil && (hint.map { check.hint?.contains($0) == true } ?? (check.hint == nil)))
        }
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
