import Testing

@testable import entrupy_sim

/// Options of `entrupy-sim serve`.
@Suite struct ServeOptionTests {
    @Test(arguments: [
        ["--port", "70000"], ["--port", "x"], ["--in-memory", "--data-dir", "x"], ["--random-seed", "-1"],
        ["--rate-limits", "fast"], ["--public-url", "sim.test"], ["--log-level", "loud"], ["--durability", "none"],
        ["--no-such-flag"],
    ])
    func aWrongOptionIsRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { _ = try Serve.parse(arguments) }
        #expect(throws: Never.self) { _ = try Serve.parse(["--port", "0", "--in-memory"]) }
    }
}
