import Evidence
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Simulation

/// Adds platform requests and their answers to the journal of their namespace [D journal].
struct JournalResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    /// Counts the documented edges that the answers meet; `nil` if nobody does.
    let coverage: CoverageLedger?
    /// Whether faults that damage answers count as carried out. A replay leaves them out, but its journal is that of the
    /// recorded server.
    var hasFaults = true

    func respond(to request: IncomingRequest) async throws -> Answer {
        var request = request
        let received = request.received ?? ReceivedBody()
        // The memory of the body stays taken until the request is answered.
        defer { withExtendedLifetime(received) {} }
        request.received = received
        guard !request.head.isControl, let namespace = request.namespace else {
            return try await inner.respond(to: request)
        }
        let environment = namespace.environment
        let (started, start) = (environment.realTime(), ContinuousClock.now)
        var answer = try await inner.respond(to: request)
        if let outcome = answer.outcome {
            let duration = ContinuousClock.now - start + .seconds((answer.delay ?? 0) + answer.sendingSeconds)
            let effect = outcome.fault?.effect
            let loses = effect?.loses(answer.original.body.contentLength, isHead: request.method == .head) ?? false
            let isLost = outcome.isLost || hasFaults && loses
            var entry = await JournalEntry(
                request, received, answer.original, isDelivered: !isLost, after: duration, outcome)
            let times = RequestTimes(
                started: started, ended: started + Span(microseconds: Int64((entry.milliseconds * 1000).rounded())))
            entry.times = environment.sequencer.observe(times)
            // A number does not tell the address: each process hashes with a key of its own.
            entry.connection = request.context.channel.remoteAddress.map { $0.hashValue & 0xffff_ffff }
            entry.isResent = request.head.isResent
            let journaled = await namespace.append(entry)
            let counted = coverage?.count(entry, answer, request, namespace)
            if request.head.isResent { environment.evidence?.resent(sequence: entry.sequence, in: namespace.name) }
            if !isLost, let loss = Self.loss(journaled, counted, coverage, namespace) { answer.onLoss = loss }
        }
        return answer
    }

    /// What is done if the answer does not reach its client; `nil` for nothing.
    private static func loss(
        _ journaled: JournaledEntry?, _ counted: CoverageLedger.CountedAnswer?, _ coverage: CoverageLedger?,
        _ namespace: Namespace
    ) -> UnsentAnswers.OnLoss? {
        guard journaled != nil || counted != nil else { return nil }
        return {
            if let counted { coverage?.takeBack(counted) }
            if let journaled { namespace.markUndelivered(journaled) }
        }
    }
}

extension JournalEntry {
    /// The maximum size of an answer whose beginning is saved, in bytes. A longer answer is not saved: the whole body
    /// must be collected for it.
    private static let maxBytes = 8_000_000

    fileprivate init(
        _ request: IncomingRequest, _ received: ReceivedBody, _ response: Response, isDelivered: Bool,
        after duration: Duration, _ outcome: RequestOutcome
    ) async {
        let limit = outcome.bodyLimit
        // The answer to a lost request is one that nobody gave.
        let length = outcome.isLost ? 0 : response.body.contentLength ?? 0
        let answer =
            length > 0 && length <= Self.maxBytes && limit > 0 && Self.isText(response.headers)
            ? await response.collectedBody() : ByteBuffer()
        self.init(
            requestID: response.headers.value(of: .requestID) ?? "", method: request.method.rawValue,
            path: request.target.path, query: request.target.query, status: outcome.isLost ? nil : response.status.code,
            isDelivered: isDelivered,
            milliseconds: duration / .milliseconds(1), outcome: outcome,
            request: Self.message(request.headers, received.buffer, limit),
            response: Self.message(outcome.isLost ? [:] : response.headers, answer, limit, length: length))
        hasArrived = !received.isIncomplete
        isDecoded = received.isDecoded
    }

    private static func message(
        _ headers: HTTPFields, _ body: ByteBuffer, _ limit: Int, length: Int? = nil
    ) -> JournalEntry.Message {
        let kept = isText(headers) ? body.beginning(limit) : ByteBuffer()
        return JournalEntry.Message(
            length: length ?? body.readableBytes, kept: kept.readableBytes,
            headers: headers, body: kept)
    }

    /// Pictures are not saved: they are in the image store [D journal].
    private static func isText(_ headers: HTTPFields) -> Bool {
        guard let type = headers.value(of: .contentType) else { return true }
        return type.begins(with: "application/json") || type.begins(with: "text/") || type.begins(with: "image/svg")
    }
}

extension HTTPFields: JournalHeaders {
    package var pairs: [(name: String, value: String)] { map { ($0.name.rawName, $0.value) } }

    package var bytes: Int {
        reduce(0) { bytes, field in
            bytes + MemoryLayout<HTTPField>.stride + Self.allocated(field.name.rawName)
                + Self.allocated(field.name.canonicalName) + Self.allocated(field.value)
        }
    }

    /// The bytes that Swift allocates for a text: none up to 15 bytes, else those of the text and of an object's head.
    private static func allocated(_ text: String) -> Int { text.utf8.count <= 15 ? 0 : 32 + text.utf8.count }
}

extension ByteBuffer: JournalBody {
    package var data: Data { Data(readableBytesView) }
    package var memory: Int { readableBytes == 0 ? 0 : storageCapacity }

    /// The first bytes, at most `limit`, without the rest of the buffer's memory: a slice would keep the whole buffer.
    fileprivate func beginning(_ limit: Int) -> ByteBuffer {
        let length = min(readableBytes, limit)
        guard length > 0 else { return ByteBuffer() }
        let copy = ByteBuffer.allocated(length)
        return length == readableBytes && storageCapacity <= copy
            ? self : ByteBuffer(bytes: readableBytesView.prefix(length))
    }

    /// The memory that a new buffer of this length has: the next power of two.
    private static func allocated(_ length: Int) -> Int {
        1 << (Int.bitWidth - (length - 1).leadingZeroBitCount)
    }
}
