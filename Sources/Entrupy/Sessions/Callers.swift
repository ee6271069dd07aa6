import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// A customer's backend, which sends its organization's API token.
package struct Partner: Authenticated {
    let organization: OrganizationRecord

    /// Throws if the token is unknown or over its limit [S, P].
    package static func identified(by credential: Credential, _ job: JobContext) throws -> Self {
        let token = try Callers.text(of: credential, wanted: "your organization's API token")
        guard let organization = try job.transaction.organization(apiToken: token) else {
            if try job.transaction.session(token: token) != nil {
                throw PlatformError.unauthorized(
                    "this is a user's session token; /v1 and /v2 take an organization's API token")
            }
            throw PlatformError.unauthorized("unknown API token; send \"Token <t>\" with your organization's API token")
        }
        let limits = job.entrupy.settings.rateLimits
        let limit = limits.apiPerSecond
        if let wait = job.state.limits.wait(.token(token), at: job.now, limit: limit) {
            throw try job.overRateLimit([
                Exceeded("api_per_second", limit!, "request", "a second for an API token", wait)
            ]
            )
        }
        job.state.limits.record(.token(token), at: job.now)
        if limits.showsHeaders, let limit {
            job.noteLimits([job.state.limits.left(.token(token), at: job.now, limit: limit)])
        }
        return Self(organization: organization)
    }
}

/// A user of the SDK with an active session.
package struct SDKUser: Authenticated {
    let id: Int64
    let username: String
    let organization: OrganizationRecord
    let session: SessionRecord
    let limits: EntrupySettings.Limits
    /// The event data that names the user, `{"username"}`, encoded once.
    let eventData: String

    /// Throws if the token is not that of an active session, or the user is over the limit [S].
    package static func identified(by credential: Credential, _ job: JobContext) throws -> Self {
        let token = try Callers.text(
            of: credential, wanted: "the session token from a login", refusal: { .sessionRefused($0) })
        let user = try signedIn(token, job)
        job.note { $0.username = user.username }
        let limit = user.limits.sdkPerSecond
        if let wait = job.state.limits.wait(.user(user.id), at: job.now, limit: limit) {
            throw try job.overRateLimit(
                [Exceeded("sdk_per_second", limit!, "request", "a second for a user", wait)],
                of: job.transaction.user(id: user.id))
        }
        job.state.limits.record(.user(user.id), at: job.now)
        if user.limits.showsHeaders, let limit {
            job.noteLimits([job.state.limits.left(.user(user.id), at: job.now, limit: limit)])
        }
        return user
    }

    private static func signedIn(_ token: String, _ job: JobContext) throws -> Self {
        if let user = job.entrupy.sessions[token] { return user }
        guard let session = try job.transaction.session(token: token) else {
            if try job.transaction.organization(apiToken: token) != nil {
                throw PlatformError.sessionRefused(
                    "this is an organization's API token; /sdk takes the session token from a login")
            }
            throw PlatformError.sessionRefused("unknown session token; log in with POST /sdk/login")
        }
        if let endedAt = session.endedAt {
            let reason = (session.endReason ?? "ended").replacing("_", with: " ")
            // The vendor's header names 403 for sessions that the platform ended [P, D ended-sessions].
            let isEndedByPlatform = ["expired", "revoked"].contains(session.endReason)
            let isForbidden = isEndedByPlatform && job.entrupy.settings.endedSessionStatus == 403
            let username = try job.transaction.user(id: session.userID)?.username ?? "a user"
            if isForbidden {
                job.note(
                    DecidingFact(
                        .setting, "sdk.ended_session_status", "the setting sdk.ended_session_status is 403",
                        otherwise: "with 401 the answer is 401"))
            }
            throw PlatformError.sessionRefused(
                "the session is over (\(reason) at \(endedAt.display)); log in again",
                isForbidden ? .forbidden : .unauthorized,
                because: Because(
                    "the session of \(username) ended at \(endedAt.display) (\(reason)); the setting sdk.ended_session_status is 403",
                    username, [.sessionEnded, .sessionExpired], named: ActiveSession.id(ofToken: token)))
        }
        guard let user = try job.transaction.user(id: session.userID),
            let organization = try job.transaction.organization(id: user.organizationID)
        else { throw PlatformError.bug("session without a user") }
        let caller = Self(
            id: user.id, username: user.username, organization: organization, session: session,
            limits: try Users.limits(user, job), eventData: try StoredJSON.encode(["username": user.username]))
        job.entrupy.keep(caller, token: token)
        return caller
    }
}

enum Callers {
    /// - Parameter refusal: the error with a message.
    static func text(
        of credential: Credential, wanted: String, refusal: (String) -> PlatformError = { .unauthorized($0) }
    ) throws -> String {
        switch credential {
        case .missing: throw refusal("the Authorization header is missing; send \"Token <t>\" with \(wanted)")
        case .malformed(let problem):
            throw refusal("the Authorization header \(problem); send \"Token <t>\" with \(wanted)")
        case .token(let token): return token
        }
    }
}
