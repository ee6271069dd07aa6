import Foundation
import SimulationAPI

/// A server that this program starts for itself: in memory, on a free port of the loopback address.
///
/// The server is a child process whose standard input is a pipe of this program. The pipe closes at the end of this program, even by
/// `kill -9`, and with it the server stops.
struct OwnServer {
    let url: String
    private let process: ChildProcess
    /// The end of the pipe that this program holds.
    private let input: Int32

    private static let patience = Duration.seconds(5)

    /// - Parameter recording: the file to record to, which must not exist; `nil` for none.
    /// - Throws: ``Refusal`` if the server does not start.
    static func start(recording: String?) async throws -> OwnServer {
        guard let input = ChildProcess.pipe(), let output = ChildProcess.pipe() else {
            throw Refusal(.internalError, "no pipe can be made: \(String(cString: strerror(errno)))")
        }
        defer {
            close(input.read)
            close(output.read)
        }
        let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let words =
            [program, "serve", "--in-memory", "--port", "0", "--ready-json", "--exit-with-parent", "--keep-audits"]
            + (recording.map { ["--record=\($0)"] } ?? [])
        // Settings of a server that was started by hand are not for this one, except how to log.
        let environment = ChildProcess.ownEnvironment([:]) {
            !$0.hasPrefix("ENTRUPY_SIM_") || $0.hasPrefix("ENTRUPY_SIM_LOG_")
        }
        let process: ChildProcess
        do {
            process = try ChildProcess(
                words.map(\.utf8CString), environment: environment,
                files: [(input.read, STDIN_FILENO), (output.write, STDOUT_FILENO)])
        } catch {
            throw Refusal(.internalError, "\(program) cannot be started: \(String(cString: strerror(error.number)))")
        }
        close(output.write)
        let line = await firstLine(of: output.read)
        // A server that does not start prints no line.
        guard let url = (try? WireJSON.decode(JSONValue.self, from: line))?.members?["url"]?.text else {
            await process.end(within: patience)
            throw Refusal(.no, "the server for the command did not start", next: "it says why above")
        }
        return OwnServer(url: url, process: process, input: input.write)
    }

    var hasEnded: Bool { process.hasEnded }

    /// The environment of a command for one of the server's namespaces.
    ///
    /// - Parameter changes: further variables; `nil` removes one.
    func environment(
        _ namespace: String, _ token: String?, _ changes: [String: String?] = [:]
    ) -> [ChildProcess.RawText] {
        let own: [String: String?] = [
            "ENTRUPY_SIM_URL": "\(url)/ns/\(namespace)", "ENTRUPY_SIM_SERVER": url,
            "ENTRUPY_SIM_NAMESPACE": namespace, "ENTRUPY_SIM_API_TOKEN": token, "ENTRUPY_SIM_TOKEN": token,
            // Those of another server.
            "ENTRUPY_SIM_CONTROL_TOKEN": nil, "ENTRUPY_SIM_TLS_URL": nil, "ENTRUPY_SIM_TLS_AUTHORITY": nil,
        ]
        return ChildProcess.ownEnvironment(own.merging(changes) { own, _ in own })
    }

    /// Stops the server and waits until it has.
    func stop() async {
        close(input)
        await process.end(within: Self.patience)
    }

    /// Reads on a thread of its own, because it blocks.
    private static func firstLine(of descriptor: Int32) async -> Data {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var line = Data()
                var byte: UInt8 = 0
                while true {
                    let count = read(descriptor, &byte, 1)
                    if count < 0, errno == EINTR { continue }
                    guard count == 1, byte != UInt8(ascii: "\n") else { break }
                    line.append(byte)
                }
                continuation.resume(returning: line)
            }
        }
    }
}
