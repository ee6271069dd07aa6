import SimulationAPI

/// The audit of the namespace: misuse by its clients and receivers, by rule.
enum AuditPage {
    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let report = try await api.get("audit", as: AuditReport.self)
        let errors = report.findings.count { $0.level == .error }
        let notJudged = report.rules.filter { $0.not_judged != nil }
        let view: View = [
            "hasFindings": !report.findings.isEmpty, "isClean": report.findings.isEmpty,
            "isUnused": report.rules.allSatisfy { $0.looked_at == 0 },
            "errorCount": errors, "warningCount": report.findings.count - errors,
            "findings": report.findings.enumerated().map { finding($0.element, $0.offset, request) },
            "hasNotJudged": !notJudged.isEmpty,
            "notJudged": notJudged.map { ["name": $0.id, "reason": $0.not_judged ?? ""] as View },
            "rules": report.rules.map { rule in
                [
                    "name": rule.id, "level": rule.level.rawValue, "lookedAt": rule.looked_at,
                    "found": report.findings.filter { $0.rule == rule.id }.reduce(0) { $0 + $1.count },
                ] as View
            },
        ]
        return PagePart(section: "audit", title: "Audit", template: "audit", view: view)
    }

    private static func finding(_ finding: AuditReport.Finding, _ index: Int, _ request: ConsoleRequest) -> View {
        [
            "key": "finding-\(index)", "name": finding.rule, "level": finding.level.rawValue, "text": finding.text,
            "style": finding.level == .error ? "bad" : "warn", "source": finding.source, "count": finding.count,
            "isRepeated": finding.count > 1, "test": finding.test ?? "", "hasTest": finding.test != nil,
            "hasRequests": !finding.requests.isEmpty,
            "requests": finding.requests.map { named in
                [
                    "number": Int(named.sequence),
                    "link": "\(request.console)/requests/\(Link.escaped("sequence:\(named.sequence)"))",
                ] as View
            },
        ]
    }
}
