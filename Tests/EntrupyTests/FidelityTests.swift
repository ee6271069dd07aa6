import Foundation
import Testing

/// `docs/fidelity.md` and the code name the same decisions.
@Suite struct FidelityTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private struct Decision {
        let name: String
        let rule: String
        let file: String
        let settledBy: String
    }

    private func page() throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent("docs/fidelity.md"), encoding: .utf8)
    }

    private func decisions() throws -> [Decision] {
        let rows = try page().split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        return try rows.map { row in
            let cells = row.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            try #require(cells.count == 4, "the row must have four cells: \(row)")
            return Decision(
                name: cells[0], rule: cells[1], file: cells[2].trimmingCharacters(in: ["`"]), settledBy: cells[3])
        }
    }

    /// The files that have marks, by their path from the root.
    private func sources() throws -> [(path: String, text: String)] {
        var found: [(path: String, text: String)] = []
        for folder in ["Sources", "seed-data"] {
            let files = FileManager.default.enumerator(atPath: Self.root.appendingPathComponent(folder).path)
            for case let name as String in files ?? .init() where name.hasSuffix(".swift") || name.hasSuffix(".yaml") {
                let path = "\(folder)/\(name)"
                // Links into seed-data and openapi: the files themselves are read where they are.
                let url = Self.root.appendingPathComponent(path)
                if (try? url.resourceValues(forKeys: [.isSymbolicLinkKey]).isSymbolicLink) == true { continue }
                found.append((path, try String(contentsOf: url, encoding: .utf8)))
            }
        }
        return found
    }

    /// The names that each file marks. The key is the path from the root.
    private func marks() throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for (path, text) in try sources() {
            for match in text.matches(of: /\[(?:[SP], )*D(?: ([^\]]*))?\]/) {
                let names = (match.1 ?? "").split(separator: ", D ").map(String.init)
                if names.isEmpty { Issue.record("\(path) has a [D] without a name") }
                found[path, default: []].formUnion(names)
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

    /// The letters of each mark that cites the vendor, such as `["S", "P"]`. `site/fidelity.py` counts the same marks.
    private func citations() throws -> [Set<Character>] {
        try sources().flatMap { source in
            source.text.matches(of: /\[((?:[SP](?: [a-z0-9]+)?(?:, )?)+)(?:D[^\]]*)?\]/).map { match in
                Set(match.1.split(separator: ", ").compactMap(\.first))
            }
        }
    }

    @Test func theFirstScreenCountsTheMarksAndTheDecisions() throws {
        let screen = try #require(try page().components(separatedBy: "\n## The decisions\n").first)
        #expect(screen.components(separatedBy: "\n").count <= 40, "docs/fidelity.md begins with one screen")
        let words = screen.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let (decisions, citations) = (try decisions(), try citations())
        let open = decisions.filter { !$0.settledBy.hasPrefix("nothing") }
        let missing = try #require(open.first { $0.name == "not-simulated" }).rule.matches(of: #/`/[^`]*`/#).count
        let documents = citations.count { $0.contains("S") }
        let pages = citations.count { $0.contains("P") }
        let sentences: [String] = [
            """
            \(citations.count) places in the code cite the vendor: \(documents) its documents `[S]`, \(pages) its public \
            pages, headers and sample apps `[P]`, \(documents + pages - citations.count) of them both.
            """,
            """
            The table has \(decisions.count) decisions: \(open.count) about the vendor's platform, which something there \
            would settle, and \(decisions.count - open.count) of the simulator's own.
            """,
            "Not simulated: \(missing) routes that are known by name alone",
        ]
        for sentence in sentences {
            #expect(words.contains(sentence), "docs/fidelity.md must say: \(sentence)")
        }
        // The rows that the screen calls unknown exist, and something would settle them.
        let lists = words.matches(of: /\(rows? ([^)]*)\)/).map { String($0.1) }
        let named = lists.flatMap { list in list.matches(of: #/`([^`]+)`/#).map { String($0.1) } }
        #expect(named.count > 10 && Set(named).subtracting(open.map(\.name)) == [])
    }

    @Test func theFirstScreenNamesTestsThatExist() throws {
        let screen = try #require(try page().components(separatedBy: "\n## The decisions\n").first)
        let folder = Self.root.appendingPathComponent("Tests")
        var suites: Set<String> = []
        let files = FileManager.default.enumerator(atPath: folder.path)
        for case let name as String in files ?? .init() where name.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            suites.formUnion(text.matches(of: /struct ([A-Za-z]+Tests)\b/).map { String($0.1) })
        }
        let named = Set(screen.matches(of: #/`([A-Za-z]+Tests)`/#).map { String($0.1) })
        #expect(named.count > 8 && named.subtracting(suites) == [])
    }
}
