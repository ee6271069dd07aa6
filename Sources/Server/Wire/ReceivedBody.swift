import NIOConcurrencyHelpers
import NIOCore
import Simulation

/// The body of a request, once it has been read, for the journal and the recording.
final class ReceivedBody: RequestSize {
    private struct State {
        var buffer = ByteBuffer()
        var isDecoded = false
        var hasWrongDigest = false
        var isIncomplete = false
        var memory: BodyMemory.Share?
    }

    private let state = NIOLockedValueBox(State())
    /// Whether this is a replay, and the recording lacks the body.
    private let isMissing: Bool

    init(isMissing: Bool = false) {
        self.isMissing = isMissing
    }

    /// The error for a body that a replay lacks; `nil` if there is none. The request then takes its place, and its
    /// answer is not compared.
    var problem: PlatformError? {
        isMissing ? .unavailable("the recording does not hold this request's body") : nil
    }

    /// The decoded body, or the bytes that were sent if they cannot be decoded.
    var buffer: ByteBuffer { state.withLockedValue { $0.buffer } }
    var keptBytes: Int { state.withLockedValue { $0.buffer.readableBytes + ($0.memory?.bytes ?? 0) } }
    /// Whether the buffer differs from the bytes that were sent.
    var isDecoded: Bool { state.withLockedValue { $0.isDecoded } }
    /// Whether the bytes that were sent differ from their `Content-Digest`.
    var hasWrongDigest: Bool { state.withLockedValue { $0.hasWrongDigest } }

    func set(_ body: ReceivedBytes) {
        state.withLockedValue {
            // A body that cannot be decoded is kept as it was sent.
            $0.buffer = (try? body.content.get()) ?? body.sent
            $0.isDecoded = body.isDecoded
        }
    }

    /// Whether the body did not arrive, or is too large to be recorded.
    var isIncomplete: Bool { state.withLockedValue { $0.isIncomplete } }

    func markIncomplete() {
        state.withLockedValue { $0.isIncomplete = true }
    }

    /// Keeps the share of its namespace's memory that the body takes as JSON, until the request has been answered.
    func keep(_ memory: BodyMemory.Share) {
        state.withLockedValue { $0.memory = memory }
    }

    func markWrongDigest() {
        state.withLockedValue { $0.hasWrongDigest = true }
    }
}
