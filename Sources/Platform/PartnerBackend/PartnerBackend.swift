import EntrupyAPI
import Storage

/// `POST /partner/login`: logs in a user of the example backend, which the vendor's sample apps call [S, P].
///
/// The users come from the seed data; tokens last until a reset [D partner-backend].
package struct LogInAtPartner: OpenOperation {
    package static let access = Access.writes
    let request: PartnerLoginRequest

    package init(_ request: PartnerLoginRequest) {
        self.request = request
    }

    package func perform(_ job: JobContext) throws -> PartnerLoginResponse {
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

/// A request to authorize-user that the example backend makes for one of its users.
package struct PartnerAuthorization: Sendable {
    package let credential: Credential
    package let request: AuthorizeUserRequest
}

/// `POST /partner/authorize-entrupy-sdk-user`: identifies the caller and prepares the backend's request to
/// authorize-user.
package struct PreparePartnerAuthorization: OpenOperation {
    package static let access = Access.reads
    let credential: Credential
    let request: Result<PartnerAuthorizationRequest, PlatformError>

    /// - Parameter request: the parsed request or its error, which is reported only after the token has been checked.
    package init(_ credential: Credential, _ request: Result<PartnerAuthorizationRequest, PlatformError>) {
        self.credential = credential
        self.request = request
    }

    package func perform(_ job: JobContext) throws -> PartnerAuthorization {
        let token = try Callers.text(of: credential, wanted: "the token from /partner/login")
        guard let user = try job.transaction.partnerUser(token: token) else {
            throw PlatformError.unauthorized("unknown token; log in with POST /partner/login")
        }
        let request = try request.get()
        guard let apiToken = try job.transaction.apiToken(organizationID: user.organizationID) else {
            throw PlatformError.forbidden("the user's organization has no API token; give it one in the seed data")
        }
        return PartnerAuthorization(
            credential: .token(apiToken),
            request: AuthorizeUserRequest(
                sdk_authorization_request: request.sdk_authorization_request,
                unique_user_id: given(request.unique_user_id) ?? user.uniqueUserID,
                email: given(request.email) ?? user.email, first_name: given(request.first_name) ?? user.firstName,
                last_name: given(request.last_name) ?? user.lastName))
    }

    /// An empty value counts as absent [D partner-backend].
    private func given(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : $0 }
    }
}
