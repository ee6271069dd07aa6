import Foundation
import SimulationAPI
import TestSupport
import Testing

// Test worlds of a server that is another process, asked over HTTP.

typealias TestWorld = TestSupport.TestWorld
typealias Answer = TestWorld.Answer
typealias Contract = TestSupport.Contract

extension TestWorld {
    /// Makes a namespace in a server, by default the shared one.
    static func make(
        in server: SimProcess = .shared, seed: JSONValue = "standard", randomSeed: Int = 7, settings: JSONValue? = nil
    ) async throws -> TestWorld {
        try await TestWorld(base: server.baseURL).made(seed: seed, randomSeed: randomSeed, settings: settings)
    }

    /// Runs a command of the program in this namespace.
    func run(_ words: String...) async throws -> (status: Int32, output: String) { try await run(words) }

    func run(_ words: [String]) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(words + ["--url", base])
    }

    /// The output of a command that succeeds.
    func output(_ words: String...) async throws -> String {
        let run = try await run(words)
        #expect(run.status == 0, "\(words): \(run.output)")
        return run.output
    }

    /// The output of a command that succeeds, as JSON.
    func json(_ words: String...) async throws -> JSONValue {
        let run = try await run(words + ["--json"])
        try #require(run.status == 0, "\(words): \(run.output)")
        return try WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))
    }
}

/// A folder for the files of one test.
struct TestFolder: Sendable {
    let path = NSTemporaryDirectory() + "sim-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() {
        // The test is over; a folder that stays does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file; answers its path.
    @discardableResult func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }

    func text(of name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }
}
