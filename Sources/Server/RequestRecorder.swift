import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Platform

/// Hands requests and answers to the recorder, where there is one.
enum RequestRecorder {
    /// Headers that are about the connection, which a replay has its own of.
    static let connectionHeaders: Set = ["content-length", "transfer-encoding", "connection", "expect", "host"]
    /// The largest answer that is written down, in bytes.
    private static let largestAnswer = 10_000_000

    /// Writes a request down under its ticket, once.
    ///
    /// - Parameter response: as it is before a fault spoils it.
    static func keep(
        _ request: Request, _ received: ReceivedBody?, _ response: Response, _ environment: Platform.Environment
    ) async {
        guard let recorder = environment.recorder, let ticket = JobTicket.current else { return }
        let body = received?.buffer ?? ByteBuffer()
        recorder.keep(
            RecordedRequest(
                method: request.method.rawValue, target: request.head.path ?? "/", host: request.head.authority,
                headers: request.headers.filter { !connectionHeaders.contains($0.name.canonicalName) }
                    .map { [$0.name.rawName, $0.value] },
                body: body.readableBytes > 0 ? RecordedBytes(Data(body.readableBytesView)) : nil,
                status: response.status.code, answer_headers: response.headers.map { [$0.name.rawName, $0.value] },
                answer: await answer(response)),
            ticket, environment)
    }

    /// What was answered; nil where that is no text, or without an end.
    private static func answer(_ response: Response) async -> RecordedBytes? {
        let type = response.headers[.contentType] ?? "text/plain"
        let isText = type.hasPrefix("application/json") || type.hasPrefix("text/") || type.hasPrefix("application/yaml")
        guard isText, !type.hasPrefix("text/event-stream"), let length = response.body.contentLength,
            length <= largestAnswer
        else { return nil }
        return RecordedBytes(Data((await FaultCarrier.bytes(of: response)).readableBytesView))
    }
}
