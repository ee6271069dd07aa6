import AppComponents
import Foundation
import Simulation
import Testing

@testable import Server

/// The table of errors.
@Suite struct ErrorTableTests {
    private static let lists = [
        ("Simulation/Jobs/PlatformError.swift", PlatformError.Kind.ofEngine),
        ("Entrupy/EntrupyErrors.swift", PlatformError.Kind.ofEntrupy),
        ("AppComponents/WorkflowFailure.swift", PlatformError.Kind.ofComponents),
        ("Server/Errors/RequestErrors.swift", PlatformError.Kind.ofRequests),
    ]

    @Test(arguments: lists.flatMap(\.1))
    func everyKindHasARow(kind: PlatformError.Kind) {
        #expect(ErrorTable.knows(kind), "\(kind.name)")
    }

    @Test func noTwoKindsShareAName() {
        let names = Self.lists.flatMap(\.1).map(\.name)
        #expect(Set(names).count == names.count)
    }

    /// A kind that is in no list would get a 500 unnoticed.
    @Test func everyDeclaredKindIsListed() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        for (file, list) in Self.lists {
            let text = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
            let declared = text.matches(of: /static let \w+ = Self\("(\w+)"\)/).map { String($0.1) }
            #expect(Set(declared) == Set(list.map(\.name)), "\(file)")
        }
    }
}
