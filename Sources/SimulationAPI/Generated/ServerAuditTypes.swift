// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/audits` [D audit].
public struct ServerAudit: Codable, Sendable {
    /// Those that got a request or have a fault rule, by name; of one name the older first.
    public var namespaces: [Namespace]
    /// The rules that were applied, with the sums of what they looked at.
    public var rules: [AuditReport.Rule]
    /// Whether deleted namespaces are missing.
    public var incomplete: Bool

    /// Those that got a request or have a fault rule, by name; of one name the older first.
    public struct Namespace: Codable, Sendable {
        public var name: String
        /// Whether it was deleted, and judged just before.
        public var deleted: Bool
        /// How many requests it got.
        public var requests: Int64
        /// Whether a test has told the findings, so that they are left out.
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

    public init(namespaces: [Namespace], rules: [AuditReport.Rule], incomplete: Bool) {
        self.namespaces = namespaces
        self.rules = rules
        self.incomplete = incomplete
    }
}
