/// `GET /_sim/audits`: what happened in all namespaces of a server, also in those that were deleted [D audit].
public struct ServerAudit: Codable, Sendable {
    /// One namespace.
    public struct Namespace: Codable, Sendable {
        public var name: String
        /// Whether it was deleted. It was judged just before.
        public var deleted: Bool
        /// The number of requests that it got, since it was reset or restored if it was.
        public var requests: Int64
        /// Whether a test has told findings itself, after the last request. Those are left out.
        public var told: Bool
        /// The fault rules that were never triggered, in words.
        public var unmet_faults: [String]
        public var findings: [AuditReport.Finding]

        public init(
            name: String, deleted: Bool, requests: Int64, told: Bool, unmet_faults: [String],
            findings: [AuditReport.Finding]
        ) {
            self.name = name
            self.deleted = deleted
            self.requests = requests
            self.told = told
            self.unmet_faults = unmet_faults
            self.findings = findings
        }
    }

    /// Those that got a request or have a fault rule, by name; of one name the older first.
    public var namespaces: [Namespace]
    /// The rules that were applied, with the sums of what they looked at.
    public var rules: [AuditReport.Rule]
    /// Whether deleted namespaces are missing: more were deleted than are kept, or the server keeps none.
    public var incomplete: Bool

    public init(namespaces: [Namespace], rules: [AuditReport.Rule], incomplete: Bool) {
        self.namespaces = namespaces
        self.rules = rules
        self.incomplete = incomplete
    }
}
