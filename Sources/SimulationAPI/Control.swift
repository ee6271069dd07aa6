/// `GET /_sim/namespaces`.
public struct NamespaceList: Codable, Sendable {
    /// The namespaces, sorted by name.
    public var namespaces: [NamespaceInfo]
    /// The namespaces whose files cannot be opened, which are not in ``namespaces``; `nil` from servers before 0.3.
    public var damaged: [DamagedFile]?

    public init(namespaces: [NamespaceInfo], damaged: [DamagedFile]? = nil) {
        self.namespaces = namespaces
        self.damaged = damaged
    }
}

/// Where a server sends webhooks.
public enum WebhookTargets: String, Codable, Sendable, CaseIterable {
    /// To loopback and private addresses alone.
    case local
    case any
}
