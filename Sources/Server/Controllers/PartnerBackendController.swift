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
        await RequestReader(request, context, bodies: bodies).open(.json) {
            LogInAtPartner(try PartnerLoginRequest($0.body))
        }.response()
    }

    /// Calls the simulator's own authorize-user, as a real backend would: with the organization's API token and under
    /// its rate limit [D partner-backend].
    @Sendable private func authorize(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        let input = await reader.input(.json) { try PartnerAuthorizationRequest($0.body) }
        let prepared = reader.finish(
            await reader.namespace.answer(
                .success(PreparePartnerAuthorization(reader.credential, input)), reader.head))
        guard case .success(let authorization) = prepared.result else {
            return prepared.response { _ in Response(status: .ok) }
        }
        var head = reader.head
        head.requestID = prepared.requestID
        let operation = Result { try AuthorizeUser(authorization.request) }.mapError {
            $0 as? PlatformError ?? .bug("\($0)")
        }
        return reader.finish(await reader.namespace.answer(operation, authorization.credential, head))
            .authorizationResponse()
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
