import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import Simulation
import SimulationAPI

/// The event stream `/_sim/events`.
struct EventRoutes: Sendable {
    private let listeners = EventListeners()

    func add(to routes: Routes) {
        routes.on(.get, "events", listen)
        routes.get("event-log") { try ListEvents($0) }
    }

    @Sendable private func listen(_ request: RequestReader) async -> Answer {
        let namespace = request.namespace
        return await request.reading(.ignored, EventStream.Query.init) { query in
            let place = try listeners.enter()
            let opened = await namespace.openFeed(request.head)
            // The stream's listener comes with the body, after the request has ended. Both end with the body.
            let use = NamespaceUse(namespace)
            return opened.response { _ in
                Response(
                    status: .ok,
                    headers: [
                        .contentType: "text/event-stream", .cacheControl: "no-store", .requestID: opened.requestID,
                        .noBuffering: "no",
                    ],
                    body: ResponseBody { writer in
                        defer { withExtendedLifetime((place, use)) {} }
                        try await EventStream(namespace: namespace, query: query, channel: request.channel)
                            .run(&writer)
                        try await writer.finish(nil)
                    })
            }
        }
    }
}

/// Counts the event streams of the server, which cost memory and a part of every change each [D event-listeners].
final class EventListeners: Sendable {
    /// The maximum number of event streams that are open on the server.
    static let max = 1000
    private let open = NIOLockedValueBox(0)

    /// The place of one stream. It is free again once the stream has ended, or if it never began.
    final class Place: Sendable {
        private let listeners: EventListeners

        fileprivate init(_ listeners: EventListeners) { self.listeners = listeners }

        deinit { listeners.open.withLockedValue { $0 -= 1 } }
    }

    /// Takes a place.
    ///
    /// - Throws: ``PlatformError`` if all are taken.
    func enter() throws -> Place {
        try open.withLockedValue { open in
            guard open < Self.max else {
                throw PlatformError.unavailable(
                    "\(Self.max) event streams are open, the maximum of the server; close some, or read GET /_sim/event-log"
                )
            }
            open += 1
        }
        return Place(self)
    }
}

extension EventStream.Query {
    fileprivate init(_ request: RequestReader) throws {
        var query = request.query
        let expected = "must be some of request, state, webhook, separated by commas"
        let topics = query.value("types", expected) { value -> Set<FeedEntry.Topic>? in
            let topics = (value.text ?? "").split(at: ",", omittingEmpty: false).map { name in
                FeedEntry.Topic.allCases.first { $0.rawValue.isIdentical(to: name) }
            }
            return topics.contains(nil) ? nil : Set(topics.compactMap { $0 })
        }
        let since = query.number("since", in: 0...9_007_199_254_740_991)
        let after = query.number("after", in: 0...9_007_199_254_740_991)
        let platforms = request.namespace.environment.platforms
        let given = query.value("until")?.text
        let until = given.flatMap { EventCondition($0, platforms, after: after ?? 0) }
        if let given, until == nil { query.report("until", EventCondition.problem(given, platforms)) }
        if after != nil, until?.isOfHeldRequests != true { query.report("after", "belongs to until=request:held") }
        try query.finish()
        self.init(topics: topics ?? Set(FeedEntry.Topic.allCases), since: since.map(Int64.init), until: until)
        // A reconnecting browser sends the id of its last event. That id wins over the URL.
        guard let last = request.request.headers[.lastEventID], !last.isEmpty else { return }
        let parts = last.split(at: "-", omittingEmpty: false)
        guard parts.count == 2, let number = Int64(parts[1]), number >= 0 else {
            throw PlatformError.invalid([
                ErrorDetail("Last-Event-ID", "must be the id of an event of this stream, such as k2v8-17")
            ])
        }
        self.since = nil
        resume = (String(parts[0]), number)
    }
}

extension HTTPField.Name {
    /// The id of the last event that a listener received. Browsers send it.
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    static let noBuffering = HTTPField.Name("X-Accel-Buffering")!
}
