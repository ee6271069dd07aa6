/// `GET /_sim/audit`: misuse of the API in what the clients of a namespace asked, and what its receivers of webhooks answered
/// [D audit].
public struct AuditReport: Codable, Sendable {
    /// The weight of a rule.
    public enum Level: String, Codable, Sendable, CaseIterable {
        /// The real platform refuses such a client, or the client harms itself.
        case error
        /// It works, and costs something or will fail one day.
        case warning
    }

    /// A rule that was broken: once for each route, user and test that broke it.
    public struct Finding: Codable, Sendable {
        /// The id of the rule, for instance `retry-too-soon`.
        public var rule: String
        public var level: Level
        /// What the client did, and the value that it should have kept, with the first occurrence as an example.
        public var text: String
        /// How often it happened.
        public var count: Int
        /// The requests of the first occurrences, oldest first, at most ten.
        public var requests: [RequestName]
        /// The document and the rule in it that the client goes against.
        public var source: String
        /// The header `X-Sim-Test` of the requests; null if they have none.
        @Nullable public var test: String?

        public init(
            rule: String, level: Level, text: String, count: Int, requests: [RequestName], source: String, test: String?
        ) {
            self.rule = rule
            self.level = level
            self.text = text
            self.count = count
            self.requests = requests
            self.source = source
            self._test = Nullable(wrappedValue: test)
        }
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

    /// A rule that was applied.
    public struct Rule: Codable, Sendable {
        public var id: String
        public var level: Level
        /// The number of requests, captures, retakes or attempts that the rule judged.
        public var looked_at: Int
        /// Why something could not be judged; null if all was.
        @Nullable public var not_judged: String?

        public init(id: String, level: Level, looked_at: Int, not_judged: String?) {
            self.id = id
            self.level = level
            self.looked_at = looked_at
            self._not_judged = Nullable(wrappedValue: not_judged)
        }
    }

    /// Errors first, then in the order of the rules.
    public var findings: [Finding]
    public var rules: [Rule]

    public init(findings: [Finding], rules: [Rule]) {
        self.findings = findings
        self.rules = rules
    }
}

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
