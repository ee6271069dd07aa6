import Foundation
import Testing

/// The list of `make test-mutations`. A rename of what it names fails here at once, not in the next long check.
@Suite struct MutationListTests {
    private struct Mutation: Decodable {
        let id: String
        let rule: String
        let file: String
        let near: String?
        let find: String
        let replace: String
        let test: String
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// The number of lines below `near` in which the text is found. `mutations.py` has the same.
    private static let nearLines = 20

    private static func mutations() throws -> [Mutation] {
        let list = root.appendingPathComponent("Tests/Mutations/mutations.json")
        return try JSONDecoder().decode([Mutation].self, from: Data(contentsOf: list))
    }

    private static func count(_ wanted: String, in text: some StringProtocol) -> Int {
        text.components(separatedBy: wanted).count - 1
    }

    /// The part of a file in which the text of a change must be found once.
    private func place(of mutation: Mutation, in text: String) -> Substring? {
        guard let near = mutation.near else { return text[...] }
        guard Self.count(near, in: text) == 1, let start = text.range(of: near)?.lowerBound else { return nil }
        let lines = text[start...].split(separator: "\n", omittingEmptySubsequences: false).prefix(Self.nearLines)
        return text[start..<(lines.last?.endIndex ?? start)]
    }

    @Test func theTextOfEveryChangeIsFoundOnce() throws {
        let mutations = try Self.mutations()
        #expect(mutations.count >= 60 && Set(mutations.map(\.id)).count == mutations.count)
        for mutation in mutations {
            let text = try String(contentsOf: Self.root.appendingPathComponent(mutation.file), encoding: .utf8)
            let place = place(of: mutation, in: text)
            #expect(
                place.map { Self.count(mutation.find, in: $0) } == 1,
                "\(mutation.id): \(mutation.near.map { "near \($0) " } ?? "")find \(mutation.find) in \(mutation.file)")
            #expect(mutation.find != mutation.replace && !mutation.rule.isEmpty, "\(mutation.id)")
        }
    }

    /// The tests of a module, as `Module.Suite/function`.
    private static func tests(of module: String) throws -> Set<String> {
        var found: Set<String> = []
        let folder = root.appendingPathComponent("Tests/\(module)").path
        for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init()
        where name.hasSuffix(".swift") {
            let parts = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                .components(separatedBy: "@Test")
            var suite: Substring?
            for (before, text) in zip(parts, parts.dropFirst()) {
                // A suite is the last type that begins at the left edge.
                let types = before.matches(
                    of: #/^(?:@Suite.*? )?(?:struct|class|extension) (\w+)/#.anchorsMatchLineEndings())
                suite = types.last?.1 ?? suite
                guard let suite, let function = text.firstMatch(of: #/\bfunc (\w+)\(/#)?.1 else { continue }
                found.insert("\(module).\(suite)/\(function)")
            }
        }
        return found
    }

    @Test func theTestOfEveryChangeExists() throws {
        let mutations = try Self.mutations()
        let modules = Set(mutations.compactMap { $0.test.split(separator: ".").first.map(String.init) })
        let tests = try modules.reduce(into: Set<String>()) { try $0.formUnion(Self.tests(of: $1)) }
        #expect(tests.count > 300)
        for mutation in mutations { #expect(tests.contains(mutation.test), "\(mutation.id): \(mutation.test)") }
    }
}
