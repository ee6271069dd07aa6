import Foundation
import Testing

@testable import Platform

@Suite struct FidelityTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func theDocumentIsTheList() throws {
        let document = try String(contentsOf: root.appendingPathComponent("docs/fidelity.md"), encoding: .utf8)
        #expect(document == Fidelity.markdown, "the document is out of date: run `make docs`")
    }

    @Test func everyDecisionLivesWhereTheListSays() {
        for decision in Fidelity.decisions {
            let path = root.appendingPathComponent(decision.place).path
            #expect(FileManager.default.fileExists(atPath: path), "\(decision.id): \(decision.place)")
        }
    }

    @Test func noTwoDecisionsShareAName() {
        #expect(Set(Fidelity.decisions.map(\.id)).count == Fidelity.decisions.count)
    }
}
