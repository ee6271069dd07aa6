import EntrupyAPI
import Hummingbird
import Platform

/// The routes of `/v1` and `/v2` that register users, for a customer's backend.
struct AuthorizationController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .post("v1/integrations/authorize-user") { await authorize($0, $1, .v1()) }
            .post("v2/integrations/authorize-user") { await authorize($0, $1, .v2) }
            .get("v1/health", use: health)
    }

    @Sendable private func authorize(_ request: Request, _ context: SimContext, _ surface: PartnerSurface) async
        -> Response
    {
        let completed = await RequestReader(request, context, bodies: bodies).answer(.json, on: surface) {
            try AuthorizeUser(AuthorizeUserRequest($0.body))
        }
        return completed.authorizationResponse()
    }

    @Sendable private func health(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(on: .v1()) { _ in CheckHealth() }.response()
    }
}
