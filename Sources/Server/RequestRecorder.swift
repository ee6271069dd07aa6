import EntrupyAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Platform

/// Passes requests and answers to the recorder, if there is one.
enum RequestRecorder {
    /// Headers of the connection. A replay has a connection of its own and sends its own values.
    static let connectionHeaders: Set = ["content-length", "transfer-encoding", "connection", "expect", "host"]
    /// The maximum size of an answer that is recorded, in bytes.
    private static let largestAnswer = 10_000_000

    /// Records a request under its job ticket, once.
    ///
    /// - Parameter response: the answer before a fault changes it.
    static func record(
        _ request: Request, _ received: ReceivedBody?, _ response: Response, _ environment: Platform.Environment
    ) async {
        guard let recorder = environment.recorder, let ticket = JobTicket.current else { return }
        let body = received?.buffer ?? ByteBuffer()
        recorder.record(
            RecordedRequest(
                method: request.method.rawValue, target: request.head.path ?? "/", host: request.head.authority,
                headers: headers(request, received),
                body: body.readableBytes > 0 ? RecordedBytes(Data(body.readableBytesView)) : nil,
                status: response.status.code, answer_headers: response.headers.map { [$0.name.rawName, $0.value] },
                answer: await answer(response)),
            ticket, environment)
    }

    /// The headers that a replay sends. They match the recorded body, which is decoded.
    private static func headers(_ request: Request, _ received: ReceivedBody?) -> [[String]] {
        request.headers.compactMap { field in
            guard !connectionHeaders.contains(field.name.canonicalName) else { return nil }
            guard received?.isDecoded == true else { return [field.name.rawName, field.value] }
            switch field.name {
            case .contentEncoding: return nil
            case .contentDigest:
                // A correct digest no longer matches the decoded bytes, so it is left out. A wrong digest must stay
                // wrong.
                guard received?.hasWrongDigest == true else { return nil }
                let wrong = field.value.split(at: ",").map { "\($0.prefix(before: "="))=:AAAA:" }
                return [field.name.rawName, wrong.joined(separator: ",")]
            default: return [field.name.rawName, field.value]
            }
        }
    }

    /// The answer's body. `nil` if it is not text, has no end, or is too large.
    private static func answer(_ response: Response) async -> RecordedBytes? {
        let type = response.headers[.contentType] ?? "text/plain"
        let isText = type.hasPrefix("application/json") || type.hasPrefix("text/") || type.hasPrefix("application/yaml")
        guard isText, !type.hasPrefix("text/event-stream"), let length = response.body.contentLength,
            length <= largestAnswer
        else { return nil }
        return RecordedBytes(Data((await FaultInjector.bytes(of: response)).readableBytesView))
    }
}
