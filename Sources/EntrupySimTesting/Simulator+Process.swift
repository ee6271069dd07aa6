#if os(macOS) || os(Linux) || os(Windows)
    import ClientTransport
    import Foundation
    import SimulationAPI

    extension Simulator {
        /// Starts a server for this process, once: every call returns the same one. It listens on a free port of loopback, keeps
        /// its data in memory, and ends with this process.
        ///
        /// With `ENTRUPY_SIM_URL` in the environment, connects to that server instead. `ENTRUPY_SIM_RECORD` names the file that the
        /// started server records to, as `serve --record` does; if it exists, the id of this process is added to its name. No other
        /// setting of servers is taken from the environment.
        ///
        /// - Parameters:
        ///   - binary: the path of the program. The default is `ENTRUPY_SIM_BINARY`, else `entrupy-sim` in `PATH`, else the one
        ///     that this package built beside the tests.
        ///   - arguments: further flags of `entrupy-sim serve`. Those of the first call count.
        /// - Throws: ``SimulatorError`` if there is no program, or it does not start.
        public static func start(binary: String? = nil, arguments: [String] = []) async throws -> Simulator {
            try await SharedSimulator.shared.simulator(binary, arguments)
        }

        /// Starts a server of its own, which ends with ``SimulatorProcess/stop()`` or with this process.
        ///
        /// The parameters are those of ``start(binary:arguments:)``. `ENTRUPY_SIM_URL` and `ENTRUPY_SIM_RECORD` are not used: they
        /// are those of the shared server. `["--record", "run.recording"]` records this one.
        public static func startProcess(binary: String? = nil, arguments: [String] = []) async throws
            -> SimulatorProcess
        {
            try await startProcess(binary: binary, arguments: arguments, records: false)
        }

        /// - Parameter records: whether `ENTRUPY_SIM_RECORD` counts. Two servers cannot record to one file.
        fileprivate static func startProcess(
            binary: String?, arguments: [String], records: Bool
        ) async throws -> SimulatorProcess {
            let process = try await SimulatorProcess(try path(binary), arguments, records: records)
            _ = try await connect(to: process.simulator.url, controlToken: process.simulator.controlToken)
            return process
        }

        /// The program to start.
        static func path(_ binary: String?) throws -> String {
            let environment = ProcessInfo.processInfo.environment
            for (path, origin) in [
                (binary, "the path"), (environment["ENTRUPY_SIM_BINARY"], "ENTRUPY_SIM_BINARY"),
            ] {
                guard let path else { continue }
                guard FileManager.default.isExecutableFile(atPath: path) else {
                    throw SimulatorError("\(origin) \(path) is not a program: give the path of entrupy-sim")
                }
                return path
            }
            let directories = (environment["PATH"] ?? "").split(separator: ":").map(String.init) + [builtDirectory]
            for directory in directories where !directory.isEmpty {
                let path = directory + "/entrupy-sim"
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
            throw SimulatorError(
                "there is no entrupy-sim: install it in PATH, set ENTRUPY_SIM_BINARY to its path, or build it with `make build` in "
                    + "its package")
        }

        /// The directory of this package's products, beside the test bundle.
        private static var builtDirectory: String {
            let arguments = CommandLine.arguments
            let place = arguments.firstIndex(of: "--test-bundle-path").flatMap {
                arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil
            }
            return URL(fileURLWithPath: place ?? arguments.first ?? ".").deletingLastPathComponent().path
        }
    }

    /// The server that all tests of a process share.
    private actor SharedSimulator {
        static let shared = SharedSimulator()

        private var running: Task<Simulator, any Error>?
        private var process: SimulatorProcess?

        func simulator(_ binary: String?, _ arguments: [String]) async throws -> Simulator {
            // A server that has ended is started again.
            if let running, process?.isRunning ?? true { return try await running.value }
            let starting = Task { () -> Simulator in
                if let text = ProcessInfo.processInfo.environment["ENTRUPY_SIM_URL"] {
                    guard let url = URL(string: text), url.host != nil else {
                        throw SimulatorError(
                            "ENTRUPY_SIM_URL must be an http or https URL, it is \(text.debugDescription)")
                    }
                    if ProcessInfo.processInfo.environment["ENTRUPY_SIM_RECORD"]?.isEmpty == false {
                        SimulatedNamespace.printToStandardError(
                            "ENTRUPY_SIM_RECORD has no effect: the server at \(text) runs already, and none is started")
                    }
                    return try await Simulator.connect(to: url)
                }
                let process = try await Simulator.startProcess(binary: binary, arguments: arguments, records: true)
                self.process = process
                return process.simulator
            }
            running = starting
            do {
                return try await starting.value
            } catch {
                // The next call may name another program.
                running = nil
                throw error
            }
        }
    }

    /// A server process that this one started.
    public final class SimulatorProcess: @unchecked Sendable {
        public let simulator: Simulator
        private let process: Process
        /// The server ends when this pipe closes, even if this process crashes.
        private let input: Pipe
        /// The server writes its log here; a server that does not start says why in it.
        private let log: Pipe

        fileprivate init(_ path: String, _ arguments: [String], records: Bool) async throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            let place = arguments.contains("--data-dir") ? [] : ["--in-memory"]
            process.arguments = ["serve", "--port", "0", "--ready-json", "--exit-with-parent"] + place + arguments
            process.environment = Self.environment(ProcessInfo.processInfo.environment, records: records)
            let (input, output, log) = (Pipe(), Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            process.standardError = log
            let errors = LogTail()
            errors.follow(log.fileHandleForReading)
            do {
                try process.startSerially()
            } catch {
                throw SimulatorError("\(path) cannot be started: \(error.localizedDescription)")
            }
            // A program that is not entrupy-sim may never print anything. It gets 60 s.
            let started = Locked(process)
            let isLate = DispatchWorkItem { started.withLock { $0.terminate() } }
            DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: isLate)
            let line = await Self.firstLine(of: output.fileHandleForReading)
            isLate.cancel()
            guard let ready = try? WireJSON.decode(Ready.self, from: line), let url = URL(string: ready.url) else {
                process.terminate()
                process.waitUntilExit()
                throw SimulatorError("\(path) did not start: \(errors.waitForText())")
            }
            simulator = Simulator(url: url, controlToken: ready.control_token)
            self.process = process
            self.input = input
            self.log = log
            // Later output must not fill the pipe.
            let rest = output.fileHandleForReading
            Thread.detachNewThread { while !rest.availableData.isEmpty {} }
        }

        /// The environment of a server. Its settings are for servers started by hand, except how to log, and whether to record the
        /// run.
        static func environment(_ own: [String: String], records: Bool) -> [String: String] {
            var kept = own.filter { !$0.key.hasPrefix("ENTRUPY_SIM_") || $0.key == "ENTRUPY_SIM_LOG_LEVEL" }
            guard records else { return kept }
            if let file = own["ENTRUPY_SIM_RECORD"], !file.isEmpty { kept["ENTRUPY_SIM_RECORD"] = free(file) }
            if let file = own[coverageFile], !file.isEmpty { kept[coverageFile] = file }
            return kept
        }

        /// The variable with the file of the server's coverage. A second process of the run goes on from it.
        private static let coverageFile = "ENTRUPY_SIM_COVERAGE_FILE"

        /// The file of a recording; one with this process's id in its name if the file exists. `swift test` runs the tests of XCTest
        /// and those of Swift Testing in a process each, and no recording is replaced.
        private static func free(_ file: String) -> String {
            guard FileManager.default.fileExists(atPath: file) else { return file }
            let url = URL(fileURLWithPath: file)
            let id = ProcessInfo.processInfo.processIdentifier
            let name = "\(url.deletingPathExtension().lastPathComponent)-\(id)"
            let folder = url.deletingLastPathComponent()
            let other = folder.appendingPathComponent(name).appendingPathExtension(url.pathExtension).path
            SimulatedNamespace.printToStandardError("\(file) exists already; this process records to \(other)")
            return other
        }

        /// The line that `--ready-json` prints.
        private struct Ready: Decodable {
            var url: String
            var control_token: String?
        }

        private static func firstLine(of handle: FileHandle) async -> Data {
            await withCheckedContinuation { continuation in
                // Blocks, so it gets a thread: the shared queues have few, which tests may block as well.
                Thread.detachNewThread {
                    var line = Data()
                    while !line.contains(UInt8(ascii: "\n")) {
                        let part = handle.availableData
                        guard !part.isEmpty else { break }
                        line.append(part)
                    }
                    continuation.resume(returning: line.prefix { $0 != UInt8(ascii: "\n") })
                }
            }
        }

        /// Whether the server runs.
        public var isRunning: Bool { process.isRunning }

        /// Asks the server to stop and waits until it has.
        ///
        /// - Returns: its exit status.
        @discardableResult public func stop() -> Int32 {
            process.terminate()
            process.waitUntilExit()
            return process.terminationStatus
        }

        deinit {
            if process.isRunning { process.terminate() }
        }
    }

    /// The end of a log.
    private final class LogTail: Sendable {
        private let bytes = Locked(Data())
        private let end = DispatchSemaphore(value: 0)

        /// Reads a log to its end, on a thread.
        func follow(_ log: FileHandle) {
            Thread.detachNewThread { [self] in
                while case let part = log.availableData, !part.isEmpty {
                    bytes.withLock { $0 = Data(($0 + part).suffix(4000)) }
                }
                end.signal()
            }
        }

        /// The text of a process that has ended. Waits until all of it is read, at most 5 s of real time. Call it once.
        func waitForText() -> String {
            _ = end.wait(timeout: .now() + 5)
            let text = String(decoding: bytes.withLock { $0 }, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            return text.isEmpty ? "it printed nothing" : text
        }
    }

    extension Process {
        private static let starting = NSLock()

        /// Starts the process. Starts take turns in this process.
        ///
        /// Foundation learns of a process's end from a pair of sockets. A process that another thread starts at the same moment
        /// inherits them, and `waitUntilExit` then waits for both.
        package func startSerially() throws { try Self.starting.withLock { try run() } }
    }
#endif
