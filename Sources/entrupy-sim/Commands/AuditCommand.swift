import ArgumentParser
import Foundation
import SimulationAPI

struct AuditCommand: ControlAction {
    static let name = "audit"
    static let abstract = "Judge the clients: what they did that the vendor or HTTP asks them not to do."
    static let discussion = """
        audit -n shop               the requests of a namespace, and the receivers of its webhooks
        audit failed.tar            those in a bundle, without a server
        audit --fail-on warning     exit 1 for warnings too, not only for errors
        audit --ignore audit.yaml   leave findings out that are meant

        The file of --ignore is YAML, and every entry needs a reason:

        ignore:
          - rule: capture-abandoned
            reason: this suite tests the time-out
            test: test_timeout
        """

    @Argument(help: "A bundle to judge, instead of a namespace of the server. (default: the namespace is judged)")
    var bundle: String?
    @Option(help: "Only this rule, for instance retry-too-soon. (default: all)") var rule: String?
    @Option(help: "Only rules of this level: error or warning. (default: both)") var level: AuditReport.Level?
    @Option(help: "The findings for which the exit code is 1: error, warning or never.") var failOn = FailOn.error
    @Option(help: "A YAML file of findings to leave out, each with a reason. (default: none)") var ignore: String?
    @OptionGroup var files: ResultFiles

    /// The lowest level at which the command fails.
    enum FailOn: String, ExpressibleByArgument, CaseIterable {
        case error, warning, never

        func includes(_ level: AuditReport.Level) -> Bool {
            switch self {
            case .error: level == .error
            case .warning: true
            case .never: false
            }
        }
    }

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let (moment, start) = (Date(), ContinuousClock.now)
        let ignored = try ignore.map { try IgnoredFindings(file: $0) }
        // All rules must be known to check the file: the report is filtered here then.
        let query = ignored == nil ? [("rule", rule), ("level", level?.rawValue)] : []
        var report: AuditReport =
            if let bundle {
                try await OpenedBundle.with(bundle) { try await $0.client.get("/_sim/audit", query) }
            } else {
                try await client.get("/_sim/audit", query)
            }
        try ignored?.check(against: report.rules.map(\.id))
        try filter(&report)
        let judged = JudgedAudit(report, ignored)
        let subject = bundle ?? client.options.named
        try files.write(
            JUnitReport(judged, failOn, of: subject, at: moment, took: ContinuousClock.now - start),
            judged.markdown("Audit of \(subject)"))
        if terminal.isJSON { try terminal.json(of: judged.report) } else { judged.show(on: terminal) }
        guard !judged.report.findings.contains(where: { failOn.includes($0.level) }) else {
            throw ExitCode(Refusal.Code.no.rawValue)
        }
    }
}

extension AuditCommand {
    /// Leaves out what was not asked for.
    private func filter(_ report: inout AuditReport) throws {
        if let rule, !report.rules.contains(where: { $0.id == rule }) {
            throw Refusal(
                .usage, "there is no rule \"\(rule)\"",
                next: "the rules are \(report.rules.map(\.id).joined(separator: ", "))")
        }
        func isWanted(_ id: String, _ itsLevel: AuditReport.Level) -> Bool {
            (rule.map { $0 == id } ?? true) && (level.map { $0 == itsLevel } ?? true)
        }
        report.findings = report.findings.filter { isWanted($0.rule, $0.level) }
        report.rules = report.rules.filter { isWanted($0.id, $0.level) }
    }
}

extension AuditReport.Level: ExpressibleByArgument {}

extension AuditReport.Finding {
    /// The number of its occurrences, if more than one.
    var times: String { count > 1 ? " (\(count) times)" : "" }

    /// The numbers of its requests; `nil` if it names none.
    fileprivate var numbers: String? {
        guard !requests.isEmpty else { return nil }
        let numbers = requests.map { "\($0.sequence)" }.joined(separator: ", ")
        return "\(numbers)\(requests.count < 10 ? "" : " …")\(test.map { " in \($0)" } ?? "")"
    }
}

