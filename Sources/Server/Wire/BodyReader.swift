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
        if let problem = JobTicket.current?.missingBody { return .failure(problem) }
        guard HeaderReader(request.headers).announcesBody else { return .success(ByteBuffer()) }
        let body = request.body
        return await receive(request, upTo: limit, within: timeout) {
            try await Self.collect(body, upTo: limit)
        } length: {
            $0.readableBytes
        }
    }

    /// Writes the whole body to a file that is not there yet; answers how many bytes, or what was wrong.
    ///
    /// - Parameters:
    ///   - timeout: how long it may take in all.
    ///   - threads: where the file is written.
    func save(
        _ request: Request, to path: String, upTo limit: Int, within timeout: Duration, on threads: NIOThreadPool
    ) async -> Result<Int, PlatformError> {
        let body = request.body
        // What is too large for memory is too large for a recording.
        JobTicket.current?.markUnrepeatable()
        return await receive(request, upTo: limit, within: timeout) {
            let file: FileHandle
            do { file = try PrivateFile.create(at: path) } catch { throw PlatformError.unavailable("\(error)") }
            defer { try? file.close() }
            var count = 0
            for try await part in body {
                count += part.readableBytes
                guard count <= limit else { return nil }
                do {
                    try await threads.runIfActive { try file.write(contentsOf: part.readableBytesView) }
                } catch {
                    throw PlatformError.unwritable(path, error)
                }
            }
            return count
        } length: {
            $0
        }
    }

    /// Reads a body, bounded in time.
    ///
    /// - Parameters:
    ///   - collect: what becomes of it; nil where it is larger than `limit`.
    ///   - length: how many bytes that was.
    private func receive<Whole: Sendable>(
        _ request: Request, upTo limit: Int, within timeout: Duration,
        _ collect: @escaping @Sendable () async throws -> Whole?, length: (Whole) -> Int
    ) async -> Result<Whole, PlatformError> {
        let headers = HeaderReader(request.headers)
        if let problem = JobTicket.current?.missingBody { return .failure(problem) }
        if let length = headers.contentLength, length > limit {
            JobTicket.current?.markUnrepeatable()
            return .failure(.bodyTooLarge(limit: limit))
        }

        let hasTimedOut = NIOLockedValueBox(false)
        let isStopping = NIOLockedValueBox(false)
        let read = NIOLockedValueBox<Result<Whole?, any Error>?>(nil)
        // It begins here and now. Most bodies came with their heads: then it is done at once, and nothing has to watch it.
        let reading = Task.immediate {
            let result: Result<Whole?, any Error>
            do { result = .success(try await collect()) } catch { result = .failure(error) }
            read.withLockedValue { $0 = result }
            return result
        }
        let result: Result<Whole?, any Error>
        if let done = read.withLockedValue({ $0 }) {
            result = done
        } else {
            let deadline = Deadlines.shared.begin(in: TimeAmount(timeout)) {
                hasTimedOut.withLockedValue { $0 = true }
                reading.cancel()
            }
            defer { Deadlines.shared.end(deadline) }
            result = await withGracefulShutdownHandler {
                await reading.value
            } onGracefulShutdown: {
                // What is on its way may still arrive; what is stalled must not hold up the stop.
                MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(Self.stopPatience)) {
                    isStopping.withLockedValue { $0 = true }
                    reading.cancel()
                }
            }
        }
        if case .failure = result { JobTicket.current?.markUnrepeatable() }
        if hasTimedOut.withLockedValue({ $0 }) {
            return .failure(.bodyTimedOut(seconds: Int(timeout.components.seconds)))
        }
        if isStopping.withLockedValue({ $0 }) { return .failure(.unavailable("the server is stopping")) }
        switch result {
        case .failure(let error as PlatformError):
            return .failure(error)
        case .failure:
            return .failure(.invalid([.init("body", "the connection broke before the body was whole")]))
        case .success(nil):
            JobTicket.current?.markUnrepeatable()
            return .failure(.bodyTooLarge(limit: limit))
        case .success(let whole?):
            if let announced = headers.contentLength, announced != length(whole) {
                JobTicket.current?.markUnrepeatable()
                return .failure(.invalid([.init("body", "ended after \(length(whole)) of \(announced) bytes")]))
            }
            return .success(whole)
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
