// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/event-log` [D event-log].
public struct EventList: Codable, Sendable {
    /// The entries of the event log, newest first.
    public var events: [StateChange]
    /// The start of the next page.
    @Nullable public var next_cursor: String?

    public init(events: [StateChange], next_cursor: String?) {
        self.events = events
        _next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// The entries of the event log, newest first [D events].
public struct StateChange: Codable, Sendable {
    /// The sequence number in the namespace's event log. It survives a restart.
    public var sequence: Int64
    /// The time of the event by the namespace's clock, in epoch seconds.
    public var at: Double
    /// The kind of event, for instance `capture.submitted`.
    public var kind: String
    /// The id of the capture, item or other object that the event concerns.
    public var subject: String
    /// The data of the event.
    public var data: JSONValue
    /// The id of what caused it, for `GET /_sim/explain/{id}`: `sequence:12` is a request, `due:7` scheduled work, `control:3`
    /// a call of the control API, others a delivery. Null if it is not known.
    @Nullable public var cause: String?

    public init(sequence: Int64, at: Double, kind: String, subject: String, data: JSONValue, cause: String? = nil) {
        self.sequence = sequence
        self.at = at
        self.kind = kind
        self.subject = subject
        self.data = data
        _cause = Nullable(wrappedValue: cause)
    }
}
