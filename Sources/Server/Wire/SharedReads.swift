import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Simulation

/// Makes equal reads of the control API once if they wait beside each other in a namespace's line of work, with no other work
/// between them [D shared-reads]. Each caller gets the answer with a request id of its own.
///
/// Only control requests are shared: their answers depend on nothing but the namespace, the target, the host and the language.
/// Nothing is shared while requests are recorded or replayed: there, each request has its own place in the order of jobs.
final class SharedReads: Sendable {
    enum Form {
        /// Bytes in memory, which all callers share.
        case bytes
        /// Pieces that are made while they are sent. If several callers want them, they are written to a file first.
        case pieces
    }

    private struct Key: Hashable {
        let namespace: ObjectIdentifier
        let target: String
        let address: AskedAddress?
        let language: Language
    }

    /// A read in progress, and those who wait for its answer.
    private final class Read: Sendable {
        let group: ReadGroup
        let callers = NIOLockedValueBox<(isOver: Bool, waiting: [CheckedContinuation<Response?, Never>])>((false, []))

        init(_ group: ReadGroup) { self.group = group }
    }

    private let reads = NIOLockedValueBox<[Key: Read]>([:])

    private let joined = NIOLockedValueBox(0)

    /// The number of callers that wait for the answer of an equal read; for tests.
    var joinedCount: Int { joined.withLockedValue { $0 } }

    /// Answers a read, or shares the answer of an equal one.
    func respond(
        to request: RequestReader, _ form: Form, _ make: @Sendable (RequestReader) async -> Answer
    ) async -> Answer {
        let namespace = request.namespace
        // A request with a body may be refused for the size of that body.
        guard !namespace.environment.sequencer.ordersAllJobs, let caller = request.head.caller,
            request.headers.contentLength ?? 0 == 0
        else { return await make(request) }
        let key = Key(
            namespace: ObjectIdentifier(namespace), target: request.request.head.path ?? "/",
            address: request.head.address, language: request.head.language)
        if let earlier = reads.withLockedValue({ $0[key] }),
            earlier.group.join(caller, last: { namespace.mailbox.lastPlace }),
            var response = await response(of: earlier)
        {
            response.headers[.requestID] = request.head.requestID ?? namespace.environment.nextServerRequestID()
            return Answer(response)
        }
        let read = Read(ReadGroup(caller))
        reads.withLockedValue { $0[key] = read }
        let made = await make(request.leading(read.group))
        reads.withLockedValue { if $0[key] === read { $0[key] = nil } }
        return await finish(read, made, form, namespace.environment)
    }

    /// The answer of a read that this request has joined; `nil` if the request must be answered by itself.
    private func response(of read: Read) async -> Response? {
        joined.withLockedValue { $0 += 1 }
        defer { joined.withLockedValue { $0 -= 1 } }
        return await withCheckedContinuation { continuation in
            let isOver = read.callers.withLockedValue { callers in
                if !callers.isOver { callers.waiting.append(continuation) }
                return callers.isOver
            }
            if isOver { continuation.resume(returning: nil) }
        }
    }

    /// Ends a read. Those who joined get its answer; after an error, which names one request, each makes its own.
    private func finish(
        _ read: Read, _ made: Answer, _ form: Form, _ environment: Simulation.Environment
    ) async -> Answer {
        let callers = read.callers.withLockedValue { callers in
            callers.isOver = true
            defer { callers.waiting = [] }
            return callers.waiting
        }
        guard !callers.isEmpty else { return made }
        var answer = made
        var shared: Response?
        if made.response.status == .ok {
            switch form {
            case .bytes:
                answer.response.body = .init(byteBuffer: await made.response.collectedBody())
                shared = answer.response
            case .pieces:
                if let file = await SharedFile.collecting(made.response.body, environment) {
                    answer.response.body = file.body(environment.threads)
                    shared = answer.response
                    shared?.body = file.body(environment.threads)
                } else {
                    answer = Answer(
                        ErrorAnswer.response(
                            .unavailable("the answer could not be written to a temporary file"),
                            requestID: made.response.headers[.requestID] ?? ""))
                }
            }
        }
        for caller in callers { caller.resume(returning: shared) }
        return answer
    }
}

/// A temporary file that several answers are read from. It has no name, and is gone with its last reader.
private final class SharedFile: Sendable {
    private let file: FileHandle
    private let size: Int

    private init(_ file: FileHandle, size: Int) {
        self.file = file
        self.size = size
    }

    /// Writes a body to a new file; `nil` if that fails.
    static func collecting(_ body: ResponseBody, _ environment: Simulation.Environment) async -> SharedFile? {
        do {
            let file = try await environment.copyThreads.runIfActive { try environment.temporaryFile() }
            let written = NIOLockedValueBox(0)
            try await body.write(FileWriter(file: file, written: written, threads: environment.copyThreads))
            return SharedFile(file, size: written.withLockedValue { $0 })
        } catch {
            return nil
        }
    }

    func body(_ threads: NIOThreadPool) -> ResponseBody {
        .pieces(size: size, on: threads) { [file] bytes, offset in
            // Readers do not share a position.
            let count = pread(file.fileDescriptor, bytes.baseAddress, bytes.count, off_t(offset))
            guard count >= 0 else { throw IOError(errnoCode: errno, reason: "a temporary file cannot be read") }
            return count
        }
    }

    private struct FileWriter: ResponseBodyWriter {
        let file: FileHandle
        let written: NIOLockedValueBox<Int>
        let threads: NIOThreadPool

        mutating func write(_ buffer: ByteBuffer) async throws {
            let file = file
            try await threads.runIfActive { try file.write(contentsOf: buffer.readableBytesView) }
            written.withLockedValue { $0 += buffer.readableBytes }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
