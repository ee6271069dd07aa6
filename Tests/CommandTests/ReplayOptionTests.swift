import Testing

@testable import entrupy_sim

/// Options of `entrupy-sim replay` that do not belong together.
@Suite struct ReplayOptionTests {
    @Test(arguments: [
        (["--serve", "--bundle", "out"], "--serve and --bundle exclude each other"),
        (["--until", "x"], "--until needs --bundle"), (["-n", "a"], "--namespace needs"),
        (["--port", "0"], "--port is an option of --serve"),
        (["--bundle", "out", "--ready-json"], "--ready-json is an option of --serve"),
        (["--serve", "--json"], "--serve prints no report"),
        (["--serve", "--port", "70000"], "--port must be 0 to 65535"),
    ])
    func theyAreRefused(options: [String], words: String) throws {
        let error = #expect(throws: (any Error).self) { _ = try ReplayCommand.parse(["run.recording"] + options) }
        let message = ReplayCommand.message(for: try #require(error))
        #expect(message.contains(words), "\(message)")
    }
}
