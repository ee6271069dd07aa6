import EntrupyAPI
import EntrupyStorage
import Simulation

/// `POST /partner/login`: logs in a user of the example backend, which the vendor's sample apps call [S, P].
///
/// The users come from the seed data; tokens last until a reset [D partner-backend].
package struct LogInAtPartner: Operation, Writes {
    let request: PartnerLoginRequest

    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        request = PartnerLoginRequest(username: fields.string("username"), password: fields.string("password"))
        try fields.finish()
    }

    package func perform(_ job: JobContext, as caller: Anyone) throws -> PartnerLoginResponse {
        guard let user = try job.transaction.partnerUser(username: request.username),
            user.password.isIdentical(to: request.password)
        else {
            throw PlatformError.unauthorized("unknown user or wrong password; the seed data's partner_users can log in")
        }
        let token = try job.nextID(.partnerSession)
        try job.transaction.insertPartnerSession(token: token, username: user.username)
        try job.record(.partnerSessionStarted, user.username)
        return PartnerLoginResponse(token: token)
    }
}

/// A user of the example backend, who sends the token from `/partner/login`.
package struct PartnerBackendUser: Authenticated {
    let record: PartnerUserRecord

    package static func identified(by credential: Credential, _ job: JobContext) throws -> Self {
        let token = try Callers.text(of: credential, wanted: "the token from /partner/login")
        guard let user = try job.transaction.partnerUser(token: token) else {
            throw PlatformError.unauthorized("unknown token; log in with POST /partner/login")
        }
        return Self(record: user)
    }
}

/// `POST /partner/authorize-entrupy-sdk-user`: authorizes a user as a real backend would, with the organization's API
/// token and under its rate limit [D partner-backend].
package struct AuthorizeForPartner: Operation, Writes {
    let request: PartnerAuthorizationRequest

    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        request = PartnerAuthorizationRequest(
            sdk_authorization_request: fields.string("sdk_authorization_request"),
            unique_user_id: fields.optionalString("unique_user_id"), email: fields.optionalString("email"),
            first_name: fields.optionalString("first_name"), last_name: fields.optionalString("last_name"))
        try fields.finish()
    }

    package func perform(_ job: JobContext, as caller: PartnerBackendUser) throws -> AuthorizedUser {
        let user = caller.record
        guard let token = try job.transaction.apiToken(organizationID: user.organizationID) else {
            let organization = try job.transaction.organization(id: user.organizationID)?.name ?? "the organization"
            throw PlatformError.forbidden(
                "the user's organization has no API token; give it one in the seed data",
                because: Because(
                    "the user \(user.username) of the example back end belongs to \(organization), which has no API token",
                    "seed", [.seedLoaded], named: organization))
        }
        let partner = try Partner.identified(by: .token(token), job)
        // An empty value counts as absent [D partner-backend].
        let authorization = AuthorizeUserRequest(
            sdk_authorization_request: request.sdk_authorization_request,
            unique_user_id: request.unique_user_id?.nonEmpty ?? user.uniqueUserID,
            email: request.email?.nonEmpty ?? user.email, first_name: request.first_name?.nonEmpty ?? user.firstName,
            last_name: request.last_name?.nonEmpty ?? user.lastName)
        return try AuthorizeUser(authorization).perform(job, as: partner)
    }
}
