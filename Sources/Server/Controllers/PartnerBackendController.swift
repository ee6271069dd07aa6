import EntrupyAPI
import Hummingbird
import Platform

/// The example backend that the vendor's sample apps call (`/partner`).
struct PartnerBackendController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .post("partner/login", use: logIn)
            .post("partner/authorize-entrupy-sdk-user", use: authorize)
    }

    @Sendable private func logIn(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(.json) {
            LogInAtPartner(try PartnerLoginRequest($0.body))
        }.response()
    }

    @Sendable private func authorize(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(.json) {
            AuthorizeForPartner(try PartnerAuthorizationRequest($0.body))
        }.authorizationResponse()
    }
}

extension Completed<AuthorizedUser> {
    /// The signed request, or a 409 whose body contains one too [S].
    func authorizationResponse() -> Response {
        response { authorized in
            guard authorized.conflicts.isEmpty else {
                return ErrorAnswer.response(
                    .userDataConflict(fields: authorized.conflicts, signed: authorized.signed), requestID: requestID)
            }
            return JSONAnswer.response(authorized.signed, status: .ok, requestID: requestID)
        }
    }
}
