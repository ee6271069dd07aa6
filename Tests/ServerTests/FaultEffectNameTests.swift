import Foundation
import Server
import Testing

/// Each effect of faults has its schema in the description, from which the console's form is made, and its constant in the clients
/// that have some.
@Suite struct FaultEffectNameTests {
    private static let names = Set(
        [SimulatedEffects.ofRequests, SimulatedEffects.ofWebhooks].flatMap { $0.components(separatedBy: ", ") })

    /// A part of a file of the repository.
    private static func text(_ path: String, from start: String = "", to end: String = "\u{0}") throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        let begin = try #require(text.range(of: start))
        return text[begin.upperBound...].components(separatedBy: end)[0]
    }

    @Test func theDescriptionHasEachEffect() throws {
        let rule = try Self.text(
            "openapi/entrupy-sim.yaml", from: "      required: [effect]\n", to: "        probability:")
        #expect(Self.names == Set(rule.matches(of: #/required: \[(\w+)\]/#).map { String($0.1) }))
    }

    @Test func theClientOfSwiftHasEachEffect() throws {
        let text = try Self.text("Sources/EntrupySimTesting/FaultEffect.swift", from: "struct FaultEffect")
        let constants = text.matches(of: #/(?:Self\("|members: JSONObject = \[")(\w+)"/#)
        #expect(Self.names == Set(constants.map { String($0.1) }))
    }

    @Test func theTypesOfNodeHaveEachEffect() throws {
        let text = try Self.text("recipes/node/index.d.ts", from: "export type FaultEffect =", to: ";\n\n")
        #expect(Self.names == Set(text.matches(of: #/(?:\n  |true \} )\| \{ (\w+):/#).map { String($0.1) }))
    }
}
