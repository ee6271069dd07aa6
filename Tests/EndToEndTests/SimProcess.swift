import EntrupySimTesting
import Foundation
import TestSupport
import Testing

/// A process of the real binary that ends with the tests.
final class SimProcess: Sendable {
    let baseURL: String
    private let process: Mutex<Process>
    /// The server stops when this pipe closes, even if the tests crash.
    private let input: Pipe
    /// Standard output and standard error of the process.
    private let output: Pipe
    /// The output until the server accepted connections.
    let greeting: String

    /// The server that most tests share. Each uses its own namespace.
    static let shared: SimProcess = {
        do {
            return SimProcess(try Started(command(["--in-memory"])))
        } catch {
            fatalError("the server does not start: \(error)")
        }
    }()

    struct NotStarted: Error {
        let output: String
        let status: Int32
    }

    /// Starts `entrupy-sim serve`, by default on a free port, and waits on a thread of its own: tests share few.
    ///
    /// - Parameters:
    ///   - command: a program and arguments that run the command appended to them. Empty for none.
    ///   - replaying: a recording that `entrupy-sim replay --serve` goes on from, instead of `serve`.
    ///   - environment: more variables.
    convenience init(
        _ arguments: [String], within command: [String] = [], replaying recording: String? = nil,
        environment: [String: String] = [:]
    ) async throws {
        let whole = command + Self.command(arguments, replaying: recording)
        self.init(
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try Started(whole, environment: environment) })
                }
            })
    }

    private init(_ started: Started) {
        (baseURL, greeting) = (started.baseURL, started.greeting)
        (process, input, output) = (started.process, started.input, started.output)
    }

    private static func command(_ arguments: [String], replaying recording: String? = nil) -> [String] {
        let port = arguments.contains("--port") ? [] : ["--port", "0"]
        let start = recording.map { ["replay", $0, "--serve"] } ?? ["serve"]
        return [path] + start + ["--exit-with-parent"] + port + arguments
    }

    /// A server that accepts connections.
    private struct Started: Sendable {
        let baseURL: String
        let greeting: String
        let process: Mutex<Process>
        let input = Pipe()
        let output = Pipe()

        init(_ command: [String], environment: [String: String] = [:]) throws {
            let process = Process()
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.executableURL = URL(fileURLWithPath: command[0])
            process.arguments = Array(command.dropFirst())
            process.standardInput = input
            process.standardOutput = output
            process.standardError = output
            try process.startSerially()
            var text = ""
            while !text.contains("Ctrl-C"), !text.contains("\"pid\":") {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else {
                    process.waitUntilExit()
                    throw NotStarted(output: text, status: process.terminationStatus)
                }
                text += String(decoding: data, as: UTF8.self)
            }
            guard let url = text.firstMatch(of: /http:\/\/(?:[0-9.]+|\[[0-9a-f:]+\]):[0-9]+/) else {
                throw NotStarted(output: text, status: -1)
            }
            baseURL = String(url.0)
            greeting = text
            self.process = Mutex(process)
        }
    }

    /// Waits until the process prints something, and returns it.
    func printed() -> String {
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    }

    var processID: Int32 { process.withLock { $0.processIdentifier } }

    /// The CPU time of all threads, in seconds.
    func processorTime() throws -> Double {
        let tasks = "/proc/\(processID)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
            // The thread may have ended in the meantime.
            let text = (try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)) ?? "0"
            return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
        }
    }

    /// Asks the server to stop, waits until it has, and returns its exit status.
    @discardableResult func stop() -> Int32 {
        process.withLock { process in
            process.terminate()
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    /// Kills the server, which cannot clean up.
    func kill() {
        process.withLock { process in
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// Runs the binary and waits until it exits, on a thread of its own: tests share few, and a server that the command asks may
    /// need one of them. A program that takes over 15 minutes is killed.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], program: String = SimProcess.path
    ) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try runBlocking(arguments, environment: environment, program: program) })
            }
        }
    }

    /// The same on the thread of the caller, for conditions of tests.
    static func runBlocking(
        _ arguments: [String], environment: [String: String] = [:], program: String = SimProcess.path
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.startSerially()
        let id = process.processIdentifier
        let limit = DispatchSource.makeTimerSource()
        limit.schedule(deadline: .now() + 900)
        limit.setEventHandler { Foundation.kill(id, SIGKILL) }
        limit.resume()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        limit.cancel()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// The path of the binary.
    static let path = binary.path

    /// Whether the binary was built with HTTPS=1. Tests that need it are run then alone.
    static let hasHTTPS = (try? runBlocking(["--version"]).output.contains("without HTTPS")) == false
    static let needsHTTPS: Comment = "HTTPS=1 make test runs these"
    /// The options of a server that has an HTTPS port if the binary can.
    static let securePort = hasHTTPS ? ["--tls-port", "0"] : []

    /// Whether the tests are of another binary than their own build, such as a release build.
    static var isNamed: Bool { named != nil }

    private static var named: String? {
        ProcessInfo.processInfo.environment["ENTRUPY_SIM_PROGRAM"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The binary that `ENTRUPY_SIM_PROGRAM` names, else the one beside the test bundle.
    private static var binary: URL {
        if let named { return URL(fileURLWithPath: named) }
        let arguments = CommandLine.arguments
        let bundle = arguments.firstIndex(of: "--test-bundle-path").map { arguments[$0 + 1] } ?? arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("entrupy-sim")
    }
}

extension Process {
    /// Runs `body` with the path of a temporary directory, and removes that directory afterwards.
    static func withDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("entrupy-sim-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }
}
