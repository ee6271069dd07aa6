import Foundation
import Server
import Testing

/// Each effect of faults has its schema in the description, from which the console's form and the clients' constants and types are made.
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
}
