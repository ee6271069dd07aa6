import EntrupyAPI
import Foundation
import Hummingbird
import Platform

/// The control routes that show the state of a namespace, and `/_sim/settle`.
struct WatchController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .post("_sim/settle", use: settle)
            .get("_sim/due", use: listDue)
            .get("_sim/captures", use: listCaptures)
            .get("_sim/users", use: listUsers)
            .get("_sim/webhooks", use: listSubscriptions)
            .get("_sim/sessions", use: listSessions)
            .delete("_sim/sessions", use: revokeSessions)
            .delete("_sim/sessions/{id}", use: revokeSession)
    }

    private func reader(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    @Sendable private func settle(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        switch await reader.input(.optionalJSON, { try SettleRequest($0.body) }) {
        case .success(let request):
            return await Settling(reader.namespace, reader.head).settle(within: request.within).response()
        case .failure(let error):
            return await reader.namespace.refuse(error, reader.head).refusal()
        }
    }

    @Sendable private func listDue(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { input in
            var query = input.query
            let limit = query.number("limit", in: ControlPage.limits)
            try query.finish()
            return ListDue(limit: limit ?? ControlPage.defaultLimit)
        }.response()
    }

    /// The capture states that can be listed.
    private enum Wanted: String, CaseIterable {
        case started, submitted, cancelled, timed_out, all
    }

    @Sendable private func listCaptures(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { input in
            var query = input.query
            let status = query.word("status", Wanted.self) ?? .started
            let limit = query.number("limit", in: ControlPage.limits)
            let cursor = query.text("cursor")
            try query.finish()
            return ListAllCaptures(
                status: Capture.Status(rawValue: status.rawValue), limit: limit ?? ControlPage.defaultLimit,
                cursor: cursor)
        }.response()
    }

    @Sendable private func listUsers(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { input in
            var query = input.query
            let limit = query.number("limit", in: ControlPage.limits)
            let cursor = query.text("cursor")
            try query.finish()
            return ListUsers(limit: limit ?? ControlPage.defaultLimit, cursor: cursor)
        }.response()
    }

    @Sendable private func listSubscriptions(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in ListAllSubscriptions() }.response()
    }

    @Sendable private func listSessions(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { input in
            var query = input.query
            let username = query.name("username")
            let limit = query.number("limit", in: ControlPage.limits)
            try query.finish()
            return ListSessions(username: username, limit: limit ?? ControlPage.defaultLimit)
        }.response()
    }

    @Sendable private func revokeSessions(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { input in
            var query = input.query
            let username = query.name("username")
            try query.finish()
            return RevokeSessions(username: username)
        }.emptyResponse()
    }

    @Sendable private func revokeSession(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.answer { _ in RevokeSessions(id: reader.path("id")) }.emptyResponse()
    }
}

/// The body of a settle request. `within` is the maximum wait, in real time [D settle].
private struct SettleRequest {
    let within: Span

    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("within")
        let within = fields.optional("within", "must be a duration of at most 10m, for instance \"5s\"") { value in
            Span(value).flatMap { $0 <= SettleDeadline.max ? $0 : nil }
        }
        try fields.finish()
        self.within = within ?? Span("5s")!
    }
}
