import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Platform
import ServiceLifecycle

/// Reads the whole body of a request, bounded in size and in real time.
struct BodyReader {
    /// How long a body may take after its head [D].
    let timeout: Duration

    /// How long a body may go on arriving once the server is to stop.
    private static let stopPatience = Duration.seconds(1)

    /// The whole body; or what was wrong, to be answered at its place in the order.
    func read(_ request: Request, upTo limit: Int) async -> Result<ByteBuffer, PlatformError> {
        let headers = HeaderReader(request.headers)
        guard headers.announcesBody else { return .success(ByteBuffer()) }
        if let length = headers.contentLength, length > limit { return .failure(.bodyTooLarge(limit: limit)) }

        let body = request.body
        let reading = Task { try await Self.collect(body, upTo: limit) }
        let hasTimedOut = NIOLockedValueBox(false)
        let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(timeout)) {
            hasTimedOut.withLockedValue { $0 = true }
            reading.cancel()
        }
        defer { timer.cancel() }
        let isStopping = NIOLockedValueBox(false)
        let result = await withGracefulShutdownHandler {
            await reading.result
        } onGracefulShutdown: {
            // What is on its way may still arrive; what is stalled must not hold up the stop.
            MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(Self.stopPatience)) {
                isStopping.withLockedValue { $0 = true }
                reading.cancel()
            }
        }
        if hasTimedOut.withLockedValue({ $0 }) {
            return .failure(.bodyTimedOut(seconds: Int(timeout.components.seconds)))
        }
        if isStopping.withLockedValue({ $0 }) { return .failure(.unavailable("the server is stopping")) }
        switch result {
        case .failure:
            return .failure(.invalid([.init("body", "the connection broke before the body was whole")]))
        case .success(nil):
            return .failure(.bodyTooLarge(limit: limit))
        case .success(let buffer?):
            if let length = headers.contentLength, length != buffer.readableBytes {
                return .failure(.invalid([.init("body", "ended after \(buffer.readableBytes) of \(length) bytes")]))
            }
            return .success(buffer)
        }
    }

    /// Collects a body; nil where it is larger than `limit`, whose rest is then left for the connection to skip.
    private static func collect(_ body: RequestBody, upTo limit: Int) async throws -> ByteBuffer? {
        var whole = ByteBuffer()
        for try await var part in body {
            guard whole.readableBytes + part.readableBytes <= limit else { return nil }
            whole.writeBuffer(&part)
        }
        return whole
    }
}
