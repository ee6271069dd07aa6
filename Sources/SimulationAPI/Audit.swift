/// Keyed digests of the secrets of a request, with which requests can be compared although the secrets are masked. The key is never
/// written, so a digest says only which requests had the same secret.
public struct RequestDigests: Codable, Sendable, Equatable {
    /// Of the token in `Authorization`; absent if there is none.
    public var credential: String?
    /// Of the whole body; absent if there is none, or only its beginning was kept.
    public var body: String?
    /// Of secret members of the request's body, by name.
    public var sent: [String: String]
    /// Of secret members of the answer's body, by name.
    public var answered: [String: String]
    /// Whether the path or the query holds a token.
    public var token_in_url: Bool

    public init(
        credential: String? = nil, body: String? = nil, sent: [String: String] = [:], answered: [String: String] = [:],
        token_in_url: Bool = false
    ) {
        self.credential = credential
        self.body = body
        self.sent = sent
        self.answered = answered
        self.token_in_url = token_in_url
    }
}

extension AuditReport {
    /// The weight of a rule.
    public enum Level: String, Codable, Sendable, CaseIterable {
        /// The real platform refuses such a client, or the client harms itself.
        case error
        /// It works, and costs something or will fail one day.
        case warning
    }

    /// A request of the journal.
    public struct RequestName: Codable, Sendable, Hashable {
        public var id: String
        public var sequence: Int64

        public init(id: String, sequence: Int64) {
            self.id = id
            self.sequence = sequence
        }
    }
}
