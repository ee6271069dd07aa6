import EntrupyAPI
import Foundation
import Simulation
import SimulationAPI

/// `POST /_sim/webhooks/check-signature`: compares a webhook's signature with what it must be [D signature-check]. Reads
/// nothing of the namespace.
package struct CheckSignature: Operation {
    package static let access = Access.reads
    let secret: String
    let signature: String
    /// The body as it arrived.
    let body: String
    /// The form that the signature must have; `nil` for any.
    let form: WebhookSignatureForm?

    package func perform(_ job: JobContext, as caller: Control) -> SignatureCheckResult {
        let check = SignatureCheck(signature, of: Data(body.utf8), secret: secret, form: form)
        return SignatureCheckResult(
            valid: check.form != nil, form: check.form?.rawValue, hint: check.hint,
            expected: Dictionary(uniqueKeysWithValues: check.expected.map { ($0.form.rawValue, $0.text) }))
    }
}

extension CheckSignature {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["secret", "signature", "body", "form"])
        self.init(
            secret: fields.string("secret"), signature: fields.string("signature"), body: fields.string("body"),
            form: fields.word("form", WebhookSignatureForm.self))
        try fields.finish()
    }
}
