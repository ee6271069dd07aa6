import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Platform
import ServiceLifecycle

/// A body as it was sent, and what it says.
struct ReceivedBytes: Sendable {
    var sent = ByteBuffer()
    /// What was sent, decoded; or why it cannot be.
    var content = Result<ByteBuffer, PlatformError>.success(ByteBuffer())
    /// Whether the content is not what was sent.
    var isDecoded = false
}

/// Reads the whole body of a request, bounded in size and in real time.
struct BodyReader {
    /// How long a body may take after its head [D].
    let timeout: Duration

    /// How long a body may go on arriving once the server is to stop.
    private static let stopPatience = Duration.seconds(1)

    /// The whole body; or what was wrong, to be answered at its place in the order.
    ///
    /// - Parameter limit: how long the content may be, however it is encoded.
    func read(_ request: Request, upTo limit: Int) async -> Result<ReceivedBytes, PlatformError> {
        if let problem = JobTicket.current?.missingBody { return .failure(problem) }
        let headers = HeaderReader(request.headers)
        guard headers.announcesBody else { return .success(ReceivedBytes()) }
        let body = request.body
        let coding = headers.contentCoding
        let longest = coding == .gzip ? GzipDecoder.longest(of: limit) : limit
        let received = await receive(request, upTo: longest, within: timeout) {
            try await Self.collect(body, upTo: longest)
        } length: {
            $0.readableBytes
        }
        switch received {
        case .failure(.bodyTooLarge): return .failure(.bodyTooLarge(limit: limit))
        case .failure(let error): return .failure(error)
        case .success(let sent): return Self.decoded(sent, coding, upTo: limit, headers)
        }
    }

    private static func decoded(
        _ sent: ByteBuffer, _ coding: ContentCoding?, upTo limit: Int, _ headers: HeaderReader
    ) -> Result<ReceivedBytes, PlatformError> {
        guard let coding else {
            return .success(ReceivedBytes(sent: sent, content: .failure(headers.contentCodingProblem)))
        }
        // No body is no gzip either, whatever a client says of all its bodies.
        guard coding == .gzip, sent.readableBytes > 0 else {
            return .success(ReceivedBytes(sent: sent, content: .success(sent)))
        }
        do {
            let content = try GzipDecoder.decode(sent, upTo: limit)
            return .success(ReceivedBytes(sent: sent, content: .success(content), isDecoded: true))
        } catch {
            let problem = problem(error, upTo: limit)
            guard case .bodyTooLarge = problem else {
                return .success(ReceivedBytes(sent: sent, content: .failure(problem)))
            }
            JobTicket.current?.markUnrepeatable()
            return .failure(problem)
        }
    }

    /// What is wrong with a body that cannot be decoded.
    private static func problem(_ error: any Error, upTo limit: Int) -> PlatformError {
        switch error {
        case GzipDecoder.Problem.tooLarge: .bodyTooLarge(limit: limit)
        case GzipDecoder.Problem.damaged(let text): .invalid([.init("body", text)])
        default: .unavailable("the body cannot be decoded: \(error)")
        }
    }

    /// Writes the whole body to a file that is not there yet, decoded; answers how many bytes, or what was wrong.
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
        let headers = HeaderReader(request.headers)
        let coding = headers.contentCoding
        if coding == nil, JobTicket.current?.missingBody == nil { return .failure(headers.contentCodingProblem) }
        let received = await receive(request, upTo: limit, within: timeout) {
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
        guard coding == .gzip, case .success = received else { return received }
        do {
            return .success(try await threads.runIfActive { try GzipDecoder.decode(file: path, upTo: limit) })
        } catch {
            return .failure(Self.problem(error, upTo: limit))
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
