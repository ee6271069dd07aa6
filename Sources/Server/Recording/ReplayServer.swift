import AsyncHTTPClient
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Simulation
import SimulationAPI

/// Runs the requests of a recording again on a new server, and compares the answers [D recording].
package enum ReplayServer {
    /// The maximum time of one request of a replay. A request that waits for others takes as long as they do.
    private static let idleTimeout = TimeAmount.hours(1)

    /// Replays a recording. Cancelling the task ends the replay early.
    ///
    /// - Parameters:
    ///   - log: makes the handler of the replay's errors.
    ///   - began: called with the number of requests, just before the first one.
    /// - Returns: the report of the replay, with the first answer that differs.
    /// - Throws: ``ReplayRefusal`` if the file cannot be replayed, or the error that keeps a server from starting.
    package static func run(
        _ path: String, version: String,
        log: @escaping @Sendable (String) -> any LogHandler = { StreamLogHandler.standardError(label: $0) },
        began: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> ReplayReport {
        let replay: Replay
        do {
            replay = try await Replay(path: path)
        } catch is CancellationError {
            var report = ReplayReport()
            report.incomplete = "the replay was interrupted while the recording was read"
            return report
        } catch {
            throw ReplayRefusal(description: "\(error)")
        }
        let server = try server(of: replay, path, version, log)
        // A separate task, so that the server can finish its work when this one is cancelled.
        let work = Task {
            let report = NIOLockedValueBox(ReplayReport())
            try await server.run(replaying: replay) { port, namespaces in
                let client = client()
                began(replay.requests)
                let result = await replay.run(namespaces) { request, index in
                    let comparison = AnswerComparison(request)
                    return RepeatedRequest(
                        differences: comparison.differences(await ask(request, index, port, client)),
                        comparesBody: comparison.comparesBody)
                }
                // All its requests are over.
                try? await client.shutdown()
                report.withLockedValue { $0 = result }
            }
            return report.withLockedValue { $0 }
        }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            replay.stop()
        }
    }

    private static func server(
        of replay: Replay, _ path: String, _ version: String, _ log: @escaping (String) -> any LogHandler
    ) throws -> SimServer {
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
            throw ReplayRefusal(description: "\(path):1: \(error)")
        }
    }

    private static func client() -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // A request may wait for any number of other requests.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 5000
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }

    private static func ask(
        _ recorded: RecordedRequest, _ index: Int, _ port: Int, _ client: HTTPClient
    ) async -> ReplayedAnswer {
        // The server takes the target and the host from the recording.
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/")
        request.method = .init(rawValue: recorded.method)
        for header in recorded.headers where !RecordedRequest.connectionHeaders.contains(header[0].lowercased()) {
            request.headers.add(name: header[0], value: header[1])
        }
        request.headers.replaceOrAdd(name: Replay.header, value: "\(index)")
        if let body = recorded.body { request.body = .bytes(ByteBuffer(bytes: body.data)) }
        do {
            let response = try await client.execute(request, timeout: idleTimeout)
            let length = response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
            let isStream = response.headers.first(name: "content-type")?.hasPrefix("text/event-stream") == true
            // A stream has no end, and archives are not compared.
            let body =
                isStream || length > 100_000_000 ? ByteBuffer() : try await response.body.collect(upTo: 100_000_000)
            return ReplayedAnswer(
                status: Int(response.status.code), headers: response.headers.map { [$0.name, $0.value] },
                body: Data(body.readableBytesView))
        } catch {
            return ReplayedAnswer(status: 0, headers: [], body: Data(), failure: "\(error)")
        }
    }
}

/// The reason why a file cannot be replayed.
package struct ReplayRefusal: Error, CustomStringConvertible {
    package let description: String
}
