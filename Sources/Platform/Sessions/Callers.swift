import EntrupyAPI
import Storage

/// Who is calling: token first, then that caller's limit.
enum Callers {
    /// The organization whose API token this is, where its limit allows one more request [S, P].
    static func organization(_ credential: Credential, _ visit: Visit) throws -> OrganizationRecord {
        let token = try text(of: credential, wanted: "your organization's API token")
        guard let organization = try visit.transaction.organization(apiToken: token) else {
            if try visit.transaction.session(token: token) != nil {
                throw PlatformError.unauthorized(
                    "this is a user's session token; /v1 and /v2 take an organization's API token")
            }
            throw PlatformError.unauthorized("unknown API token")
        }
        let limit = visit.settings.rateLimits.apiPerSecond
        if let wait = visit.world.limits.tokenWait(token, at: visit.now, limit: limit) {
            throw visit.overLimit([Exceeded("api_per_second", "\(limit!) requests a second for an API token", wait)])
        }
        visit.world.limits.recordToken(token, at: visit.now)
        return organization
    }

    /// The user whose living session this is, where the user's limit allows one more request [S].
    static func user(_ credential: Credential, _ visit: Visit) throws -> SignedInUser {
        let token = try text(of: credential, wanted: "the session token a login answered")
        let user = try signedIn(token, visit)
        visit.trace?.note { $0.username = user.username }
        let limit = user.limits.sdkPerSecond
        if let wait = visit.world.limits.userWait(user.id, at: visit.now, limit: limit) {
            throw visit.overLimit([Exceeded("sdk_per_second", "\(limit!) requests a second for a user", wait)])
        }
        visit.world.limits.recordUser(user.id, at: visit.now)
        return user
    }

    /// The user whose session a credential is, living or not; nil if it is none.
    static func username(_ credential: Credential, _ visit: Visit) throws -> String? {
        guard case .token(let token) = credential else { return nil }
        if let user = visit.world.sessions[token] { return user.username }
        guard let session = try visit.transaction.session(token: token) else { return nil }
        return try visit.transaction.user(id: session.userID)?.username
    }

    static func text(of credential: Credential, wanted: String) throws -> String {
        switch credential {
        case .missing:
            throw PlatformError.unauthorized("the Authorization header is missing; send \"Token <t>\" with \(wanted)")
        case .malformed(let problem):
            throw PlatformError.unauthorized("the Authorization header \(problem); send \"Token <t>\" with \(wanted)")
        case .token(let token):
            return token
        }
    }

    private static func signedIn(_ token: String, _ visit: Visit) throws -> SignedInUser {
        if let user = visit.world.sessions[token] { return user }
        guard let session = try visit.transaction.session(token: token) else {
            if try visit.transaction.organization(apiToken: token) != nil {
                throw PlatformError.unauthorized(
                    "this is an organization's API token; /sdk takes the session token a login answered")
            }
            throw PlatformError.unauthorized("unknown session token; log in with POST /sdk/login")
        }
        if let endedAt = session.endedAt {
            let reason = (session.endReason ?? "ended").replacing("_", with: " ")
            throw PlatformError.unauthorized("the session is over (\(reason) at \(endedAt.display)); log in again")
        }
        guard let user = try visit.transaction.user(id: session.userID),
            let organization = try visit.transaction.organization(id: user.organizationID)
        else { throw PlatformError.bug("session without a user") }
        let caller = SignedInUser(
            id: user.id, username: user.username, organization: organization, session: session,
            limits: try Users.limits(user, visit),
            eventData: try StoredJSON.encode(["username": user.username]))
        visit.world.sessions[token] = caller
        return caller
    }
}
