import Foundation
import SimulationAPI

/// The transport over standard input and output: a message is a line. See the protocol's page on transports.
///
/// Messages are answered as they are ready, several at a time, and each answer is written whole. It ends at the end of the input, once
/// the answers are written, or when nobody reads the output any more.
struct StandardStreams {
    let server: ContextServer

    /// The number of requests that run at the same time. The input waits for more.
    private static let maxRunning = 16

    enum Line: Sendable {
        case text(Data)
        /// A line that is longer than the maximum. It was not kept.
        case tooLong
    }

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

    private func take(_ line: Line, _ calls: RunningCalls, _ output: OutputLines) async {
        let message: ContextMessage
        switch line {
        case .tooLong:
            let size = SizeText.text(ContextServer.maxBytes)
            message = .invalid(id: .null, .invalidRequest("a message has at most \(size); this one was left out"))
        case .text(let bytes):
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) { return }
            message = ContextMessage(bytes, of: "a line")
        }
        switch message {
        case .invalid(let id, let error): output.write(ContextReply(id: id, result: .failure(error)))
        case .notification("notifications/cancelled", let params):
            if let id = params["requestId"] { await calls.cancel(id) }
        case .notification: break
        case .request(let request):
            await calls.start(request.id, atMost: Self.maxRunning) {
                let reply = await server.answer(request)
                // The client does not want the answer of a request that it cancelled.
                if !Task.isCancelled { output.write(reply) }
            }
        }
    }
}

private actor RunningCalls {
    private var tasks: [(number: Int, id: JSONValue, task: Task<Void, Never>)] = []
    private var number = 0

    /// Waits until fewer than `most` run, then starts one.
    func start(_ id: JSONValue, atMost most: Int, _ body: @escaping @Sendable () async -> Void) async {
        while tasks.count >= most, let first = tasks.first { await first.task.value }
        number += 1
        let own = number
        let task = Task {
            await body()
            self.end(own)
        }
        tasks.append((own, id, task))
    }

    private func end(_ number: Int) { tasks.removeAll { $0.number == number } }

    func cancel(_ id: JSONValue) { for call in tasks where call.id == id { call.task.cancel() } }

    func finish() async { while let first = tasks.first { await first.task.value } }
}

/// The lines of a descriptor, read by a thread of their own, which reads no more than a few lines ahead.
private struct InputLines {
    let lines: AsyncStream<StandardStreams.Line>
    /// Says that a line has been dealt with.
    let taken: @Sendable () -> Void

    private static let ahead = 4

    static func read(_ descriptor: Int32, maxBytes: Int) -> InputLines {
        let (stream, sink) = AsyncStream.makeStream(of: StandardStreams.Line.self)
        let room = DispatchSemaphore(value: ahead)
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var line = Data()
            var isTooLong = false
            func end() {
                room.wait()
                sink.yield(isTooLong ? .tooLong : .text(line))
                line = Data()
                isTooLong = false
            }
            while true {
                let count = Foundation.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for part in buffer[..<count].split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
                    if part.offset > 0 { end() }
                    if line.count + part.element.count > maxBytes {
                        isTooLong = true
                        line = Data()
                    }
                    if !isTooLong { line.append(contentsOf: part.element) }
                }
            }
            // The last line may have no end.
            if isTooLong || !line.isEmpty { end() }
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
