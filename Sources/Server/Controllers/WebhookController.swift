import EntrupyAPI
import Hummingbird
import Platform

/// Webhook subscriptions, and the control routes for their deliveries.
struct WebhookController {
    let bodies: BodyReader

    /// Webhooks belong to `/v1` from this minor version on [P].
    private static let v1 = PartnerSurface.v1(from: 3)

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .post("v1/webhooks") { await subscribe($0, $1, Self.v1) }
            .get("v1/webhooks") { await list($0, $1, Self.v1) }
            .get("v1/webhooks/{id}") { await show($0, $1, Self.v1) }
            .patch("v1/webhooks/{id}") { await patch($0, $1, Self.v1) }
            .delete("v1/webhooks/{id}") { await unsubscribe($0, $1, Self.v1) }
            .post("v2/webhooks") { await subscribe($0, $1, .v2) }
            .get("v2/webhooks") { await list($0, $1, .v2) }
            .get("v2/webhooks/{id}") { await show($0, $1, .v2) }
            .patch("v2/webhooks/{id}") { await patch($0, $1, .v2) }
            .delete("v2/webhooks/{id}") { await unsubscribe($0, $1, .v2) }
            .get("_sim/webhook-deliveries", use: listDeliveries)
            .post("_sim/webhook-deliveries/{id}/redeliver", use: redeliver)
            .post("_sim/webhooks/trigger", use: trigger)
    }

    @Sendable private func subscribe(
        _ request: Request, _ context: SimContext, _ surface: PartnerSurface
    ) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(.json, on: surface) {
            Subscribe(try SubscriptionRequest($0.body), $0.version)
        }.response(.created)
    }

    @Sendable private func list(_ request: Request, _ context: SimContext, _ surface: PartnerSurface) async -> Response
    {
        await RequestReader(request, context, bodies: bodies).answer(on: surface) { _ in ListSubscriptions() }.response()
    }

    @Sendable private func show(_ request: Request, _ context: SimContext, _ surface: PartnerSurface) async -> Response
    {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer(on: surface) { _ in ShowSubscription(reader.path("id")) }.response()
    }

    @Sendable private func patch(_ request: Request, _ context: SimContext, _ surface: PartnerSurface) async -> Response
    {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer(.json, on: surface) {
            PatchSubscription(
                reader.path("id"), try SubscriptionRequest($0.body), forgetsUsername: $0.body["username"] == .null)
        }.response()
    }

    @Sendable private func unsubscribe(
        _ request: Request, _ context: SimContext, _ surface: PartnerSurface
    ) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer(on: surface) { _ in Unsubscribe(reader.path("id")) }.emptyResponse()
    }

    private func control(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    @Sendable private func listDeliveries(_ request: Request, _ context: SimContext) async -> Response {
        await control(request, context).answer { input in
            var query = input.query
            let status = query.word("status", WebhookDeliveryStatus.self)
            let entrupyID = query.text("entrupy_id")
            let limit = query.number("limit", in: ListDeliveries.limits)
            let cursor = query.text("cursor")
            try query.finish()
            return ListDeliveries(
                status: status, entrupyID: entrupyID, limit: limit ?? ListDeliveries.defaultLimit, cursor: cursor)
        }.response()
    }

    @Sendable private func redeliver(_ request: Request, _ context: SimContext) async -> Response {
        let reader = control(request, context)
        return await reader.answer { _ in Redeliver(reader.path("id")) }.response()
    }

    @Sendable private func trigger(_ request: Request, _ context: SimContext) async -> Response {
        await control(request, context).answer(.json) { try TriggerWebhook($0.body) }.response(.accepted)
    }
}