/// An audit without the findings that a file leaves out.
struct JudgedAudit {
    private(set) var report: AuditReport
    /// The number of findings that were left out.
    let ignoredCount: Int
    /// The entries of the file that left nothing out.
    let unused: [String]
    /// Sentences on judgements that are missing, each with its rule, without the rules that a file leaves out. A strict run fails for those
    /// of rules whose findings are errors, and if there was nothing to judge.
    let gaps: [(rule: String?, text: String, fails: Bool)]

    init(_ report: AuditReport, _ ignored: IgnoredFindings?) {
        self.report = report
        self.report.findings.removeAll { ignored?.includes($0) == true }
        ignoredCount = report.findings.count - self.report.findings.count
        unused = ignored?.unused(for: report) ?? []
        let isEmpty = report.rules.allSatisfy { $0.looked_at == 0 }
        gaps =
            report.rules.filter { ignored?.includes(rule: $0.id) != true }.compactMap { rule in
                rule.not_judged.map { (rule.id, "\(rule.id) could not judge everything: \($0)", rule.level == .error) }
            }
            + (isEmpty
                ? [(nil, "there was nothing to judge: no request of a client, no capture and no webhook", true)] : [])
    }

    /// Whether a run may succeed.
    func passes(isStrict: Bool) -> Bool {
        !report.findings.contains { $0.level == .error } && !(isStrict && gaps.contains(where: \.fails))
    }

    /// The sum of the findings in words.
    private var sum: String {
        let errors = report.findings.count { $0.level == .error }
        let warnings = report.findings.count - errors
        return
            "\(Readable.count(errors, "error")), \(Readable.count(warnings, "warning")), by \(Readable.count(report.rules.count, "rule"))"
    }

    /// Sentences about judgements that are missing, which are errors in a strict run, and entries that were not needed.
    private func notes(isStrict: Bool) -> [String] {
        var notes = gaps.map { "\(isStrict && $0.fails ? "error" : "note"): \($0.text)" }
        if ignoredCount > 0 { notes.append("\(Readable.count(ignoredCount, "finding")) left out by --ignore") }
        return notes + unused.map { "note: --ignore \($0) left nothing out" }
    }

    func lines(isStrict: Bool = false) -> [String] {
        report.findings.map { finding in
            let requests = finding.numbers.map { " (requests \($0))" } ?? ""
            return "\(finding.level.rawValue): \(finding.rule)\(finding.times): \(finding.text)\(requests)"
        } + ["audit: \(sum)"] + notes(isStrict: isStrict)
    }

    func markdown(_ title: String) -> String {
        var lines = ["## \(Markdown.escaped(title))", "", Markdown.escaped(sum), ""]
        if !report.findings.isEmpty {
            lines += ["| | rule | what happened | requests |", "|---|---|---|---|"]
            lines += report.findings.map { finding in
                let cells = [finding.rule, finding.text + finding.times, finding.numbers ?? ""]
                let mark = finding.level == .error ? ":x:" : ":warning:"
                return "| \(mark) | " + cells.map { Markdown.escaped($0) }.joined(separator: " | ") + " |"
            }
            lines.append("")
        }
        return lines.joined(separator: "\n") + notes(isStrict: false).map { "\(Markdown.escaped($0))  \n" }.joined()
            + "\n"
    }

    func show(on terminal: Terminal) {
        for finding in report.findings {
            let style: Terminal.Style = finding.level == .error ? .red : .yellow
            terminal.line([
                .init(finding.level.rawValue, style), .init("  \(finding.rule)", .bold), .init(finding.times),
            ])
            terminal.line("  \(finding.text)")
            if let numbers = finding.numbers { terminal.line("  requests \(numbers)", .dim) }
            terminal.line("  \(finding.source)", .dim)
        }
        terminal.line(sum)
        for note in notes(isStrict: false) { terminal.note(note) }
    }
}
