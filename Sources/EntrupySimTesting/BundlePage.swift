import ClientTransport
import Foundation
import SimulationAPI

extension Simulator {
    /// Makes the page of a bundle, with secrets masked, as `entrupy-sim report` does. Starts a process.
    ///
    /// - Parameters:
    ///   - name: the name that the page shows.
    ///   - seconds: the longest time that the program gets. It is killed then.
    /// - Returns: `nil` if this system starts no processes.
    /// - Throws: ``SimulatorError`` if there is no program, or it makes no page.
    func page(of bundle: Data, named name: String, within seconds: Double = 60) async throws -> Data? {
        #if os(macOS) || os(Linux) || os(Windows)
            let program = try self.program ?? Self.path(nil)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "entrupy-sim-page-\(UUID().uuidString)")
            // A bundle contains tokens.
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            // A folder that remains is in the temporary directory, and only its owner can read it.
            defer { try? FileManager.default.removeItem(at: folder) }
            let (file, page) = (
                folder.appendingPathComponent("\(name).tar"), folder.appendingPathComponent("\(name).html")
            )
            try bundle.write(to: file)
            try await Self.run(program, ["report", file.path, "--output", page.path], in: folder, within: seconds)
            guard let html = FileManager.default.contents(atPath: page.path) else {
                throw SimulatorError("\(program) report wrote no page: give the path of entrupy-sim \(Self.version)")
            }
            return html
        #else
            return nil
        #endif
    }

    #if os(macOS) || os(Linux) || os(Windows)
        /// Runs the program until it ends. What it prints goes to a file of the folder.
        ///
        /// - Throws: ``SimulatorError`` if it does not start, fails, or does not end in time.
        private static func run(
            _ program: String, _ arguments: [String], in folder: URL, within seconds: Double
        ) async throws {
            let process = Process()
            let url = URL(fileURLWithPath: program)
            process.executableURL = url
            process.arguments = arguments
            process.environment = SimulatorProcess.environment(ProcessInfo.processInfo.environment, records: false)
            let log = folder.appendingPathComponent("log")
            try Data().write(to: log)
            let handle = try FileHandle(forWritingTo: log)
            defer { try? handle.close() }
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = handle
            process.standardError = handle
            let running = Locked((process: process, isLate: false))
            let timeout = DispatchWorkItem {
                running.withLock {
                    $0.isLate = true
                    #if os(Windows)
                        $0.process.terminate()
                    #else
                        // The program may ignore SIGTERM.
                        _ = kill($0.process.processIdentifier, SIGKILL)
                    #endif
                }
            }
            let status: Int32 = try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                do {
                    try process.startSerially()
                    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: timeout)
                } catch {
                    process.terminationHandler = nil
                    continuation.resume(
                        throwing: SimulatorError("\(url.path) cannot be started: \(error.localizedDescription)"))
                }
            }
            timeout.cancel()
            guard !running.withLock({ $0.isLate }) else {
                throw SimulatorError("\(url.path) report did not end within \(DurationText.text(seconds: seconds))")
            }
            guard status != 0 else { return }
            // Without its words the status says that it failed.
            let text = (try? FileHandle(forReadingFrom: log).read(upToCount: 4000)) ?? Data()
            let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first ?? "it printed nothing"
            throw SimulatorError("\(url.path) report ended with \(status): \(line)")
        }
    #endif
}
