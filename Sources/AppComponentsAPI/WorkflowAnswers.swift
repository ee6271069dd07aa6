import SimulationAPI

extension IdentityDocument {
    /// Whether it proves who a person is. Only such documents have an issuing country [S].
    public var isPrimary: Bool { self != .proofOfAddress && self != .tinReferenceDocument }
}

/// `GET /_sim/components/sessions`: newest first.
public struct WorkflowSessionList: Codable, Sendable {
    public var sessions: [WorkflowSessionInfo]
    /// The cursor of the next page; null on the last one.
    @Nullable public var next_cursor: String?

    public init(sessions: [WorkflowSessionInfo], next_cursor: String?) {
        self.sessions = sessions
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}
