import Foundation
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Reading seed data and scenarios takes at most linear time in their length, although a library parses them.
@Suite(.serialized) struct LinearYAMLTests {
    /// Documents of about a given length in bytes, each expensive in a different way.
    private static let documents: [String: @Sendable (Int) -> String] = [
        "a key of marks": { "\"\(Hostile.marks($0))\": 1\n" },
        "a long key of marks": { "? \"\(Hostile.marks($0))\"\n: 1\n" },
        "a key of escaped marks": { "? \"\(String(repeating: "\\u0301\\u0323", count: $0 / 12))\"\n: 1\n" },
        "keys of some marks": { length in
            (0..<length / 200).map { "\"\(Hostile.marks(150))\($0)\": 1\n" }.joined()
        },
        "a value of marks": { "name: \"\(Hostile.marks($0))\"\n" },
        "two long keys": { length in
            let key = String(repeating: "k", count: length / 4)
            return "? \(key)\n: 1\n" + String(repeating: "\n", count: length / 2) + "? \(key)\n: 2\n"
        },
        "a long key over many values": { length in
            "? \(String(repeating: "k", count: length / 2))\n: [\(String(repeating: "0,", count: length / 4))0]\n"
        },
        "unknown settings of dots": { "settings:\n  ? \(String(repeating: "a.", count: $0 / 2))\n  : 1\n" },
        "open brackets": { String(repeating: "[", count: $0) },
        "nesting": { length in
            String(repeating: "[", count: 500) + String(repeating: "0,", count: length / 2)
                + String(repeating: "]", count: 500)
        },
        "digits": { "a: \(String(repeating: "1", count: $0))\n" },
        "commas": { "a: [\(String(repeating: "1,", count: $0 / 2))1]\n" },
        "keys": { length in (0..<length / 8).map { "k\($0): 1\n" }.joined() },
        "comments": { String(repeating: "# a\n", count: $0 / 4) + "a: 1\n" },
        "directives": { length in
            (0..<length / 16).map { "%TAG !\($0)! tag:x\n" }.joined() + "---\na: 1\n"
        },
        "documents": { String(repeating: "---\na: 1\n", count: $0 / 9) },
        "lines": { String(repeating: "\n", count: $0) },
        "a block of text": { "a: |\n" + String(repeating: "  b\n", count: $0 / 4) },
        "colons": { "a: \(String(repeating: ":a", count: $0 / 2))\n" },
        "keys that are keys": { String(repeating: "? ", count: $0 / 2) + "a" },
        "keys that are lists": { length in
            String(repeating: "[", count: 400) + String(repeating: "a", count: length)
                + String(repeating: "]: 1", count: 1) + String(repeating: "]: 1", count: 399)
        },
        "anchors": { length in (0..<length / 12).map { "- &a\($0) 1\n" }.joined() },
        "aliases": { length in "- &a [1, 2]\n" + String(repeating: "- *a\n", count: length / 5) },
        "aliases of aliases": { length in
            let list = String(repeating: "*a,", count: length / 9)
            return "a: &a [1,1]\nb: &b [\(list)*a]\nc: [\(list.replacing(each: "a", with: "b"))*b]\n"
        },
        "categories that brands do not have": { length in
            "categories:\n" + (0..<length / 40).map { "  - {id: c\($0)}\n" }.joined() + "brands:\n"
                + (0..<length / 40).map { "  - {id: b\($0), categories: {x\($0): {}}}\n" }.joined()
        },
        "unknown members of many parts": { length in
            let part = "  - {" + (0..<length / 200).map { "k\($0): 1" }.joined(separator: ", ") + "}\n"
            return "name: x\ndescription: y\ntimeline:\n" + String(repeating: part, count: 20)
        },
        "objects without members": { "workflows:\n" + String(repeating: "- {}\n", count: $0 / 5) },
        "organizations": { length in
            "organizations:\n" + (0..<length / 40).map { "  - {name: Org\($0), api_tokens: [token-\($0)]}\n" }.joined()
        },
        "aliases of organizations": { length in
            let list = String(repeating: "*u,", count: length / 9)
            return
                "organizations:\n- &o {name: A, api_tokens: [], users: [&u {unique_user_id: user-0001}, \(list) *u]}\n"
                + String(repeating: "- *o\n", count: length / 10)
        },
    ]

