import Foundation
import Testing

/// `docs/fidelity.md` and the code name the same decisions.
@Suite struct FidelityTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private struct Decision {
        let name: String
        let file: String
    }

    private func decisions() throws -> [Decision] {
        let text = try String(contentsOf: Self.root.appendingPathComponent("docs/fidelity.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        return try rows.map { row in
            let cells = row.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            try #require(cells.count == 4, "the row must have four cells: \(row)")
            return Decision(name: cells[0], file: cells[2].trimmingCharacters(in: ["`"]))
        }
    }

    /// The names that each file marks. The key is the path from the root.
    private func marks() throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for folder in ["Sources", "seed-data"] {
            let files = FileManager.default.enumerator(atPath: Self.root.appendingPathComponent(folder).path)
            for case let name as String in files ?? .init() where name.hasSuffix(".swift") || name.hasSuffix(".yaml") {
                let path = "\(folder)/\(name)"
                // Links into seed-data and openapi: the files themselves are read where they are.
                let url = Self.root.appendingPathComponent(path)
                if (try? url.resourceValues(forKeys: [.isSymbolicLinkKey]).isSymbolicLink) == true { continue }
                let text = try String(contentsOf: url, encoding: .utf8)
                for match in text.matches(of: /\[(?:[SP], )*D(?: ([^\]]*))?\]/) {
                    let names = (match.1 ?? "").split(separator: ", D ").map(String.init)
                    if names.isEmpty { Issue.record("\(path) has a [D] without a name") }
                    found[path, default: []].formUnion(names)
                }
            }
        }
        return found
    }

    @Test func everyDecisionIsMarkedInItsFileAndEveryMarkNamesADecision() throws {
        let (decisions, marks) = (try decisions(), try marks())
        try #require(decisions.count > 80)
        for decision in decisions {
            #expect(
                marks[decision.file]?.contains(decision.name) == true,
                "\(decision.file) has no mark [D \(decision.name)]")
        }
        let names = Set(decisions.map(\.name))
        for (path, marked) in marks {
            #expect(
                marked.isSubset(of: names), "\(path) marks \(marked.subtracting(names)), which docs/fidelity.md lacks")
        }
    }

    @Test func noTwoDecisionsShareAName() throws {
        let names = try decisions().map(\.name)
        #expect(Set(names).count == names.count)
    }
}
