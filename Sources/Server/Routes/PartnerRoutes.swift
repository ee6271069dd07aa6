import Entrupy
import EntrupyAPI
import Hummingbird
import Simulation

/// The routes of `/v1` and `/v2`, for a customer's backend.
enum PartnerRoutes {
    static func add(to builder: RouteBuilder, _ bodies: BodyReader) {
        let v1 = Routes(builder, bodies, under: "v1/", .v1())
        let v2 = Routes(builder, bodies, under: "v2/")
        v1.get("health") { _ in CheckHealth() }
        addItems(to: v1)
        addItems(to: v2)
        v2.post("authentications/{entrupy_id}/flag") { try FlagPartnerItem($0) }
        v2.delete("authentications/{entrupy_id}/flag") { try FlagPartnerItem($0.path("entrupy_id"), nil) }
        let item = "authentications/{entrupy_id}"
        v2.get("\(item)/support-messages") { ListSupportMessages($0.path("entrupy_id")) }
        v2.post("\(item)/support-messages", status: .created) {
            AnswerSupport($0.path("entrupy_id"), message: try $0.supportAnswer())
        }
        v2.get("\(item)/certificate/transfers") { ListCertificateTransfers($0.path("entrupy_id")) }
        v2.post("\(item)/certificate/transfers", status: .created) { try StartCertificateTransfer($0) }
        v2.post("config/authentications", body: .optionalJSON) { _ in FetchPartnerConfiguration() }
        v2.post("catalog/brands", body: .optionalJSON) { _ in ListBrands() }
        // Webhooks belong to `/v1` from this minor version on [P].
        addWebhooks(to: Routes(builder, bodies, under: "v1/", .v1(from: 3)))
        addWebhooks(to: v2)
    }

    private static func addItems(to routes: Routes) {
        routes.on(.post, "integrations/authorize-user", .json, { try AuthorizeUser($0) }) {
            $0.authorizationResponse()
        }
        routes.get("authentications/{entrupy_id}") {
            ShowPartnerItem($0.path("entrupy_id"), $0.version, try PartnerParts($0))
        }
        routes.get("lookup/authentications/{lookup_value}") {
            LookUpItem($0.path("lookup_value"), $0.version, try PartnerParts($0))
        }
        routes.post("search/authentications", body: .optionalJSON) {
            SearchPartnerItems(try SearchRequest(partner: $0.fields, $0.version), $0.version)
        }
    }

    private static func addWebhooks(to routes: Routes) {
        routes.post("webhooks", status: .created) { Subscribe(try SubscriptionRequest($0), $0.version) }
        routes.get("webhooks") { _ in ListSubscriptions() }
        routes.get("webhooks/{id}") { ShowSubscription($0.path("id")) }
        routes.patch("webhooks/{id}") {
            PatchSubscription(
                $0.path("id"), try SubscriptionRequest($0), forgetsUsername: $0.body["username"] == .null)
        }
        routes.post("webhooks/{id}/verify", body: .ignored) { VerifySubscription($0.path("id")) }
        routes.delete("webhooks/{id}") { Unsubscribe($0.path("id")) }
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

extension AuthorizeUser {
    fileprivate init(_ request: RequestReader) throws {
        var fields = request.fields
        let wanted = AuthorizeUserRequest(
            sdk_authorization_request: fields.string("sdk_authorization_request"),
            unique_user_id: fields.string("unique_user_id"),
            email: fields.optionalString("email"), first_name: fields.optionalString("first_name"),
            last_name: fields.optionalString("last_name"))
        try fields.finish()
        try self.init(wanted)
    }
}

extension AuthorizeForPartner {
    fileprivate init(_ request: RequestReader) throws {
        var fields = request.fields
        let wanted = PartnerAuthorizationRequest(
            sdk_authorization_request: fields.string("sdk_authorization_request"),
            unique_user_id: fields.optionalString("unique_user_id"), email: fields.optionalString("email"),
            first_name: fields.optionalString("first_name"), last_name: fields.optionalString("last_name"))
        try fields.finish()
        self.init(wanted)
    }
}

extension LogInAtPartner {
    fileprivate init(_ request: RequestReader) throws {
        var fields = request.fields
        let wanted = PartnerLoginRequest(username: fields.string("username"), password: fields.string("password"))
        try fields.finish()
        self.init(wanted)
    }
}

extension PartnerParts {
    /// The optional parts that a v2 query asks for. v1 has no such parameters and ignores them.
    fileprivate init(_ request: RequestReader) throws {
        guard request.version == .v2 else {
            self.init()
            return
        }
        var query = request.query
        let images = query.optionalBool("include_images") ?? false
        let catalog = query.optionalBool("include_catalog") ?? false
        try query.finish()
        self.init(images: images, catalog: catalog)
    }
}

extension FlagPartnerItem {
    fileprivate init(_ request: RequestReader) throws {
        var fields = request.fields
        let wanted = PartnerFlagRequest(reason: fields.string("reason"), comments: fields.optionalString("comments"))
        try fields.finish()
        try self.init(request.path("entrupy_id"), wanted)
    }
}

extension RequestReader {
    /// The text of an answer to support.
    func supportAnswer() throws -> String {
        var fields = self.fields
        fields.require("message")
        let message = fields.optionalString("message")
        if let message, let problem = SupportAnswer.problem(message) { fields.report("message", problem) }
        try fields.finish()
        return message ?? ""
    }
}

extension StartCertificateTransfer {
    fileprivate init(_ request: RequestReader) throws {
        var fields = request.fields
        fields.require("to")
        guard fields.value("to")?.members != nil else {
            _ = fields.members("to")
            try fields.finish()
            throw PlatformError.invalid(field: "to", "must be an object")
        }
        var holder = fields.object("to")
        holder.require("email")
        let (email, name) = (holder.optionalString("email"), holder.given("name"))
        if let email, let problem = CertificateHolder.problem(email: email) { holder.report("email", problem) }
        if let name, let problem = CertificateHolder.problem(name: name) { holder.report("name", problem) }
        try fields.finish()
        self.init(request.path("entrupy_id"), to: .init(email: email ?? "", name: name))
    }
}

extension SubscriptionRequest {
    /// The members that a body can have.
    static let members = ["url", "secret_key", "events", "channel", "username", "format", "signature"]

    init(_ fields: inout FieldReader) {
        self.init(
            url: fields.optionalString("url"), secret_key: fields.optionalString("secret_key"),
            events: fields.texts("events"),
            channel: fields.optionalString("channel"), username: fields.optionalString("username"),
            format: fields.word("format", WebhookFormat.self),
            signature: fields.word("signature", WebhookSignatureForm.self))
    }

    fileprivate init(_ request: RequestReader) throws {
        var fields = request.fields
        self.init(&fields)
        try fields.finish()
    }
}
