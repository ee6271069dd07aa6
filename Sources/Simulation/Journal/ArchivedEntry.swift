import Foundation
import SimulationAPI

/// A request and its answer in an HTTP archive, version 1.2, which browsers' developer tools open. The format sets the names; those
/// with `_` are the simulator's own.
struct ArchivedEntry: Encodable {
    let startedDateTime: String
    let time: Double
    let request: Request
    let response: Response
    /// Empty, because the journal knows of no caches.
    let cache: [String: String] = [:]
    /// All of the duration counts as waiting.
    let timings: [String: Double]
    let _delivered: Bool
    @Nullable var _effect: JSONObject?
    @Nullable var _started_real: Double?
    @Nullable var _ended_real: Double?

    /// A header field, or a parameter of a query.
    struct Pair: Encodable {
        let name: String
        let value: String
    }

    struct Request: Encodable {
        let method: String
        let url: String
        let httpVersion = "HTTP/1.1"
        let cookies: [Pair] = []
        let headers: [Pair]
        let queryString: [Pair]
        let postData: Content?
        /// Unknown.
        let headersSize = -1
        let bodySize: Int
    }

    struct Response: Encodable {
        /// 0 if the request was lost before it was handled.
        let status: Int
        /// The reason why the answer did not reach its client; else empty.
        let statusText: String
        let httpVersion = "HTTP/1.1"
        let cookies: [Pair] = []
        let headers: [Pair]
        let content: Content
        let redirectURL = ""
        /// Unknown.
        let headersSize = -1
        let bodySize: Int
    }

    /// The part of a body that was kept.
    struct Content: Encodable {
        /// The length of the whole body, in bytes; only in answers.
        var size: Int?
        let mimeType: String
        let text: String?
    }

    /// - Parameter url: the base URL of the namespace.
    init(_ entry: JournalEntry, of url: String, _ secrets: Secrets) {
        let shown = JournaledRequest(entry, withMessages: false, secrets)
        let (asked, answered) = (JournaledMessage(entry.request, secrets), JournaledMessage(entry.response, secrets))
        let query = shown.query ?? ""
        let body = asked.body.flatMap { $0.isEmpty ? nil : $0 }
        startedDateTime = entry.at.display
        time = entry.milliseconds
        timings = ["send": 0, "wait": time, "receive": 0]
        request = Request(
            method: shown.method, url: url + shown.path + (query.isEmpty ? "" : "?\(query)"), headers: asked.pairs,
            queryString: Self.parameters(query),
            postData: body.map { Content(mimeType: asked.mediaType, text: $0) }, bodySize: asked.bytes)
        response = Response(
            status: shown.status ?? 0, statusText: shown.lossText.map { "not delivered: \($0)" } ?? "",
            headers: answered.pairs,
            content: Content(size: answered.bytes, mimeType: answered.mediaType, text: answered.body),
            bodySize: answered.bytes)
        _delivered = shown.delivered
        __effect = Nullable(wrappedValue: shown.effect)
        __started_real = Nullable(wrappedValue: shown.started_real)
        __ended_real = Nullable(wrappedValue: shown.ended_real)
    }

    /// The parameters of a query, decoded.
    private static func parameters(_ query: String) -> [Pair] {
        query.split(at: "&").map { pair in
            let parts = pair.split(at: "=", maxSplits: 1, omittingEmpty: false)
                .map { String($0).removingPercentEncoding ?? String($0) }
            return Pair(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }
}

extension JournaledMessage {
    fileprivate var pairs: [ArchivedEntry.Pair] { headers.map { ArchivedEntry.Pair(name: $0[0], value: $0[1]) } }

    /// The value of the `Content-Type` field; empty if there is none.
    fileprivate var mediaType: String { headers.first { $0[0].lowercased() == "content-type" }?[1] ?? "" }
}
