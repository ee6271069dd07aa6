import Foundation
import SimulationAPI
import Yams

/// The file of findings that an audit leaves out: `ignore: [{rule, reason, test?}]`.
struct IgnoredFindings {
    /// A kind of finding that is meant.
    private struct Entry {
        let rule: String
        /// The test whose findings are meant; `nil` if those of all tests are.
        let test: String?
        let line: Int

        func includes(_ finding: AuditReport.Finding) -> Bool {
            rule == finding.rule && (test == nil || test == finding.test)
        }
    }

    private let entries: [Entry]
    private let file: String

    /// The maximum size of the file, in bytes.
    private static let maxBytes = 1_000_000

    /// - Throws: ``Refusal`` if the file cannot be read, or is not as it should be.
    init(file: String) throws {
        self.file = file
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw Refusal(.usage, "\(file) cannot be read: \(error.localizedDescription)", next: "name a YAML file")
        }
        guard data.count <= Self.maxBytes else { throw Refusal(.usage, "\(file) is over 1 MB") }
        entries = try Self.entries(String(decoding: data, as: UTF8.self), file)
    }

    private static func entries(_ text: String, _ file: String) throws -> [Entry] {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text, .basic)
        } catch {
            throw wrong(file, nil, "is not YAML: \("\(error)".split(separator: "\n").first ?? "")")
        }
        guard let members = root?.mapping, members.count == 1, let list = members["ignore"]?.sequence else {
            throw wrong(file, root, "must have one member, ignore, with a list")
        }
        return try list.map { node in
            guard let entry = node.mapping else {
                throw wrong(file, node, "must be an entry such as {rule: ..., reason: ...}")
            }
            for (key, _) in entry where !["rule", "reason", "test"].contains(key.string ?? "") {
                throw wrong(file, key, "\"\(key.string ?? "")\" is not known; an entry has rule, reason and test")
            }
            guard let rule = entry["rule"]?.string, !rule.isEmpty else {
                throw wrong(file, node, "the entry needs a rule")
            }
            guard let reason = entry["reason"]?.string, !reason.allSatisfy(\.isWhitespace) else {
                throw wrong(file, node, "the entry of \(rule) needs a reason: a sentence that says why it is meant")
            }
            let test = entry["test"]?.string
            guard entry["test"] == nil || test?.isEmpty == false else { throw wrong(file, node, "test must be a name") }
            return Entry(rule: rule, test: test, line: node.mark?.line ?? 1)
        }
    }

    private static func wrong(_ file: String, _ node: Node?, _ problem: String) -> Refusal {
        Refusal(.usage, "\(file):\(node?.mark?.line ?? 1): \(problem)")
    }

    /// Checks that every rule exists.
    ///
    /// - Parameter rules: all rules.
    /// - Throws: ``Refusal`` for one that does not.
    func check(against rules: [String]) throws {
        for entry in entries where !rules.contains(entry.rule) {
            let near = NearestName.nearest(to: entry.rule, among: rules).map { "; did you mean \($0)?" } ?? ""
            throw Refusal(
                .usage, "\(file):\(entry.line): there is no rule \"\(entry.rule)\"\(near)",
                next: "the rules are \(rules.joined(separator: ", "))")
        }
    }

    func includes(_ finding: AuditReport.Finding) -> Bool { entries.contains { $0.includes(finding) } }

    /// Whether all findings of a rule are meant.
    func includes(rule: String) -> Bool { entries.contains { $0.rule == rule && $0.test == nil } }

    /// The entries of rules that could judge everything and that no finding matches, as text.
    func unused(for report: AuditReport) -> [String] {
        let applied = Set(report.rules.filter { $0.not_judged == nil }.map(\.id))
        return entries.filter { applied.contains($0.rule) && !report.findings.contains(where: $0.includes) }
            .map { $0.rule + ($0.test.map { " (test \($0))" } ?? "") }
    }
}
