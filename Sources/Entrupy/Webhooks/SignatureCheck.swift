import EntrupyAPI
import Foundation
import Simulation
import SimulationAPI

/// `POST /_sim/webhooks/check-signature`: compares a webhook's signature with what it must be [D signature-check]. Reads
/// nothing of the namespace.
package struct CheckSignature: Operation, Reads {
    let secret: String
    let signature: String
    /// The body as it arrived.
    let body: String
    /// The form that the signature must have; `nil` for any.
    let form: WebhookSignatureForm?

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["secret", "signature", "body", "form"])
        secret = fields.string("secret")
        signature = fields.string("signature")
        body = fields.string("body")
        form = fields.word("form", WebhookSignatureForm.self)
        try fields.finish()
    }

    package func perform(_ job: JobContext, as caller: Control) -> SignatureCheckResult {
        let check = SignatureCheck(signature, of: Data(body.utf8), secret: secret, form: form)
        return SignatureCheckResult(
            valid: check.form != nil, form: check.form?.rawValue, hint: check.hint,
            expected: Dictionary(uniqueKeysWithValues: check.expected.map { ($0.form.rawValue, $0.text) }))
    }
}

/// The comparison of a webhook's signature with what it must be, for developers of receivers.
package struct SignatureCheck: Sendable {
    /// The form that the signature has; `nil` if it is wrong.
    package let form: WebhookSignatureForm?
    /// The right signature in each form.
    package let expected: [(form: WebhookSignatureForm, text: String)]
    private let given: (signature: String, body: Data, secret: String)
    /// The form that the code has, although another one is wanted.
    private let otherForm: WebhookSignatureForm?

    /// - Parameters:
    ///   - signature: the value of `Entrupy-Signature`.
    ///   - body: the bytes that were signed.
    ///   - form: the form that it must have; `nil` for any.
    package init(_ signature: String, of body: Data, secret: String, form wanted: WebhookSignatureForm? = nil) {
        given = (signature, body, secret)
        expected = Self.forms(of: body, secret)
        let found = expected.first { $0.text.isIdentical(to: signature) }?.form
        let isWanted = wanted.map { $0 == found } ?? true
        form = isWanted ? found : nil
        otherForm = isWanted ? nil : found
    }

    /// The maximum size of a body that is written in other ways for a hint, in bytes. Decoding takes up to a second for each megabyte.
    package static let maxHintedBytes = 65_536

    /// The mistake, if it is a known one; `nil` if the signature is right, or the body has more than ``maxHintedBytes``. It is looked
    /// for here, and not with the signature: a reader that does not show it need not pay for it.
    package var hint: String? {
        guard form == nil else { return nil }
        if let otherForm { return "the code is right, but in the form \(otherForm.rawValue)" }
        return Self.hint(given.signature, given.body, given.secret)
    }

    private static func forms(of body: Data, _ secret: String) -> [(form: WebhookSignatureForm, text: String)] {
        let code = WebhookSignature.code(body, secret: secret)
        return WebhookSignatureForm.allCases.map { ($0, $0.text(of: code)) }
    }

    private static func form(of signature: String, _ body: Data, _ secret: String) -> WebhookSignatureForm? {
        forms(of: body, secret).first { $0.text.isIdentical(to: signature) }?.form
    }

    /// The mistake that explains a wrong signature; `nil` if it is none of the known ones.
    private static func hint(_ signature: String, _ body: Data, _ secret: String) -> String? {
        let plain = plain(signature)
        if let found = form(of: plain, body, secret) {
            let text = found.text(of: WebhookSignature.code(body, secret: secret))
            return "the code is right, but \(found.rawValue) is written exactly \"\(text)\""
        }
        let bodies = body.count <= maxHintedBytes ? changed(body) : []
        for (changed, name) in bodies where form(of: plain, changed, secret) != nil {
            return "the signature is that of the body \(name): sign and compare the bytes as they arrive"
        }
        let short = secret.trimmingCharacters(in: .whitespacesAndNewlines)
        if !short.isIdentical(to: secret), form(of: plain, body, short) != nil {
            return "the signature is that of the secret without the white space around it"
        }
        return nil
    }

    /// A signature without what clients add by mistake: spaces, the header's name, another prefix, capitals in hex,
    /// base64's URL alphabet.
    private static func plain(_ signature: String) -> String {
        var text = signature.trimmingCharacters(in: .whitespacesAndNewlines)
        for prefix in ["entrupy-signature:", "sha256:", "sha256="] where text.lowercased().hasPrefix(prefix) {
            text = String(text.dropFirst(prefix.count)).trimmingCharacters(in: .whitespaces)
        }
        if text.utf8.count == 64 { return text.lowercased() }
        text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return "SHA256:" + text + (text.utf8.count == 43 ? "=" : "")
    }

    /// Bodies that differ as those of editors and parsers do.
    private static func changed(_ body: Data) -> [(Data, String)] {
        var bodies: [(Data, String)] = []
        if body.last == UInt8(ascii: "\n") { bodies.append((body.dropLast(), "without the line end at its end")) }
        bodies.append((body + [UInt8(ascii: "\n")], "with a line end after it"))
        bodies += [
            (spelled(body, colon: ": ", comma: ","), "as it was sent, with a space after each colon"),
            (spelled(body, colon: ":", comma: ","), "decoded and encoded again"),
            (spelled(body, colon: ": ", comma: ", "), "decoded and encoded again"),
        ].filter { $0.0 != body }
        // A body that is not JSON has no other order.
        if let value = try? JSONSerialization.jsonObject(with: body) {
            for (options, name) in [
                ([], "decoded and encoded again"), ([.sortedKeys], "decoded and encoded again with sorted keys"),
            ] as [(JSONSerialization.WritingOptions, String)] {
                guard let data = try? JSONSerialization.data(withJSONObject: value, options: options) else { continue }
                bodies.append((data, name))
            }
        }
        return bodies
    }

    /// A JSON text with other spaces.
    private static func spelled(_ body: Data, colon: String, comma: String) -> Data {
        var (text, isInString, isEscaped) = (Data(capacity: body.count), false, false)
        for byte in body {
            if isInString {
                text.append(byte)
                (isInString, isEscaped) = (
                    isEscaped || byte != UInt8(ascii: "\""), !isEscaped && byte == UInt8(ascii: "\\")
                )
                continue
            }
            switch byte {
            case UInt8(ascii: ":"): text.append(contentsOf: colon.utf8)
            case UInt8(ascii: ","): text.append(contentsOf: comma.utf8)
            case 0x09, 0x0a, 0x0d, 0x20: break
            default:
                isInString = byte == UInt8(ascii: "\"")
                text.append(byte)
            }
        }
        return text
    }
}