    @Test(arguments: documents.keys.sorted()) func seedsAndScenarios(kind: String) throws {
        let seed = try Seed.standard()
        let document = try #require(Self.documents[kind])
        Growth.isLinear("\(kind) as a seed", from: 5000, document) { _ = try seed.readPart(yaml: $0) }
        Growth.isLinear("\(kind) as a scenario", from: 5000, document) {
            _ = try ScenarioDocument($0, file: "x", settings: .object([:]), .simulated) { _ in seed }
        }
    }

    /// Small documents that cannot be compared in reasonable time: keys of a mapping are compared whole, with their
    /// aliases expanded.
    @Test(arguments: ["? *z : 1", "? [*z]\n: 1", "{[*z]: 1}", "{? [*z] : 1}", "*z : 1", "- {*z : 1}", "{{a: *z}: 1}"])
    func aliasesAsKeysAreRefused(key: String) throws {
        let names = "abcdefghijklmnopqrstuvwxyz".map(String.init)
        var text = "- &a [1, 2]\n"
        for (name, next) in zip(names, names.dropFirst()) { text += "- &\(next) [*\(name), *\(name)]\n" }
        #expect(throws: SeedError.self) { try SourceDocument(yaml: text + "- \(key)\n", file: "x") }
        // Without aliases, such a key is an ordinary error.
        let error = #expect(throws: SeedError.self) {
            try SourceDocument(yaml: "? [a]\n: 1\n", file: "x").members()
        }
        #expect(error?.problem == "expected keys that are strings")
    }

    @Test(arguments: ["a: {1: x, \"1\": y}\n", "a: {!!int 1: x, 1: y}\n"])
    func aKeyInTwoFormsAppearsTwice(yaml: String) throws {
        let error = #expect(throws: SeedError.self) { try SourceDocument(yaml: yaml, file: "x").members() }
        #expect(error?.line == 1 && error?.problem == "the key \"1\" appears twice")
    }

    @Test func ordinaryTextIsAccepted() throws {
        let text = """
            name: &n why-not
            description: |
              Is it? Yes, see [this]: it is 5 * 3 & more.
              100% of it, and *emphasis* too.
            outcomes: [{match: {customer_item_id: "late-*", brand: *n}, result: unknown}]
            """
        #expect(try SourceDocument(yaml: text, file: "x").members().count == 3)
    }

    @Test func aliasesThatMultiplyAreRefusedAndALongListIsNot() throws {
        let bomb = "a: &a [\(String(repeating: "1,", count: 1000))1]\nb: [\(String(repeating: "*a,", count: 1000))*a]\n"
        let error = #expect(throws: SeedError.self) { try SourceDocument(yaml: bomb, file: "x") }
        #expect(error?.problem.contains("values") == true)
        // Each list is within the parser's depth, and the next one is as deep below it.
        let deep = "a: &a \(String(repeating: "[", count: 600))1\(String(repeating: "]", count: 600))\n"
        let chain = deep + "b: \(String(repeating: "[", count: 600))*a\(String(repeating: "]", count: 600))\n"
        #expect(throws: Never.self) { try SourceDocument(yaml: deep, file: "x") }
        let tooDeep = #expect(throws: SeedError.self) { try SourceDocument(yaml: chain, file: "x") }
        #expect(tooDeep?.problem.contains("levels") == true)
        let long = "a: [\(String(repeating: "1,", count: 110_000))1]\n"
        #expect(throws: Never.self) { try SourceDocument(yaml: long, file: "x") }
    }

    @Test func aNumberThatIsTooLargeIsNamed() throws {
        for number in ["1e999", String(repeating: "1", count: 500)] {
            let error = #expect(throws: SeedError.self) {
                try SourceDocument(yaml: "a:\n  b: \(number)\n", file: "x").json()
            }
            #expect(error?.path == "a.b" && error?.line == 2)
        }
    }

    @Test func problemsAreFoundAtTheirLine() throws {
        let text = "name: x\ntimeline:\n  - at: 1h\n    odd.name: 1\n  - {at: 2h}\n"
        let lines = try SourceDocument(yaml: text, file: "x").lines()
        #expect(lines["timeline[0].at"] == 3)
        #expect(lines["timeline[0].odd.name"] == 4)
        #expect(lines["timeline[1].missing"] == 5)
        #expect(lines["timeline[7].at"] == 3)
        #expect(lines["nothing"] == 1)
    }
}
