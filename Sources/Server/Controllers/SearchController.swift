import EntrupyAPI
import Hummingbird
import Platform

/// The search for submitted items, for users.
struct SearchController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .post("sdk/search", use: search)
    }

    @Sendable private func search(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(.optionalJSON) {
            SearchItems(try SearchRequest($0.body))
        }.encodedResponse()
    }
}
