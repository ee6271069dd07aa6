import EntrupyAPI
import Hummingbird
import Platform

/// What became of an item, and what its user thinks of that.
struct ResultController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("sdk/results/{entrupy_id}", use: show)
            .get("sdk/results/{entrupy_id}/flag", use: showFlag)
            .put("sdk/results/{entrupy_id}/flag", use: setFlag)
    }

    @Sendable private func show(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = Exchange(request, context, bodies: bodies)
        return await exchange.user { _ in ShowResult(exchange.path("entrupy_id")) }.encodedResponse()
    }

    @Sendable private func showFlag(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = Exchange(request, context, bodies: bodies)
        return await exchange.user { _ in ShowFlag(exchange.path("entrupy_id")) }.response()
    }

    @Sendable private func setFlag(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = Exchange(request, context, bodies: bodies)
        return await exchange.user(.json) {
            SetFlag(exchange.path("entrupy_id"), try SetFlagRequest($0.body))
        }.response()
    }
}
