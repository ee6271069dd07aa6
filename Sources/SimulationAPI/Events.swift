/// The data of an event `state` or `webhook` of `GET /_sim/events`: an entry of the event log [D events].
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
    /// The id of what caused the event, for `GET /_sim/explain/{id}`; null if it is not known.
    @Nullable public var cause: String?

    public init(
        sequence: Int64, at: Double, kind: String, subject: String, data: JSONValue, cause: String? = nil
    ) {
        self._cause = Nullable(wrappedValue: cause)
        self.sequence = sequence
        self.at = at
        self.kind = kind
        self.subject = subject
        self.data = data
    }
}

/// `GET /_sim/event-log` [D event-log].
public struct EventList: Codable, Sendable {
    /// The entries of the event log, newest first.
    public var events: [StateChange]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(events: [StateChange], next_cursor: String?) {
        self.events = events
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// The data of an event `gap`: earlier events are no longer available [D events].
public struct EventGap: Codable, Sendable {
    /// The number of missed events; null if the listener's last event is from another run of the server.
    @Nullable public var missed: Int64?
    /// The reason for the gap.
    public var reason: String

    public init(missed: Int64?, reason: String) {
        self._missed = Nullable(wrappedValue: missed)
        self.reason = reason
    }
}

/// The data of an event `world.replaced` or `world.deleted` [D events].
public struct WorldChange: Codable, Sendable {
    /// The namespace's name.
    public var namespace: String

    public init(namespace: String) {
        self.namespace = namespace
    }
}
