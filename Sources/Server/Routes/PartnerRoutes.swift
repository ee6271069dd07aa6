import Entrupy
import EntrupyAPI
import Hummingbird
import Simulation

/// The routes of `/v1` and `/v2`, for a customer's backend. Their successes are 200, 201 or 204 [D success-statuses].
enum PartnerRoutes {
    static func add(to builder: RouteBuilder, _ bodies: BodyReader) {
        let v1 = Routes(builder: builder, bodies: bodies, prefix: "v1/", minVersion: 0)
        let v2 = Routes(builder: builder, bodies: bodies, prefix: "v2/")
        v1.get("health") { _ in CheckHealth() }
        addItems(to: v1)
        addItems(to: v2)
        v2.post("authentications/{entrupy_id}/flag") { try FlagPartnerItem($0) }
        v2.on(
            .delete, "authentications/{entrupy_id}/flag", .ignored, { try FlagPartnerItem($0.path("entrupy_id"), nil) }
        ) {
            $0.encodedResponse()
        }
        let item = "authentications/{entrupy_id}"
        v2.get("\(item)/support-messages") { ByID<ListSupportMessages<Partner>>($0.path("entrupy_id")) }
        v2.post("\(item)/support-messages", status: .created) { try AnswerSupport<Partner>($0) }
        v2.get("\(item)/certificate/transfers") { ByID<ListCertificateTransfers>($0.path("entrupy_id")) }
        v2.post("\(item)/certificate/transfers", status: .created) { try StartCertificateTransfer($0) }
        v2.post("config/authentications", body: .optionalJSON) { _ in FetchPartnerConfiguration() }
        v2.post("catalog/brands", body: .optionalJSON) { _ in ListBrands() }
        // Webhooks belong to `/v1` from this minor version on [P].
        addWebhooks(to: Routes(builder: builder, bodies: bodies, prefix: "v1/", minVersion: 3))
        addWebhooks(to: v2)
    }

    private static func addItems(to routes: Routes) {
        routes.on(.post, "integrations/authorize-user", .json, { try AuthorizeUser($0) }) {
            $0.authorizationResponse()
        }
        routes.get("authentications/{entrupy_id}") {
            ShowPartnerItem($0.path("entrupy_id"), $0.version, try PartnerParts($0, $0.version))
        }
        routes.get("lookup/authentications/{lookup_value}") {
            LookUpItem($0.path("lookup_value"), $0.version, try PartnerParts($0, $0.version))
        }
        routes.post("search/authentications", body: .optionalJSON) {
            SearchPartnerItems(try SearchRequest(partner: $0, $0.version), $0.version)
        }
    }

    private static func addWebhooks(to routes: Routes) {
        routes.post("webhooks", status: .created) { Subscribe(try SubscriptionRequest($0, isNew: true), $0.version) }
        routes.get("webhooks") { _ in ListSubscriptions() }
        routes.get("webhooks/{id}") { ByID<ShowSubscription>($0.path("id")) }
        routes.patch("webhooks/{id}") { try PatchSubscription($0) }
        routes.post("webhooks/{id}/verify", body: .ignored) { ByID<VerifySubscription>($0.path("id")) }
        routes.delete("webhooks/{id}") { ByID<Unsubscribe>($0.path("id")) }
    }
}

/// The routes of the example backend that the vendor's sample apps call.
enum PartnerBackendRoutes {
    static func add(to routes: Routes) {
        routes.post("partner/login") { try LogInAtPartner($0) }
        routes.on(.post, "partner/authorize-entrupy-sdk-user", .json, { try AuthorizeForPartner($0) }) {
            $0.authorizationResponse()
        }
    }
}

extension Completed<AuthorizedUser> {
    /// The signed request, or a 409 whose body contains one too [S].
    fileprivate func authorizationResponse() -> Answer {
        map { authorized in
            if let conflict = authorized.conflict { throw conflict }
            return authorized.signed
        }.response()
    }
}
