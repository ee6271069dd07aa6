import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// The result of an authorization. A conflict is not a failure: its signed request is valid [S].
package struct AuthorizedUser: Sendable {
    package let signed: AuthorizeUserResponse
    /// The refusal, which has the signed request; `nil` unless parameters differ from the values first set.
    package let conflict: PlatformError?
}

/// `POST /v1|v2/integrations/authorize-user`: registers the user and signs the app's login request [S].
package struct AuthorizeUser: Operation, Writes {
    let request: AuthorizeUserRequest

    /// The longest `sdk_authorization_request`, in UTF-8 bytes [D sdk-request-size].
    static let maxRequestBytes = 10_000
    /// The longest email and names, in UTF-8 bytes [S].
    static let maxNameBytes = 254

    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every parameter that is incorrect.
    init(_ request: AuthorizeUserRequest) throws {
        // An empty value counts as absent [D empty-is-absent].
        var request = request
        request.email = request.email?.nonEmpty
        request.first_name = request.first_name?.nonEmpty
        request.last_name = request.last_name?.nonEmpty
        self.request = request

        let text = request.sdk_authorization_request
        var problems: [ErrorDetail] = []
        problems.add(
            "sdk_authorization_request",
            text.isEmpty ? "must not be empty" : TextRules.tooLong(text, bytes: Self.maxRequestBytes))
        problems.add("unique_user_id", TextRules.uniqueUserIDProblem(request.unique_user_id))
        problems.add("email", request.email.flatMap(TextRules.emailProblem))
        problems.add("first_name", request.first_name.flatMap { TextRules.tooLong($0, bytes: Self.maxNameBytes) })
        problems.add("last_name", request.last_name.flatMap { TextRules.tooLong($0, bytes: Self.maxNameBytes) })
        try problems.check()
    }

    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        let wanted = AuthorizeUserRequest(
            sdk_authorization_request: fields.string("sdk_authorization_request"),
            unique_user_id: fields.string("unique_user_id"), email: fields.optionalString("email"),
            first_name: fields.optionalString("first_name"), last_name: fields.optionalString("last_name"))
        try fields.finish()
        try self.init(wanted)
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> AuthorizedUser {
        let username = Username.of(request.unique_user_id, in: partner.organization.name)
        let known = try job.transaction.user(username: username)
        if request.email == nil, known?.email == nil {
            throw PlatformError.invalid(field: "email", "is required until the user has one")
        }
        let conflicts = known.map { self.conflicts($0) } ?? []
        let userID: Int64
        if let known {
            userID = known.id
            if conflicts.isEmpty { try complete(known, job) }
        } else {
            userID = try job.transaction.insertUser(
                organizationID: partner.organization.id, username: username, uniqueUserID: request.unique_user_id,
                email: request.email, firstName: request.first_name, lastName: request.last_name, isTestUser: false,
                createdAt: job.now)
            try job.record(.userCreated, username)
        }
        let signed = AuthorizeUserResponse(
            signed_authorization_request: try sign(userID, username, for: partner.organization.name, job),
            username: username)
        guard !conflicts.isEmpty else { return AuthorizedUser(signed: signed, conflict: nil) }
        let facts = conflicts.map { "\($0.field) \"\($0.first.excerpt)\", this request gives \"\($0.given.excerpt)\"" }
        return AuthorizedUser(
            signed: signed,
            conflict: .userDataConflict(
                fields: conflicts.map(\.field), signed: signed,
                because: Because(
                    "\(username) was first authorized with \(facts.joined(separator: "; "))", username,
                    [.userCreated, .userUpdated])))
    }

    /// The given parameters that differ from the values first set [S].
    private func conflicts(_ user: UserRecord) -> [(field: String, given: String, first: String)] {
        let pairs = [
            ("email", request.email, user.email), ("first_name", request.first_name, user.firstName),
            ("last_name", request.last_name, user.lastName),
        ]
        return pairs.compactMap { field, given, first in
            guard let given, let first, !given.isIdentical(to: first) else { return nil }
            return (field, given, first)
        }
    }

    /// Sets values that are given for the first time [D late-names]. Writes.
    private func complete(_ user: UserRecord, _ job: JobContext) throws {
        var complete = user
        complete.email = user.email ?? request.email
        complete.firstName = user.firstName ?? request.first_name
        complete.lastName = user.lastName ?? request.last_name
        if complete != user { try job.transaction.updateUser(complete) }
    }

    private func sign(_ userID: Int64, _ username: String, for issuer: String, _ job: JobContext) throws -> String {
        let bundleID = SignedRequests.bundleID(inSDKRequest: request.sdk_authorization_request)
        let id = try job.nextID(.signedRequest)
        let expiresAt = job.now + job.entrupy.settings.signedRequestLifetime
        try job.transaction.insert(
            SignedRequestRecord(id: id, userID: userID, bundleID: bundleID, issuedAt: job.now, expiresAt: expiresAt))
        return try SignedRequests.sign(
            SignedRequestClaims(
                jti: id, sub: username, iss: issuer, bundle_id: bundleID, iat: job.now.microseconds / 1_000_000,
                exp: (expiresAt.microseconds + 999_999) / 1_000_000),
            with: job.entrupy.signingKey)
    }
}

/// `GET /v1/health` [P].
package struct CheckHealth: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as partner: Partner) -> Health { Health(status: "ok") }
}
