import Foundation
import TestSupport

/// A run of the binary, or of another program, that a test follows: its standard input, output and error are pipes.
final class RunningProgram: @unchecked Sendable {
    struct Finished {
        let status: Int32
        let output: Data
        /// Standard error.
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    let process = Process()
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())

    /// Programs ignore what their parent ignores, and a shell lets what it runs in the background ignore SIGINT.
    private static let endsByInterrupt: Void = { _ = signal(SIGINT, SIG_DFL) }()

    init(_ arguments: [String], program: String = SimProcess.path) throws {
        Self.endsByInterrupt
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("ENTRUPY_SIM_") }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.startSerially()
    }

    /// The next line of standard output. Blocks.
    func line() -> String { Self.line(of: output) }

    /// The next line of standard error. Blocks.
    func errorLine() -> String { Self.line(of: errors) }

    private static func line(of pipe: Pipe) -> String {
        var line = Data()
        while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8), !byte.isEmpty {
            line += byte
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Writes to standard input, closes it, and waits for the end.
    func finish(_ bytes: Data = Data()) async -> Finished {
        try? input.fileHandleForWriting.write(contentsOf: bytes)
        try? input.fileHandleForWriting.close()
        async let errors = Self.rest(of: errors)
        async let output = Self.rest(of: output)
        let (text, data) = await (errors, output)
        return Finished(status: await end(), output: data, errors: String(decoding: text, as: UTF8.self))
    }

    /// Waits for the end.
    ///
    /// - Returns: the exit code, or the number of the signal that ended it.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [process] in
                // `Process` notices the end when a socket closes, which processes that run on have too.
                var status: Int32 = 0
                var ended: pid_t
                repeat { ended = waitpid(process.processIdentifier, &status, 0) } while ended < 0 && errno == EINTR
                guard ended > 0 else {
                    process.waitUntilExit()
                    return continuation.resume(returning: process.terminationStatus)
                }
                continuation.resume(returning: status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f)
            }
        }
    }

    private static func rest(of pipe: Pipe) async -> Data {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: pipe.fileHandleForReading.readDataToEndOfFile())
            }
        }
    }
}
