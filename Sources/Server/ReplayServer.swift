import AsyncHTTPClient
import EntrupyAPI
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Platform

/// Makes a recording again in a server of its own, and compares the answers.
package enum ReplayServer {
    /// The longest a request of a replay may take.
    private static let patience = TimeAmount.minutes(10)

    /// - Returns: what came of it, with the first answer that differs.
    /// - Throws: `RecordingError` where the file is no recording; whatever keeps a server from starting.
    package static func run(_ path: String, version: String, logger: Logger) async throws -> ReplayReport {
        let replay = try Replay(path: path)
        var configuration = ServerConfiguration(version: version, namespaces: try replay.configuration())
        configuration.port = 0
        configuration.publicURL = replay.head.public_url
        configuration.allowedHosts = replay.head.allowed_hosts
        configuration.controlToken = replay.head.control_token
        configuration.replay = replay
        let server = try SimServer(configuration, logger: logger)
        let report = NIOLockedValueBox<ReplayReport?>(nil)
        try await server.run(replaying: replay) { port, namespaces in
            let client = client()
            let result = await replay.run(namespaces) { request, index in
                await ask(request, index, port, client)
            }
            try? await client.shutdown()
            report.withLockedValue { $0 = result }
        }
        return report.withLockedValue { $0 } ?? ReplayReport()
    }

    private static func client() -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // A request may wait for any number of others.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 5000
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }

    private static func ask(
        _ recorded: RecordedRequest, _ index: Int, _ port: Int, _ client: HTTPClient
    ) async -> ReplayedAnswer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(recorded.target)")
        request.method = .init(rawValue: recorded.method)
        for header in recorded.headers where header.count == 2 {
            request.headers.add(name: header[0], value: header[1])
        }
        if let host = recorded.host { request.headers.replaceOrAdd(name: "Host", value: host) }
        request.headers.replaceOrAdd(name: Replay.header, value: "\(index)")
        if let body = recorded.body { request.body = .bytes(ByteBuffer(bytes: body.data)) }
        do {
            let response = try await client.execute(request, timeout: patience)
            let length = response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
            let isStream = response.headers.first(name: "content-type")?.hasPrefix("text/event-stream") == true
            // A stream has no end, and an archive is not compared.
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
