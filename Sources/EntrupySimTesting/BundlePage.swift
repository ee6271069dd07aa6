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
            try await ProgramRun(program, ["report", file.path, "--output", page.path], in: folder).end(within: seconds)
            guard let html = FileManager.default.contents(atPath: page.path) else {
                throw SimulatorError("\(program) report wrote no page: give the path of entrupy-sim \(Self.version)")
            }
            return html
        #else
            return nil
        #endif
    }
}

#if os(macOS) || os(Linux) || os(Windows)
    /// A run of the program that ends by itself.
    private final class ProgramRun: @unchecked Sendable {
        private let process = Process()
        /// The file for what the program prints.
        private let log: URL
        private let lock = NSLock()
        private var isLate = false

        init(_ program: String, _ arguments: [String], in folder: URL) {
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.environment = SimulatorProcess.environment(ProcessInfo.processInfo.environment, records: false)
            log = folder.appendingPathComponent("log")
        }

        /// Starts the program and waits until it has ended.
        ///
        /// - Throws: ``SimulatorError`` if it does not start, fails, or does not end in time.
        func end(within seconds: Double) async throws {
            try Data().write(to: log)
            let handle = try FileHandle(forWritingTo: log)
            defer { try? handle.close() }
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = handle
            process.standardError = handle
            let path = process.executableURL?.path ?? ""
            let timeout = DispatchWorkItem { [self] in kill() }
            let status: Int32 = try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                do {
                    try process.startSerially()
                    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: timeout)
                } catch {
                    process.terminationHandler = nil
                    continuation.resume(
                        throwing: SimulatorError("\(path) cannot be started: \(error.localizedDescription)"))
                }
            }
            timeout.cancel()
            guard !lock.withLock({ isLate }) else {
                throw SimulatorError("\(path) report did not end within \(DurationText.text(seconds: seconds))")
            }
            guard status == 0 else {
                // Without its words the status says that it failed.
                let text = (try? FileHandle(forReadingFrom: log).read(upToCount: 4000)) ?? Data()
                let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first ?? "it printed nothing"
                throw SimulatorError("\(path) report ended with \(status): \(line)")
            }
        }

        private func kill() {
            lock.withLock { isLate = true }
            #if os(Windows)
                process.terminate()
            #else
                // The program may ignore SIGTERM.
                _ = Foundation.kill(process.processIdentifier, SIGKILL)
            #endif
        }
    }
#endif
