import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import Outgoing
import Simulation
import SimulationAPI

/// Runs the requests of a recording again on a new server, and compares the answers [D recording].
package enum ReplayServer {
    /// The maximum time of one request of a replay. A request that waits for others takes as long as they do.
    private static let idleTimeout = TimeAmount.hours(1)
    /// The largest body that is compared.
    private static let maxBytes = 100_000_000

    /// Replays a recording. Cancelling the task ends the replay early.
    ///
    /// - Returns: the report of the replay, with the first answer that differs.
    /// - Throws: ``ReplayRefusal`` if the file cannot be replayed, or the error that keeps a server from starting.
    package static func run(_ plan: ReplayPlan) async throws -> ReplayReport {
        guard let recording = try await plan.read() else { return plan.interrupted }
        let replay = Replay(recording)
        return try await play(replay, on: try plan.server(of: replay), plan)
    }

    /// Replays on `server`.
    ///
    /// - Parameters:
    ///   - answered: called after each answer with the index of its request.
    ///   - ended: called with the report while the namespaces are still open. Returns whether they are closed then.
    static func play(
        _ replay: Replay, on server: SimServer, _ plan: ReplayPlan,
        answered: @escaping @Sendable (RecordedRequest, _ index: Int, Namespaces) -> Void = { _, _, _ in },
        ended: @escaping @Sendable (ReplayReport, Namespaces) async -> Bool = { _, _ in true }
    ) async throws -> ReplayReport {
        // A separate task, so that the server can finish its work when this one is cancelled.
        let work = Task {
            let report = NIOLockedValueBox(ReplayReport())
            try await server.runReplay { port, namespaces in
                let answers = NIOLockedValueBox(0)
                plan.progress(0, replay.requests)
                let result = await replay.run(namespaces) { request, index in
                    let comparison = AnswerComparison(request)
                    let differences = comparison.differences(await ask(request, index, port))
                    answered(request, index, namespaces)
                    answers.withLockedValue {
                        // One that was held when the server was killed has no answer.
                        guard request.status > 0 else { return }
                        $0 += 1
                        plan.progress($0, replay.requests)
                    }
                    return (differences, comparison.comparesBody)
                }
                report.withLockedValue { $0 = result }
                return await ended(result, namespaces)
            }
            return report.withLockedValue { $0 }
        }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            replay.stop()
        }
    }

    private static func ask(_ recorded: RecordedRequest, _ index: Int, _ port: Int) async -> ReplayedAnswer {
        do {
            // The server takes the target and the host from the recording.
            var request = try OutgoingRequest(HTTPMethod(rawValue: recorded.method), "http://127.0.0.1:\(port)/")
            for header in recorded.headers where !RecordedRequest.connectionHeaders.contains(header[0].lowercased()) {
                request.headers.add(name: header[0], value: header[1])
            }
            request.headers.replaceOrAdd(name: Replay.header, value: "\(index)")
            if let body = recorded.body { request.body = .bytes(ByteBuffer(bytes: body.data)) }
            return try await OutgoingClient().exchange(request, deadline: .now() + idleTimeout) { answer in
                let length = answer.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
                let isStream = answer.headers.first(name: "content-type")?.hasPrefix("text/event-stream") == true
                // A stream has no end, and archives are not compared.
                let body =
                    isStream || length > maxBytes ? ByteBuffer() : try await answer.body.collect(upTo: maxBytes)
                return ReplayedAnswer(
                    status: answer.status, headers: answer.headers.map { [$0.name, $0.value] },
                    body: Data(body.readableBytesView))
            }
        } catch {
            return ReplayedAnswer(status: 0, headers: [], body: Data(), failure: "\(error)")
        }
    }
}

/// A recording and the way it is replayed.
package struct ReplayPlan: Sendable {
    let path: String
    /// The program's version, which bundles and `/_sim/info` name.
    let version: String
    /// Makes the handler of the replay's errors.
    let log: @Sendable (String) -> any LogHandler
    /// Called with the number of replayed requests and of all, at the start and after each one.
    let progress: @Sendable (Int, Int) -> Void

    package init(
        path: String, version: String,
        log: @escaping @Sendable (String) -> any LogHandler = { StreamLogHandler.standardError(label: $0) },
        progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) {
        self.path = path
        self.version = version
        self.log = log
        self.progress = progress
    }

    var interrupted: ReplayReport {
        var report = ReplayReport()
        report.incomplete = "the replay was interrupted while the recording was read"
        return report
    }

    /// Reads the recording; `nil` if the task was cancelled.
    ///
    /// - Throws: ``ReplayRefusal`` if the file cannot be replayed.
    func read() async throws -> Recording? {
        do {
            return try await Recording.read(path)
        } catch is CancellationError {
            return nil
        } catch {
            throw ReplayRefusal(.wrongFile, "\(error)")
        }
    }

    /// The server that the requests are replayed on.
    ///
    /// - Throws: ``ReplayRefusal`` if the recording's first line is wrong.
    func server(of replay: Replay) throws -> SimServer {
        var logger = Logger(label: "replay", factory: log)
        logger.logLevel = .error
        do {
            var configuration = ServerConfiguration(version: version, namespaces: try replay.configuration(.simulated))
            configuration.port = 0
            configuration.publicURL = replay.head.public_url
            configuration.allowedHosts = replay.head.allowed_hosts
            configuration.controlToken = replay.head.control_token
            configuration.replay = replay
            return try SimServer(configuration, logger: logger)
        } catch let error where StartProblem.isWrongInput(error) {
            throw ReplayRefusal(.wrongFile, "\(path):1: \(error)")
        }
    }
}

/// The reason why a recording is not replayed as asked.
package struct ReplayRefusal: Error, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The file cannot be replayed.
        case wrongFile
        /// The recording lacks the request or the namespace.
        case notFound
        /// The request comes after the first gap of the recording.
        case afterGap
    }

    package let kind: Kind
    package let description: String
    /// The way out; `nil` if the description says it.
    package let next: String?

    init(_ kind: Kind, _ description: String, next: String? = nil) {
        self.kind = kind
        self.description = description
        self.next = next
    }
}
