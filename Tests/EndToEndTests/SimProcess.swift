import Foundation
import Synchronization

/// The real binary, started for tests and ended with them.
final class SimProcess: Sendable {
    let baseURL: String
    private let process: Mutex<Process>
    /// Held open: the server stops when it closes, also when the tests die.
    private let input: Pipe
    /// What it prints: standard output and standard error.
    private let output: Pipe
    /// What it printed until it was open.
    let greeting: String

    /// One server that most tests share, each in a namespace of its own.
    static let shared: SimProcess = {
        do {
            return try SimProcess(["--in-memory"])
        } catch {
            fatalError("the server does not start: \(error)")
        }
    }()

    struct NotStarted: Error {
        let output: String
        let status: Int32
    }

    /// Starts `entrupy-sim serve`, on a free port unless told otherwise.
    ///
    /// - Parameter command: a program and its arguments that runs what is appended to them; empty: none.
    init(_ arguments: [String], within command: [String] = []) throws {
        let process = Process()
        let port = arguments.contains("--port") ? [] : ["--port", "0"]
        let whole = command + [Self.path, "serve", "--exit-with-parent"] + port + arguments
        process.executableURL = URL(fileURLWithPath: whole[0])
        process.arguments = Array(whole.dropFirst())
        input = Pipe()
        output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        var text = ""
        while !text.contains("Ctrl-C"), !text.contains("\"pid\":") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else {
                process.waitUntilExit()
                throw NotStarted(output: text, status: process.terminationStatus)
            }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let url = text.firstMatch(of: /http:\/\/[0-9.]+:[0-9]+/) else {
            throw NotStarted(output: text, status: -1)
        }
        baseURL = String(url.0)
        greeting = text
        self.process = Mutex(process)
    }

    /// Waits for something to be printed.
    func printed() -> String {
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    }

    /// The server's process.
    var processID: Int32 { process.withLock { $0.processIdentifier } }

    /// Asks it to stop and waits for that; answers the exit status.
    @discardableResult func stop() -> Int32 {
        process.withLock { process in
            process.terminate()
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    /// Kills it with no chance to tidy up.
    func kill() {
        process.withLock { process in
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// Runs the binary to its end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], program: String = SimProcess.path
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Where the binary is.
    static let path = binary.path

    /// The binary beside the test bundle.
    private static var binary: URL {
        let arguments = CommandLine.arguments
        let bundle = arguments.firstIndex(of: "--test-bundle-path").map { arguments[$0 + 1] } ?? arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("entrupy-sim")
    }
}

extension Process {
    /// A directory of a test's own, removed when `body` is done.
    static func withDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("entrupy-sim-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }
}
