import Foundation
import SimulationAPI

/// The requests, events and deliveries of webhooks since a mark, a line each.
enum CaseHistory {
    /// - Parameter limit: the number of requests, and of events, that are returned: the newest, oldest first.
    static func read(_ client: ControlClient, since mark: CaseMark, limit: Int) async throws -> JSONObject {
        let count = "\(limit + 1)"
        let requests: RequestList = try await client.get(
            "/_sim/requests", [("after_sequence", "\(mark.request)"), ("limit", count)])
        let events: EventList = try await client.get(
            "/_sim/event-log", [("after_sequence", "\(mark.event)"), ("limit", count)])
        let list: WebhookDeliveryList = try await client.get("/_sim/webhook-deliveries", [("limit", "10")])
        var deliveries = list.deliveries
        if mark.event > 0, !deliveries.isEmpty {
            let attempted: EventList = try await client.get(
                "/_sim/event-log",
                [("after_sequence", "\(mark.event)"), ("kind", "webhook.attempted"), ("limit", "1000")])
            let isNew = Set(attempted.events.map { TextKey($0.subject) })
            // Those that nobody has attempted yet are on their way. Of very many attempts the first are not known.
            if attempted.next_cursor == nil {
                deliveries = deliveries.filter { isNew.contains(TextKey($0.id)) || $0.attempts.isEmpty }
            }
        }
        var answer = JSONObject()
        let shown = requests.requests.prefix(limit)
        let said = try await reasons(shown, client)
        answer["requests"] = .array(
            try lines(requests.requests, limit, upTo: maxRequest) { request in
                try text(request, said: request.sequence.flatMap { said[$0] })
            })
        answer["events"] = .array(try lines(events.events, limit, upTo: maxEvent, text))
        answer["deliveries"] = .array(deliveries.reversed().map { .string(text($0)) })
        let cut = [
            requests.requests.count > limit ? "requests" : nil, events.events.count > limit ? "events" : nil,
        ].compactMap(\.self)
        if !cut.isEmpty {
            answer["earlier"] = .string(
                "there are earlier \(cut.joined(separator: " and ")) since that mark; call what_happened with a greater limit"
            )
        }
        answer["state"] = try await CaseState.read(client)
        return answer
    }

    /// The maximum length of the line of a request, which may give a reason, and of an event.
    private static let maxRequest = 400
    private static let maxEvent = 240

    private static func lines<Entry>(
        _ newestFirst: [Entry], _ limit: Int, upTo length: Int, _ text: (Entry) throws -> String
    ) rethrows -> [JSONValue] {
        try newestFirst.prefix(limit).reversed().map { .string(ToolAnswer.short(try text($0), length)) }
    }

    /// The errors in the answers to refused requests, by the request's number. One that a fact of the journal or a fault explains
    /// needs none.
    private static func reasons(
        _ requests: some Sequence<JournaledRequest>, _ client: ControlClient
    ) async throws -> [Int64: String] {
        var reasons: [Int64: String] = [:]
        for request in requests where (request.status ?? 0) >= 400 && request.because == nil {
            guard let sequence = request.sequence, request.decided_by.fault == nil else { continue }
            let path = ControlPath(stringLiteral: "/_sim/requests/sequence:\(sequence)")
            // The journal may have forgotten it since the list was read.
            let whole = try? await client.send(ControlCall(.GET, path)).decoded() as JournaledRequest
            reasons[sequence] = AnswerReason.text(whole?.response?.body)
        }
        return reasons
    }

    /// - Parameter said: the error in its answer; `nil` if there is none to name.
    private static func text(_ request: JournaledRequest, said: String?) throws -> String {
        let number = request.sequence.map { "#\($0) " } ?? ""
        let query = request.query.map { "?\($0)" } ?? ""
        let status = request.status.map { "\($0)" } ?? "no answer"
        let delivery = request.delivered ? "" : " (not delivered)"
        let fault = request.decided_by.fault.map { " by the fault \($0)" } ?? ""
        let limits = request.decided_by.limits.isEmpty ? "" : " by a limit"
        let reason = (request.because ?? said).map { ": \($0)" } ?? ""
        let who = request.username.map { " \($0)" } ?? ""
        return "\(number)\(Readable.time(request.at)) \(request.method) \(ToolAnswer.short(request.path + query, 120)) "
            + "\(status)\(delivery)\(fault)\(limits)\(reason)\(who)"
    }

    private static func text(_ event: StateChange) throws -> String {
        let cause = event.cause.map { " by \($0)" } ?? ""
        // An agent has no use for the hash of a picture, which is longer than the rest of the line.
        let data = (event.data.members ?? [:]).filter { !$0.key.isIdentical(to: "sha256") }
        return
            "\(event.sequence) \(Readable.time(event.at)) \(event.kind) \(event.subject)\(cause) \(try Readable.json(JSONValue.object(data)))"
    }

    private static func text(_ delivery: WebhookDelivery) -> String {
        let last = delivery.attempts.last.map { attempt in
            ", attempt \(attempt.number): " + (attempt.status.map { "\($0)" } ?? attempt.error ?? "no answer")
        }
        let next = delivery.next_attempt_at.map { ", next at \(Readable.time($0))" } ?? ""
        let item = delivery.entrupy_id.map { " of \($0)" } ?? ""
        return ToolAnswer.short("\(delivery.id) \(delivery.event)\(item) \(delivery.status)\(last ?? "")\(next)", 240)
    }
}
