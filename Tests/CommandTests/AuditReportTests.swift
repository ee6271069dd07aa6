import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import entrupy_sim

/// The report of `entrupy-sim audit`: its JUnit XML, and the file of findings that are meant.
@Suite struct AuditReportTests {
    /// An error of one test, and a warning of another.
    private static let report = AuditReport(
        findings: [finding("signed-request-reused", .error, "new"), finding("deprecated-version", .warning, "old")],
        rules: [
            .init(id: "signed-request-reused", level: .error, looked_at: 2, not_judged: nil),
            .init(id: "deprecated-version", level: .warning, looked_at: 2, not_judged: nil),
            .init(id: "no-retry", level: .error, looked_at: 2, not_judged: "2 requests"),
        ])

    private static func finding(_ rule: String, _ level: AuditReport.Level, _ test: String) -> AuditReport.Finding {
        AuditReport.Finding(
            rule: rule, level: level, text: "GET /a", count: 1, requests: [.init(id: "req_1", sequence: 7)],
            source: "D",
            test: test)
    }

    /// Runs `body` with what a file of `--ignore` leaves out.
    private func ignoring<Value>(_ text: String, _ body: (IgnoredFindings) throws -> Value) throws -> Value {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("audit-\(UUID()).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try body(try IgnoredFindings(file: file.path))
    }

    private func xml(_ audit: JudgedAudit, _ level: AuditCommand.FailOn) -> String {
        JUnitReport(audit, level, of: "x", at: Date(timeIntervalSince1970: 0), took: .zero).xml
    }

    /// A rule with findings has not passed, whatever the exit code is; nor has one that could not judge everything.
    @Test(arguments: [(AuditCommand.FailOn.never, 0, 3), (.error, 1, 2), (.warning, 2, 1)])
    func aFindingThatDoesNotFailIsACaseThatWasSkipped(level: AuditCommand.FailOn, failures: Int, skipped: Int) {
        let xml = xml(JudgedAudit(Self.report, nil), level)
        #expect(xml.contains("tests=\"3\" failures=\"\(failures)\" errors=\"0\" skipped=\"\(skipped)\""), "\(xml)")
        #expect(xml.components(separatedBy: "<skipped message=").count - 1 == skipped, "\(xml)")
        #expect(xml.contains("<skipped message=\"could not judge everything: 2 requests\"/>"), "\(xml)")
        #expect(xml.contains("name=\"audit deprecated-version\""))
    }

    @Test func findingsThatAreMeantAreLeftOutWithAReason() throws {
        func judged(_ entries: String) throws -> JudgedAudit {
            try ignoring("ignore: [\(entries)]") { JudgedAudit(Self.report, $0) }
        }
        let one = try judged("{rule: signed-request-reused, reason: the test of it}")
        #expect(one.ignoredCount == 1 && one.report.findings.map(\.rule) == ["deprecated-version"])
        let both = try judged(
            """
            {rule: signed-request-reused, reason: the test of it},
            {rule: deprecated-version, reason: an old client, test: old}
            """)
        #expect(both.report.findings.isEmpty && both.unused.isEmpty)
        let other = try judged("{rule: deprecated-version, reason: an old client, test: another}")
        #expect(other.report.findings.count == 2 && other.unused == ["deprecated-version (test another)"])
    }

    @Test func aSummaryIsMarkdownAndNamesAreText() {
        let report = AuditReport(
            findings: [Self.finding("deprecated-version", .warning, "<b>|`evil`")], rules: Self.report.rules)
        let lines = JudgedAudit(report, nil).markdown("Audit of t1").split(separator: "\n")
        #expect(lines.first == "## Audit of t1")
        #expect(
            lines.contains(#"| :warning: | deprecated-version | GET /a | 7 in &lt;b&gt;\|\`evil\` |"#), "\(lines)")
    }

    @Test(arguments: [
        (
            "ignore: [{rule: retry-to-soon, reason: x}]",
            ":1: there is no rule \"retry-to-soon\"; did you mean retry-too-soon?"
        ),
        ("ignore:\n  - {rule: no-retry}", ":2: the entry of no-retry needs a reason"),
        ("ignore:\n  - {rule: no-retry, reason: ' '}", ":2: the entry of no-retry needs a reason"),
        ("ignore: [{reason: x}]", ":1: the entry needs a rule"),
        ("ignore: [{rule: no-retry, reason: x, tests: y}]", ":1: \"tests\" is not known"),
        ("ignored: []", ":1: must have one member, ignore"), ("ignore: [x]", ":1: must be an entry such as"),
        ("ignore: [", ":1: is not YAML"), ("", ":1: must have one member, ignore"),
    ]) func wrongFilesAreRefused(text: String, problem: String) throws {
        let refusal = #expect(throws: Refusal.self) {
            try ignoring(text) { try $0.check(against: ["no-retry", "retry-too-soon"]) }
        }
        #expect(refusal?.code == .usage && refusal?.message.contains(".yaml\(problem)") == true, "\(text)")
    }
}
