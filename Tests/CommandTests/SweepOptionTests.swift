import Exploration
import Foundation
import Testing

@testable import entrupy_sim

/// Options of `entrupy-sim sweep`, and files of `--kept`, that are refused.
@Suite struct SweepOptionTests {
    @Test(arguments: [
        [], ["--"], ["--jobs", "0", "--", "true"], ["--for", "soon", "--", "true"], ["--faults", "", "--", "true"],
        ["--faults", "lose_anser", "--", "true"], ["--faults", "future:member", "--", "true"],
        ["--kept", "/etc", "--pairs", "--", "true"], ["--kept", "/etc", "--faults", "503", "--", "true"],
        ["--before", "a", "--after", "b", "--", "true"], ["--kept", "x", "--before", "a"],
        ["--before", "a", "--after", "b"], ["--kept", "x", "--before", "a", "--after", ""],
    ])
    func wrongOptionsAreRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { _ = try SweepCommand.parse(arguments) }
    }

    @Test func aMisspeltFaultIsAnsweredWithTheNearest() throws {
        let error = #expect(throws: (any Error).self) {
            _ = try SweepCommand.parse(["--faults", "future:member", "--", "true"])
        }
        let message = SweepCommand.message(for: try #require(error))
        #expect(message.contains("did you mean future:members?"), "\(message)")
        #expect(try SweepCommand.parse(["--faults", "503, twice", "--", "true"]).chosenFaults().count == 2)
    }

    /// Else a part that a person added would be left out silently.
    @Test(arguments: [
        ("items: [{result: unknown}]", "has \"items: [{result: unknown}]\""), ("faults: []", "one fault rule, the two"),
        ("settings: {\"quota\":1}", "one switch of the future"),
        ("faults: [{effect: {status: 503}}]", "as JSON in one line"), ("", "one fault rule, the two"),
        // In another state the bug may not show, and the gate would pass.
        ("# scenario: a b.yaml", "found in the scenario a b.yaml, and without it the bug may not show"),
    ])
    func aKeptFileWithOtherPartsIsRefused(line: String, words: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("# call: a\nname: x\n\(line)\n".utf8).write(to: folder.appendingPathComponent("x.yaml"))
        let refusal = #expect(throws: Refusal.self) {
            _ = try KeptFolder(path: folder.path).cells(hasScenario: false)
        }
        #expect(refusal?.code == .usage && refusal?.message.contains(words) == true, "\(String(describing: refusal))")
        if line.hasPrefix("# scenario") { #expect(refusal?.next == "add --scenario 'a b.yaml'") }
    }
}
