import EntrupyAPI
import Simulation
import SimulationAPI

extension SubscriptionRequest {
    static let members = ["url", "secret_key", "events", "channel", "username", "format", "signature"]

    /// Reads the members. Problems go to `fields`.
    init(_ fields: inout FieldReader) {
        self.init(
            url: fields.optionalString("url"), secret_key: fields.optionalString("secret_key"),
            events: fields.texts("events"), channel: fields.optionalString("channel"),
            username: fields.optionalString("username"), format: fields.word("format", WebhookFormat.self),
            signature: fields.word("signature", WebhookSignatureForm.self))
    }

    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        self.init(&fields)
        try fields.finish()
    }
}
