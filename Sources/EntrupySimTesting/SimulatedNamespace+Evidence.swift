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
        let query = [("rule", rule), ("level", level?.rawValue)].compactMap { name, value in
            value.map { "\(name)=\($0.segment)" }
        }
        let path = "/_sim/audit" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        return try await control.send("GET", path, as: AuditReport.self)
    }

    /// Fails unless the clients kept to the rules.
    ///
    /// - Parameters:
    ///   - failingAt: the level from which a finding is a failure.
    ///   - ignoring: the rules whose findings are meant, with the reason for each.
    /// - Throws: ``SimulatorError`` if the server cannot be asked or there is no such rule, and outside Swift Testing if there are
    ///   findings.
    public func expectNoMisuse(
        failingAt level: AuditReport.Level = .error, ignoring: [String: String] = [:], fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) async throws {
        let report = try await audit()
        if let unknown = ignoring.keys.sorted().first(where: { name in !report.rules.contains { $0.id == name } }) {
            throw SimulatorError(
                "the audit has no rule \"\(unknown)\"; its rules are \(report.rules.map(\.id).joined(separator: ", "))")
        }
        let findings = report.findings.filter { finding in
            ignoring[finding.rule] == nil && (level == .warning || finding.level == .error)
        }
        guard !findings.isEmpty else { return }
        let lines = findings.map { finding in
            let requests = finding.requests.map { "\($0.sequence)" }.joined(separator: ", ")
            return
                "\(finding.level.rawValue) \(finding.rule): \(finding.text)\(requests.isEmpty ? "" : " (requests \(requests))")"
        }
        Self.summarize(lines)
        let text = "the clients did what they should not:\n  " + lines.joined(separator: "\n  ")
        try TestFailure.record(text, fileID, filePath, line, column)
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
