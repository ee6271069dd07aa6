import SimulationAPI
import Storage

/// An effect of fault rules on attempts to deliver a webhook [D webhook-faults]: all that the program knows of it. It has a file in
/// `Effects` and a line in ``all``.
package struct WebhookEffect: Sendable {
    /// Begins an attempt. Writes. Returns the moment at which it is made; `nil` if it is made at once.
    typealias Action = @Sendable (inout DeliveryRecord, _ purpose: String, JobContext) throws -> Instant?

    /// The name of its member in a rule's effect, under which a delivery stores it.
    package let name: String
    /// A sentence for the people who choose an effect.
    let about: String
    /// Whether it applies to an attempt.
    var applies: @Sendable (DeliveryRecord, JobContext) throws -> Bool = { _, _ in true }
    /// Changes what is sent, in copies that are not stored. Returns whether it is sent.
    var send: @Sendable (inout DeliveryRecord, _ receiver: inout SubscriptionRecord) -> Bool = { _, _ in true }
    /// Begins an attempt if the argument is `true`.
    var begin: Action = { _, _, _ in nil }
    /// Reads another argument. Problems go to `effect`.
    var readArgument: (@Sendable (_ effect: inout FieldReader, _ name: String) -> Action)?

    package static let all = [delay, drop, duplicate, reorder, wrongSignature]

    static func named(_ name: String) -> WebhookEffect? { all.first { $0.name == name } }

    func read(_ effect: inout FieldReader) -> Action {
        readArgument?(&effect, name) ?? effect.flag(name, begin)
    }
}
