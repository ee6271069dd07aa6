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
    let body: String
    let form: WebhookSignatureForm?

    /// - Parameters:
    ///   - body: the body as it arrived.
    ///   - form: the form that the signature must have; `nil` for any.
    package init(secret: String, signature: String, body: String, form: WebhookSignatureForm?) {
        self.secret = secret
        self.signature = signature
        self.body = body
        self.form = form
    }

    package func perform(_ job: JobContext, as caller: Control) -> SignatureCheckResult {
        let check = SignatureCheck(signature, of: Data(body.utf8), secret: secret, form: form)
        return SignatureCheckResult(
            valid: check.form != nil, form: check.form?.rawValue, hint: check.hint,
            expected: Dictionary(uniqueKeysWithValues: check.expected.map { ($0.form.rawValue, $0.text) }))
    }
}
