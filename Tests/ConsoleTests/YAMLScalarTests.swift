import Foundation
import SimulationAPI
import TestSupport
import Testing
import Yams

@testable import Console

/// The YAML that the console makes is read back as it was meant.
@Suite struct YAMLScalarTests {
    private static let texts = HostileTexts.all + ["a\0b", "\u{7f}", "\\u0041", "a\u{85}\u{2028}b"]

    private func step(path: String, method: String) -> String {
        Snippets(
            JournaledRequest(
                id: "req_1", sequence: 1, at: 0, method: method, path: path, query: nil, status: 201, duration_ms: 1,
                username: nil, test: nil, decided_by: DecidedRequest(fault: nil, limits: [], outcome: nil),
                changes: nil,
                request: nil, response: nil), url: nil
        ).scenarioStep
    }

    @Test func anExpectationHoldsAnyMethodAndPath() throws {
        for text in Self.texts {
            let yaml = step(path: text, method: text)
            #expect(yaml.split(separator: "\n", omittingEmptySubsequences: false).count == 2, "\(yaml)")
            let root = try #require(try Yams.compose(yaml: yaml), "\(yaml)")
            let expectation = try #require(root.mapping?["expect"]?.sequence?.first?.mapping)
            #expect(root.mapping?.count == 1 && root.mapping?["expect"]?.sequence?.count == 1 && expectation.count == 4)
            // The library drops a byte order mark at the beginning of a value, however it is written.
            let read = text.unicodeScalars.first == "\u{feff}" ? String(text.unicodeScalars.dropFirst()) : text
            for name in ["route", "method"] {
                let value = try #require(expectation[Node(name)])
                #expect(value.tag == Tag(.str), "\(yaml)")
                #expect(Array(value.string?.utf8 ?? "".utf8) == Array(read.utf8), "\(yaml)")
            }
            #expect(expectation["status"]?.int == 201 && expectation["times"]?.int == 1)
        }
    }

    @Test(.enabled(if: ForeignProgram.pythonYAML.works(with: "a: 1"), "needs python3 with yaml"))
    func pythonReadsTheSame() throws {
        let yaml =
            "texts:\n" + Self.texts.map { "  - \(YAMLScalar.quoted($0))\n" }.joined()
            + "keys:\n" + Set(Self.texts).map { "  \(YAMLScalar.quoted($0)): \(YAMLScalar.quoted($0))\n" }.joined()
        let read = try JSONDecoder().decode(JSONValue.self, from: ForeignProgram.pythonYAML.read(yaml))
        guard case .object(let members) = read, case .array(let texts)? = members["texts"],
            case .object(let keys)? = members["keys"]
        else { throw YAMLNotRead() }
        #expect(texts.count == Self.texts.count)
        for (text, value) in zip(Self.texts, texts) { #expect(value == .string(text), "\(text.debugDescription)") }
        for text in Self.texts { #expect(keys[text] == .string(text), "\(text.debugDescription)") }
    }

    private struct YAMLNotRead: Error {}
}
