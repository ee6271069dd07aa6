import Foundation
import SimulationAPI

/// The transport over standard input and output: a message is a line. See the protocol's page on transports.
///
/// Messages are answered as they are ready, several at a time, and each answer is written whole. It ends at the end of the input, once
/// the answers are written, or when nobody reads the output any more.
struct StandardStreams {
    let server: ContextServer

    func run() async {
        _ = SignalWatch.ignore(SIGPIPE)
        let output = OutputLines()
        let calls = RunningCalls()
        let input = InputLines.read(STDIN_FILENO, maxBytes: ContextServer.maxBytes)
        for await line in input.lines {
            if output.isClosed { break }
            await take(line, calls, output)
            input.taken()
        }
        await calls.finish()
    }

    /// - Parameter line: `nil` for one that is longer than the maximum.
    private func take(_ line: Data?, _ calls: RunningCalls, _ output: OutputLines) async {
        let message: ContextMessage
        if let line {
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) { return }
            message = ContextMessage(line, of: "a line")
        } else {
            let most = SizeText.text(ContextServer.maxBytes)
            let error = ContextError(.invalidRequest, "a message has at most \(most); this one was left out")
            message = .invalid(id: .null, error)
        }
        switch message {
        case .invalid(let id, let error): output.write(ContextReply(id: id, result: .failure(error)))
        case .notification("notifications/cancelled", let params):
            if let id = params["requestId"] { await calls.cancel(id) }
        case .notification: break
        case .request(let request):
            await calls.start(request.id, bytes: line?.count ?? 0) {
                let reply = await server.answer(request)
                // The client does not want the answer of a request that it cancelled.
                if !Task.isCancelled { output.write(reply) }
            }
        }
    }
}

/// The requests that run, and those that wait for one to end, in the order of their arrival.
private actor RunningCalls {
    /// The maximum number of requests that run at the same time.
    private static let maxRunning = 16
    /// The maximum size of the requests that wait, in bytes, and their maximum number. The input waits for more.
    private static let maxWaitingBytes = 8_000_000
    private static let maxWaiting = 1000

    private var running: [(number: Int, id: JSONValue, task: Task<Void, Never>)] = []
    private var waiting: [(id: JSONValue, bytes: Int, body: @Sendable () async -> Void)] = []
    private var waitingBytes = 0
    private var number = 0

    /// Runs a request as soon as fewer than the maximum run. Returns before that, so that the input goes on: the next message may cancel
    /// one of them. Only if very many wait, it first waits for one to end.
    func start(_ id: JSONValue, bytes: Int, _ body: @escaping @Sendable () async -> Void) async {
        while waitingBytes >= Self.maxWaitingBytes || waiting.count >= Self.maxWaiting, let first = running.first {
            await first.task.value
        }
        waiting.append((id, bytes, body))
        waitingBytes += bytes
        startNext()
    }

    private func startNext() {
        while running.count < Self.maxRunning, !waiting.isEmpty {
            let next = waiting.removeFirst()
            waitingBytes -= next.bytes
            number += 1
            let own = number
            let task = Task {
                await next.body()
                self.end(own)
            }
            running.append((own, next.id, task))
        }
    }

    private func end(_ number: Int) {
        running.removeAll { $0.number == number }
        startNext()
    }

    func cancel(_ id: JSONValue) {
        for call in running where call.id == id { call.task.cancel() }
        waitingBytes -= waiting.filter { $0.id == id }.reduce(0) { $0 + $1.bytes }
        waiting.removeAll { $0.id == id }
    }

    func finish() async { while let first = running.first { await first.task.value } }
}

/// The lines of a descriptor, read by a thread of their own, which reads no more than a few lines ahead.
private struct InputLines {
    /// A line that is longer than the maximum is `nil`: it was not kept.
    let lines: AsyncStream<Data?>
    /// Says that a line has been dealt with.
    let taken: @Sendable () -> Void

    private static let ahead = 4

    static func read(_ descriptor: Int32, maxBytes: Int) -> InputLines {
        let (stream, sink) = AsyncStream.makeStream(of: Data?.self)
        let room = DispatchSemaphore(value: ahead)
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var line: Data? = Data()
            func end() {
                room.wait()
                sink.yield(line)
                line = Data()
            }
            while true {
                let count = Foundation.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for part in buffer[..<count].split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
                    if part.offset > 0 { end() }
                    if let count = line?.count, count + part.element.count > maxBytes { line = nil }
                    line?.append(contentsOf: part.element)
                }
            }
            // The last line may have no end.
            if line?.isEmpty != true { end() }
            sink.finish()
        }
        return InputLines(lines: stream) { room.signal() }
    }
}

/// Writes messages to standard output, whole and one after the other.
private final class OutputLines: Sendable {
    private let queue = NSLock()
    nonisolated(unsafe) private var hasFailed = false

    /// Whether nobody reads any more.
    var isClosed: Bool { queue.withLock { hasFailed } }

    func write(_ reply: ContextReply) {
        // A value that was read as JSON, or made here, can be written as JSON.
        guard var bytes = try? WireJSON.encode(reply.message) else { return }
        bytes.append(0x0a)
        queue.withLock {
            var rest = bytes[...]
            while !rest.isEmpty, !hasFailed {
                let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                if count <= 0 { hasFailed = true } else { rest = rest.dropFirst(count) }
            }
        }
    }
}
