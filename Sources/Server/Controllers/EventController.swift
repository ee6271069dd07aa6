import EntrupyAPI
import Foundation
import HTTPTypes
import Hummingbird
import Platform

/// The event stream `/_sim/events` and the counts of `/_sim/stats`.
struct EventController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("_sim/events", use: listen)
            .get("_sim/stats", use: showStats)
    }

    /// The parameters of a stream.
    private struct StreamQuery: Sendable {
        var topics: Set<FeedEntry.Topic>
        /// The sequence number after which the event log is replayed first.
        var since: Int64?
        var resume: (epoch: String, number: Int64)?
    }

    @Sendable private func showStats(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies, isControl: true).answer { _ in ShowStats() }.response()
    }

    @Sendable private func listen(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        let input = await reader.input(.ignored) { try wish($0, request) }
        let namespace = reader.namespace
        let opened = await namespace.answer(input.map { _ in OpenFeed(namespace.feed) }, reader.head)
        return opened.response { _ in
            guard case .success(let wish) = input else { preconditionFailure("the refusal was answered") }
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/event-stream", .cacheControl: "no-store", .requestID: opened.requestID,
                    .noBuffering: "no",
                ],
                body: ResponseBody { writer in
                    let stream = EventStream(
                        namespace: namespace, topics: wish.topics, since: wish.since, resume: wish.resume,
                        channel: context.channel)
                    try await stream.run(&writer)
                    try await writer.finish(nil)
                })
        }
    }

    private func wish(_ input: RequestInput, _ request: Request) throws -> StreamQuery {
        var query = input.query
        let topics = query.value("types", "must be some of request, state, webhook, separated by commas") { text in
            let topics = text.split(at: ",", omittingEmpty: false).map { name in
                FeedEntry.Topic.allCases.first { $0.rawValue.isIdentical(to: name) }
            }
            return topics.contains(nil) ? nil : Set(topics.compactMap { $0 })
        }
        let since = query.number("since", in: 0...9_007_199_254_740_991)
        try query.finish()
        // A reconnecting browser sends the id of its last event. That id wins over the URL.
        guard let last = request.headers[.lastEventID], !last.isEmpty else {
            return StreamQuery(topics: topics ?? Set(FeedEntry.Topic.allCases), since: since.map(Int64.init))
        }
        let parts = last.split(at: "-", omittingEmpty: false)
        guard parts.count == 2, let number = Int64(parts[1]), number >= 0 else {
            throw PlatformError.invalid([
                ErrorDetail("Last-Event-ID", "must be the id of an event of this stream, such as k2v8-17")
            ])
        }
        return StreamQuery(
            topics: topics ?? Set(FeedEntry.Topic.allCases), since: nil, resume: (String(parts[0]), number))
    }
}

extension HTTPField.Name {
    /// The id of the last event that a listener received. Browsers send it.
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    /// Asks proxies not to buffer the stream.
    static let noBuffering = HTTPField.Name("X-Accel-Buffering")!
}
