import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Simulation

/// Records requests with their answers, if the server has a recorder. In a replay, runs each request at its place
/// [D recording].
struct RecordingResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    let sequencer: JobSequencer
    let isRecording: Bool
    /// The replay in progress; `nil` if this is not a replay.
    let replay: Replay?

    func respond(to request: IncomingRequest) async throws -> Answer {
        if let replayed = replay?.request(HTTPField.Name(Replay.header).flatMap { request.headers[$0] }) {
            return try await replayed.run { try await inner.respond(to: original(of: request, replayed)) }
        }
        guard isRecording else { return try await inner.respond(to: request) }
        var request = request
        let received = ReceivedBody()
        request.received = received
        return try await sequencer.request { [request] in
            try await inner.respond(to: request)
        } unanswered: { [request] in
            RecordedRequest(request.http, received, nil, nil)
        } entry: { [request] result in
            // The entry needs an answer, and a client would get this one.
            let response =
                (try? result.get())?.original ?? ErrorAnswer.response(.bug("the request was lost"), requestID: "")
            let answer = await RecordedRequest.comparedBody(of: response, to: request.http)
            if case .failure = result { received.markIncomplete() }
            return { RecordedRequest(request.http, received, response, answer) }
        }
    }

    /// The request as it was recorded: a URL cannot represent every request line.
    private func original(of request: IncomingRequest, _ replayed: ReplayedRequest) -> IncomingRequest {
        var head = request.http.head
        head.path = replayed.request.target
        head.authority = replayed.request.host
        head.scheme = replayed.request.secure == true ? "https" : "http"
        var original = IncomingRequest(Request(head: head, body: request.http.body), request.context)
        original.received = ReceivedBody(isMissing: replayed.request.unrepeatable == true)
        return original
    }
}

extension RecordedRequest {
    /// Headers of the connection. A replay has a connection of its own and sends its own values.
    static let connectionHeaders: Set = ["content-length", "transfer-encoding", "connection", "expect", "host"]
    /// The maximum size of an answer that is recorded, in bytes.
    private static let maxAnswerBytes = 10_000_000

    /// - Parameters:
    ///   - response: the answer; `nil` while the request is held. A request that was lost needs one: its jobs have run.
    ///   - answer: the answer's body; `nil` if it is not compared.
    fileprivate init(_ request: Request, _ received: ReceivedBody, _ response: Response?, _ answer: ByteBuffer?) {
        let body = received.buffer
        self.init(
            method: request.method.rawValue, target: request.head.path ?? "/", host: request.head.authority,
            headers: Self.headers(request, received),
            body: body.readableBytes > 0 ? RecordedBytes(Data(body.readableBytesView)) : nil,
            status: response?.status.code ?? 0,
            answer_headers: (response?.headers ?? [:]).map { [$0.name.rawName, $0.value] },
            answer: answer.map { RecordedBytes(Data($0.readableBytesView)) })
        if received.isIncomplete { unrepeatable = true }
        if request.head.isSecure { secure = true }
    }

    /// The headers that a replay sends. They match the recorded body, which is decoded.
    private static func headers(_ request: Request, _ received: ReceivedBody) -> [[String]] {
        request.headers.compactMap { field in
            guard !connectionHeaders.contains(field.name.canonicalName) else { return nil }
            guard received.isDecoded else { return [field.name.rawName, field.value] }
            switch field.name {
            case .contentEncoding: return nil
            case .contentDigest:
                // A correct digest no longer matches the decoded bytes, so it is left out. A wrong digest must stay
                // wrong.
                guard received.hasWrongDigest else { return nil }
                let wrong = field.value.split(at: ",").map { "\($0.prefix(before: "="))=:AAAA:" }
                return [field.name.rawName, wrong.joined(separator: ",")]
            default: return [field.name.rawName, field.value]
            }
        }
    }

    /// The body of an answer. `nil` if it is a page, is not text, has no end, or is too large.
    fileprivate static func comparedBody(of response: Response, to request: Request) async -> ByteBuffer? {
        // Pages of the console are for people: they show ages, for instance.
        if ConsoleRoutes.isPage(Target(request.head.path ?? "/").path) { return nil }
        if request.method == .head { return ByteBuffer() }
        let type = response.headers[.contentType] ?? "text/plain"
        let isText = type.hasPrefix("application/json") || type.hasPrefix("text/") || type.hasPrefix("application/yaml")
        guard isText, !type.hasPrefix("text/event-stream"), let length = response.body.contentLength,
            length <= maxAnswerBytes
        else { return nil }
        return await response.collectedBody()
    }
}
