import EntrupyAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import Platform

/// The body of a request, once it has been read, for the journal and the recording.
final class ReceivedBody: Sendable {
    private struct State {
        var buffer = ByteBuffer()
        var isDecoded = false
        var hasWrongDigest = false
    }

    private let state = NIOLockedValueBox(State())

    /// The decoded body, or the bytes that were sent if they cannot be decoded.
    var buffer: ByteBuffer { state.withLockedValue { $0.buffer } }
    /// Whether the buffer differs from the bytes that were sent.
    var isDecoded: Bool { state.withLockedValue { $0.isDecoded } }
    /// Whether the bytes that were sent differ from their `Content-Digest`.
    var hasWrongDigest: Bool { state.withLockedValue { $0.hasWrongDigest } }

    func set(_ body: ReceivedBytes) {
        state.withLockedValue {
            $0.buffer = (try? body.content.get()) ?? body.sent
            $0.isDecoded = body.isDecoded
        }
    }

    func markWrongDigest() {
        state.withLockedValue { $0.hasWrongDigest = true }
    }
}

/// Writes requests and answers to journals.
enum JournalWriter {
    /// The maximum size of an answer whose beginning is saved, in bytes. A longer answer is not saved: the whole body
    /// must be collected for it.
    private static let maxBytes = 8_000_000

    /// Adds a request that ran a job to the journal, unless the namespace keeps none.
    static func append(
        _ request: Request, _ target: Target, _ received: ReceivedBody, _ response: Response, after duration: Duration,
        _ known: RequestTrace.Known, in namespace: Namespace
    ) async {
        guard let at = known.at, let limit = known.bodyLimit else { return }
        let parts = duration.components
        let length = response.body.contentLength ?? 0
        let answer =
            length > 0 && length <= Self.maxBytes && limit > 0 && isText(response.headers)
            ? await FaultInjector.bytes(of: response) : ByteBuffer()
        namespace.append(
            JournalEntry(
                requestID: response.headers.value(of: .requestID) ?? "", at: at, method: request.method.rawValue,
                path: target.path, query: target.query, status: response.status.code,
                milliseconds: Double(parts.seconds) * 1000 + Double(parts.attoseconds) / 1e15, known: known,
                request: message(request.headers, received.buffer, limit),
                response: message(response.headers, answer, limit, length: length)))
    }

    private static func message(
        _ headers: HTTPFields, _ body: ByteBuffer, _ limit: Int, length: Int? = nil
    ) -> JournalEntry.Message {
        // A slice would keep the whole buffer in memory.
        let kept =
            body.readableBytes == 0 || !isText(headers)
            ? ByteBuffer()
            : body.readableBytes <= limit ? body : ByteBuffer(bytes: body.readableBytesView.prefix(limit))
        return JournalEntry.Message(
            length: length ?? body.readableBytes, kept: kept.readableBytes,
            headers: headers, body: kept)
    }

    /// Pictures are not saved: they are in the image store [D journal].
    private static func isText(_ headers: HTTPFields) -> Bool {
        guard let type = headers.value(of: .contentType) else { return true }
        return ["application/json", "text/", "image/svg"].contains { type.begins(with: $0) }
    }
}

extension HTTPFields: JournalHeaders {
    package var pairs: [(name: String, value: String)] { map { ($0.name.rawName, $0.value) } }
}

extension ByteBuffer: JournalBody {
    package var data: Data { Data(readableBytesView) }
}
