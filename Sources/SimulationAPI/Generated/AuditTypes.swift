// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/audit` [D audit].
public struct AuditReport: Codable, Sendable {
    /// Errors first, then in the order of the rules.
    public var findings: [Finding]
    public var rules: [Rule]

    /// Errors first, then in the order of the rules.
    public struct Finding: Codable, Sendable {
        /// The id of the rule, for instance `retry-too-soon`.
        public var rule: String
        public var level: Level
        /// What happened at the first occurrence, with secrets masked.
        public var text: String
        /// How often it happened.
        public var count: Int
        /// The requests of the first occurrences, oldest first; none where the journal has forgotten them, or where no request is
        /// to blame.
        public var requests: [RequestName]
        /// The document that says what a client should do. S and P in brackets are documents of the vendor, D is a decision of this
        /// project.
        public var source: String
        /// The header `X-Sim-Test` of the requests.
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
            _test = Nullable(wrappedValue: test)
        }
    }

    public struct Rule: Codable, Sendable {
        public var id: String
        public var level: Level
        /// The number of requests, captures, retakes or attempts that the rule was applied to.
        public var looked_at: Int
        /// Why something could not be judged; null if all was.
        @Nullable public var not_judged: String?

        public init(id: String, level: Level, looked_at: Int, not_judged: String?) {
            self.id = id
            self.level = level
            self.looked_at = looked_at
            _not_judged = Nullable(wrappedValue: not_judged)
        }
    }

    public init(findings: [Finding], rules: [Rule]) {
        self.findings = findings
        self.rules = rules
    }
}
