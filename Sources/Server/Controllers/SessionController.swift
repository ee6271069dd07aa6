import EntrupyAPI
import Hummingbird
import Platform

/// Login, logout, the session and the client's configuration.
struct SessionController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .post("sdk/login", use: login)
            .post("login", use: login)
            .post("sdk/logout", use: logout)
            .get("sdk/session", use: session)
            .get("sdk/config", use: configuration)
    }

    @Sendable private func login(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(.json) { try Login(LoginRequest($0.body)) }
            .response()
    }

    @Sendable private func logout(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer { _ in Logout() }.emptyResponse()
    }

    @Sendable private func session(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer { _ in ShowSession() }.response()
    }

    @Sendable private func configuration(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer { input in
            var query = input.query
            let type = query.word("config_type", ConfigType.self)
            try query.finish()
            return FetchConfiguration(type ?? .production)
        }.response()
    }
}
