import AppComponents
import Foundation
import Simulation
import Testing

@testable import Server

/// The table of errors.
@Suite struct ErrorTableTests {
    /// The names of the kinds that the sources declare: one without a row would get a 500 unnoticed.
    private static let names = Result {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        return try [
            "Simulation/Jobs/PlatformError.swift", "Entrupy/EntrupyErrors.swift", "AppComponents/WorkflowFailure.swift",
            "Server/Errors/RequestErrors.swift",
        ].flatMap { file in
            let text = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
            let declared = text.matches(of: /static let \w+ = Self\("(\w+)"\)/).map { String($0.1) }
            try #require(declared.count >= 3, "\(file)")
            return declared
        }
    }

    @Test func everyKindHasARow() throws {
        for name in try Self.names.get() { #expect(ErrorTable.knows(PlatformError.Kind(name)), "\(name)") }
    }

    @Test func noTwoKindsShareAName() throws {
        let names = try Self.names.get()
        #expect(Set(names).count == names.count && names.count > 30)
    }
}
