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
