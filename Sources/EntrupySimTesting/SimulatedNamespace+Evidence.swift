import ClientTransport
import Foundation
import SimulationAPI

// Why something happened, and what was met.
extension SimulatedNamespace {
    /// Which documented answers, errors, states and limits the namespace's requests have met since it was made, reset or restored.
    ///
    /// - Throws: ``SimulatorError`` if the server cannot be asked.
    public func coverage() async throws -> Coverage {
        try await control.send("GET", "/_sim/coverage", as: Coverage.self)
    }

    /// The chain of causes of something, and what followed from it.
    ///
    /// - Parameter id: that of a request, an item, a capture, a session or a delivery, or `sequence:N` (a request), `event:N`, `due:N`,
    ///   `control:N`.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or nothing has the id.
    public func explain(_ id: String) async throws -> Explanation {
        try await control.send("GET", "/_sim/explain/\(id.segment)", as: Explanation.self)
    }

    // MARK: Misuse of the API

    /// The misuse of the API by the clients of the namespace and by its receivers of webhooks, judged by the rules of
    /// `docs/evidence.md`.
    ///
    /// - Parameters:
    ///   - rule: only this rule, for instance `retry-too-soon`; `nil` for all.
    ///   - level: only rules of this level; `nil` for both.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or there is no such rule.
    public func audit(rule: String? = nil, level: AuditReport.Level? = nil) async throws -> AuditReport {
        let path = ControlConnection.path("/_sim/audit", [("rule", rule), ("level", level?.rawValue)])
        return try await control.send("GET", path, as: AuditReport.self)
    }

    /// Fails unless the clients kept to the rules. What a rule could not judge, for instance a body that was not kept whole, is a warning.
    ///
    /// - Parameters:
    ///   - failingAt: the level from which a finding is a failure.
    ///   - ignore: the rules whose findings are meant, with the reason for each; `forgotten` if the test empties the journal.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, there is no such rule, or a rule could not judge requests because the
    ///   journal has forgotten them, and outside Swift Testing if there are findings.
    public func expectNoMisuse(
        failingAt level: AuditReport.Level = .error, ignore: [String: String] = [:], fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        // A run of all tests does not say again what fails here.
        let report = try await control.send("GET", "/_sim/audit?told=\(level.rawValue)", as: AuditReport.self)
        if let unknown = ignore.keys.sorted().first(where: { name in
            name != Self.forgotten && !report.rules.contains { $0.id == name }
        }) {
            throw SimulatorError(
                "the audit has no rule \"\(unknown)\"; its rules are \(report.rules.map(\.id).joined(separator: ", "))")
        }
        func isAsked(_ rule: String, _ itsLevel: AuditReport.Level) -> Bool {
            ignore[rule] == nil && (level == .warning || itsLevel == .error)
        }
        let findings = report.findings.filter { isAsked($0.rule, $0.level) }
        guard !findings.isEmpty else {
            let rules = report.rules.filter { isAsked($0.id, $0.level) && $0.not_judged != nil }
            return try Self.report(rules, isMeant: ignore[Self.forgotten] != nil, fileID, filePath, line, column)
        }
        let lines = findings.map { finding in
            let requests = finding.requests.map { "\($0.sequence)" }.joined(separator: ", ")
            return
                "\(finding.level.rawValue) \(finding.rule): \(finding.text)\(requests.isEmpty ? "" : " (requests \(requests))")"
        }
        Self.summarize(lines)
        let text = "the clients did what they should not:\n  " + lines.joined(separator: "\n  ")
        try TestFailure.record(text, fileID, filePath, line, column)
    }

    /// Beside rules of the audit, what may be ignored: requests that the journal has forgotten. The server's reason has the word.
    private static let forgotten = "forgotten"

    /// Warns of what rules could not judge. Throws where the journal has forgotten it, unless that is meant: that nothing was found says
    /// nothing then.
    private static func report(
        _ unjudged: [AuditReport.Rule], isMeant: Bool, _ fileID: String, _ filePath: String, _ line: Int, _ column: Int
    ) throws {
        for rule in unjudged {
            let reason = rule.not_judged ?? ""
            let text = "\(rule.id) could not judge everything: \(reason)"
            if !reason.contains(forgotten) {
                TestFailure.warn(text, fileID, filePath, line, column)
            } else if !isMeant {
                throw SimulatorError("\(text); if that is meant, ignore has [\"\(forgotten)\": \"why\"]")
            }
        }
    }

    /// The level of misuse that fails a test, in ENTRUPY_SIM_AUDIT of the environment; `nil` if clients are not judged.
    static func auditedLevel() throws -> AuditReport.Level? {
        guard let text = ProcessInfo.processInfo.environment["ENTRUPY_SIM_AUDIT"], !text.isEmpty else { return nil }
        guard let level = AuditReport.Level(rawValue: text) else {
            throw SimulatorError("ENTRUPY_SIM_AUDIT must be error or warning, got \"\(text)\"")
        }
        return level
    }

    /// Adds findings to the file that ENTRUPY_SIM_SUMMARY names, as a list in Markdown.
    private static func summarize(_ lines: [String]) {
        guard let path = ProcessInfo.processInfo.environment["ENTRUPY_SIM_SUMMARY"], !path.isEmpty else { return }
        let test = ProcessInfo.processInfo.environment["ENTRUPY_SIM_TEST"] ?? ""
        let text = lines.map { "- \(Markdown.escaped($0))\(test.isEmpty ? "" : " (\(Markdown.escaped(test)))")\n" }
            .joined()
        // If it cannot be made, opening it says why.
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        do {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.seekToEnd()
            try file.write(contentsOf: Data(text.utf8))
        } catch {
            printToStandardError("the summary cannot be written to \(path): \(error.localizedDescription)")
        }
    }
}
