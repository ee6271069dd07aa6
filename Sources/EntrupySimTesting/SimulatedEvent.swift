/// An event that a test waits for.
public struct SimulatedEvent: Sendable, ExpressibleByStringLiteral {
    /// The form that `GET /_sim/events?until=` reads.
    let text: String
    /// The number in the journal of a request, of which only later ones count; `nil` if all count.
    private(set) var after: Int64?

    /// Any event that the server knows, for instance `item:5ISJEYOQ:result`.
    public init(stringLiteral text: String) {
        self.text = text
    }

    /// An item has its final result.
    public static func result(of entrupyID: String) -> Self { Self(stringLiteral: "item:\(entrupyID):result") }
    /// A fault holds a request, or has held one.
    public static let requestHeld = Self(stringLiteral: "request:held")
    /// A fault holds a request that came later than the one with this number in the journal, `held.request.sequence`.
    public static func requestHeld(after sequence: Int64) -> Self {
        var event = Self(stringLiteral: "request:held")
        event.after = sequence
        return event
    }
    /// An attempt was made to deliver a webhook of an event, such as `session.completed`.
    public static func webhook(_ event: String) -> Self { Self(stringLiteral: "webhook:\(event)") }
    /// A component of a session of App Components ended with a result.
    public static func componentFinished(inSession id: String) -> Self {
        Self(stringLiteral: "workflow_session:\(id):finished")
    }
    /// A capture timed out.
    public static func captureTimeout(_ captureID: String) -> Self {
        Self(stringLiteral: "capture:\(captureID):timed_out")
    }
}
