import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceLifecycle
import Simulation

/// A body as it was sent, and its decoded content.
struct ReceivedBytes: Sendable {
    var sent = ByteBuffer()
    /// The decoded body, or the reason why it cannot be decoded.
    var content = Result<ByteBuffer, PlatformError>.success(ByteBuffer())
    /// Whether the content differs from the bytes that were sent.
    var isDecoded = false
}

/// Reads the whole body of a request, within a limit of size and of real time [D content-encoding].
struct BodyReader {
    /// The maximum time between a request's head and the end of its body [D body-timeout].
    let timeout: Duration
    /// Its threads decode bodies.
    let environment: Simulation.Environment

    /// The time that a body may still take to arrive once the server starts to stop.
    private static let closeGrace = Duration.seconds(1)

    /// Reads the whole body. An error is returned, so that it is answered at its place in the order of checks.
    ///
    /// - Parameters:
    ///   - limit: the maximum size of the decoded content, in bytes.
    ///   - received: receives the body for the journal and the recording; `nil` if they do not need it.
    func read(
        _ request: Request, upTo limit: Int, into received: ReceivedBody?
    ) async -> Result<ReceivedBytes, PlatformError> {
        if let problem = received?.problem { return .failure(problem) }
        let result = await whole(request, upTo: limit)
        switch result {
        case .success(let body): received?.set(body)
        case .failure: received?.markIncomplete()
        }
        return result
    }

    private func whole(_ request: Request, upTo limit: Int) async -> Result<ReceivedBytes, PlatformError> {
        let headers = HeaderReader(request.headers)
        guard headers.announcesBody else { return .success(ReceivedBytes()) }
        let body = request.body
        let coding = headers.contentCoding
        let longest = coding == .gzip ? GzipDecoder.maxEncodedBytes(for: limit) : limit
        let received = await receive(request, upTo: longest, within: timeout) {
            try await Self.collect(body, upTo: longest)
        } length: {
            $0.readableBytes
        }
        switch received {
        case .failure(let error) where error.kind == .bodyTooLarge: return .failure(.bodyTooLarge(limit: limit))
        case .failure(let error): return .failure(error)
        case .success(let sent): return await decoded(sent, coding, upTo: limit, headers)
        }
    }

    private func decoded(
        _ sent: ByteBuffer, _ coding: ContentCoding?, upTo limit: Int, _ headers: HeaderReader
    ) async -> Result<ReceivedBytes, PlatformError> {
        guard let coding else {
            return .success(ReceivedBytes(sent: sent, content: .failure(headers.contentCodingProblem)))
        }
        // An empty body is not gzip, even if the client's headers say so.
        guard coding == .gzip, sent.readableBytes > 0 else {
            return .success(ReceivedBytes(sent: sent, content: .success(sent)))
        }
        do {
            let content = try await environment.offload { try GzipDecoder.decode(sent, upTo: limit) }
            return .success(ReceivedBytes(sent: sent, content: .success(content), isDecoded: true))
        } catch {
            let problem = Self.problem(error, upTo: limit)
            return problem.kind == .bodyTooLarge
                ? .failure(problem) : .success(ReceivedBytes(sent: sent, content: .failure(problem)))
        }
    }

    static func problem(_ error: any Error, upTo limit: Int) -> PlatformError {
        switch error {
        case GzipDecoder.Problem.tooLarge: .bodyTooLarge(limit: limit)
        case GzipDecoder.Problem.damaged(let text): .invalid([.init("body", text)])
        case let error as PlatformError: error
        default: .unavailable("the body cannot be decoded: \(error)")
        }
    }

    /// Writes the whole body, as it was sent, to a new file.
    ///
    /// - Parameters:
    ///   - limit: the maximum size of the body, and of its decoded content, in bytes.
    ///   - timeout: the maximum time for the whole body, in real time.
    /// - Returns: a function that opens the body for reading, or the error. It decodes gzip only as far as it is read, and blocks.
    func save(
        _ request: Request, to path: String, upTo limit: Int, within timeout: Duration, into received: ReceivedBody?
    ) async -> Result<@Sendable () throws -> any ByteSource, PlatformError> {
        let (body, threads) = (request.body, environment.threads)
        // A body that is too large for memory is too large for a recording.
        received?.markIncomplete()
        if let problem = received?.problem { return .failure(problem) }
        let headers = HeaderReader(request.headers)
        let coding = headers.contentCoding
        if coding == nil { return .failure(headers.contentCodingProblem) }
        let written = await receive(request, upTo: limit, within: timeout) {
            let file: FileHandle
            do {
                file = try await threads.runIfActive { try PrivateFile.create(at: path) }
            } catch {
                throw PlatformError.unavailable("\(error)")
            }
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
        return written.map { _ in
            {
                guard let file = FileHandle(forReadingAtPath: path) else {
                    throw PlatformError.unavailable("\(path) cannot be read")
                }
                return try coding == .gzip ? GzipFile(file, upTo: limit) : file
            }
        }
    }

    /// Reads a body within a limit of time.
    ///
    /// - Parameters:
    ///   - collect: collects the body. Returns `nil` if it is larger than `limit`.
    ///   - length: the size of the collected body, in bytes.
    private func receive<Whole: Sendable>(
        _ request: Request, upTo limit: Int, within timeout: Duration,
        _ collect: @escaping @Sendable () async throws -> Whole?, length: (Whole) -> Int
    ) async -> Result<Whole, PlatformError> {
        let headers = HeaderReader(request.headers)
        if let length = headers.contentLength, length > limit { return .failure(.bodyTooLarge(limit: limit)) }

        let hasTimedOut = NIOLockedValueBox(false)
        let isStopping = NIOLockedValueBox(false)
        let read = NIOLockedValueBox<Result<Whole?, any Error>?>(nil)
        // The task starts immediately. Most bodies arrive together with their heads: then it ends at once and needs
        // no deadline.
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
                // A body in transit may still arrive. A stalled one must not delay the shutdown.
                MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(Self.closeGrace)) {
                    isStopping.withLockedValue { $0 = true }
                    reading.cancel()
                }
            }
        }
        if hasTimedOut.withLockedValue({ $0 }) {
            return .failure(.bodyTimedOut(seconds: Int(timeout.components.seconds)))
        }
        if isStopping.withLockedValue({ $0 }) { return .failure(.unavailable("the server is stopping")) }
        switch result {
        case .failure(let error as PlatformError):
            return .failure(error)
        case .failure:
            return .failure(.invalid([.init("body", "the connection closed before the body was complete")]))
        case .success(nil): return .failure(.bodyTooLarge(limit: limit))
        case .success(let whole?):
            if let announced = headers.contentLength, announced != length(whole) {
                return .failure(.invalid([.init("body", "ended after \(length(whole)) of \(announced) bytes")]))
            }
            return .success(whole)
        }
    }

    /// Collects a body. Returns `nil` if it is larger than `limit`; the connection then skips the rest.
    private static func collect(_ body: RequestBody, upTo limit: Int) async throws -> ByteBuffer? {
        var whole = ByteBuffer()
        for try await var part in body {
            guard whole.readableBytes + part.readableBytes <= limit else { return nil }
            whole.writeBuffer(&part)
        }
        return whole
    }
}
