import SimulationAPI

/// The audit of the namespace: misuse by its clients and receivers, by rule.
enum AuditPage {
    private struct View: Encodable, Sendable {
        let isUnused: Bool
        let findings: Rows<Finding>?
        let counts: String
        let notJudged: Rows<AuditReport.Rule>?
        let rules: [Rule]
    }

    private struct Finding: Encodable, Sendable {
        let key: String
        let finding: AuditReport.Finding
        let style: String
        /// The number of times that it happened; `nil` for one.
        let times: Int?
    }

    private struct Rule: Encodable, Sendable {
        let rule: AuditReport.Rule
        let found: Int
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let report = try await api.get("audit", as: AuditReport.self)
        let errors = report.findings.count { $0.level == .error }
        let view = View(
            isUnused: report.rules.allSatisfy { $0.looked_at == 0 },
            findings: Rows(
                report.findings.enumerated().map { index, finding in
                    Finding(
                        key: "finding-\(index)", finding: finding, style: finding.level == .error ? "bad" : "warn",
                        times: finding.count > 1 ? finding.count : nil)
                }),
            counts: [Counted.text(errors, "error"), Counted.text(report.findings.count - errors, "warning")]
                .joined(separator: ", "),
            notJudged: Rows(report.rules.filter { $0.not_judged != nil }),
            rules: report.rules.map { rule in
                Rule(
                    rule: rule, found: report.findings.filter { $0.rule == rule.id }.reduce(0) { $0 + $1.count })
            })
        return PagePart(section: "audit", title: "Audit", template: "audit", view: view)
    }
}
