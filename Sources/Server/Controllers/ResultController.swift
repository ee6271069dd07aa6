import EntrupyAPI
import Hummingbird
import Platform

/// The results of items, their flags and retakes, for users.
struct ResultController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("sdk/results/{entrupy_id}", use: show)
            .get("sdk/results/{entrupy_id}/flag", use: showFlag)
            .put("sdk/results/{entrupy_id}/flag", use: setFlag)
            .get("sdk/retakes", use: listRetakes)
            .post("sdk/results/{entrupy_id}/retake", use: startRetake)
    }

    @Sendable private func show(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer { _ in ShowResult(reader.path("entrupy_id")) }.encodedResponse()
    }

    @Sendable private func showFlag(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer { _ in ShowFlag(reader.path("entrupy_id")) }.response()
    }

    @Sendable private func listRetakes(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer { _ in ListRetakes() }.response()
    }

    @Sendable private func startRetake(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer { _ in StartRetake(reader.path("entrupy_id")) }.response(.created)
    }

    @Sendable private func setFlag(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer(.json) {
            SetFlag(reader.path("entrupy_id"), try SetFlagRequest($0.body))
        }.response()
    }
}
