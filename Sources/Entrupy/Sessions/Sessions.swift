import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// `POST /sdk/login`: exchanges a signed request for a session token [S].
package struct Login: Operation, Writes {
    let request: LoginRequest

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    init(_ request: LoginRequest) throws {
        self.request = request
        var problems: [ErrorDetail] = []
        if request.signed_authorization_request.isEmpty {
            problems.add("signed_authorization_request", "must not be empty")
        }
        if let bundle = request.bundle_id {
            problems.add("bundle_id", bundle.isEmpty ? "must not be empty" : TextRules.tooLong(bundle, bytes: 255))
        }
        try problems.check()
    }

    /// The username in a signed request whose signature is valid, even if it was used or has expired [D fault-rules].
    package static let findUsername: (@Sendable (Login, JobContext) throws -> String?)? = { login, job in
        guard
            let claims = try? SignedRequests.claims(
                of: login.request.signed_authorization_request, signedWith: job.entrupy.signingKey),
            let signed = try job.transaction.signedRequest(id: claims.jti)
        else { return nil }
        return try job.transaction.user(id: signed.userID)?.username
    }

    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        if fields.has("password"), !fields.has("signed_authorization_request") {
            fields.report(
                "signed_authorization_request",
                "is missing: the SDK logs in with what the back end authorized; a username and a password are for POST /partner/login"
            )
            try fields.finish()
        }
        let wanted = LoginRequest(
            signed_authorization_request: fields.string("signed_authorization_request"),
            bundle_id: fields.optionalString("bundle_id"))
        try fields.finish()
        try self.init(wanted)
    }

    package func perform(_ job: JobContext, as caller: Anyone) throws -> LoginResponse {
        let claims = try SignedRequests.claims(
            of: request.signed_authorization_request, signedWith: job.entrupy.signingKey)
        guard let signed = try job.transaction.signedRequest(id: claims.jti),
            let user = try job.transaction.user(id: signed.userID),
            let organization = try job.transaction.organization(id: user.organizationID)
        else {
            throw PlatformError.unauthorized(
                "signed_authorization_request is unknown here; it was issued before a reset")
        }
        job.note { $0.username = user.username }
        guard job.now < signed.expiresAt else {
            LoginLimits.countFailed(user, job)
            job.note(
                DecidingFact(
                    .setting, "signed_request_lifetime",
                    "issued at \(signed.issuedAt.display), expired at \(signed.expiresAt.display)",
                    otherwise: "a login before \(signed.expiresAt.display), or a longer signed_request_lifetime"))
            throw PlatformError.unauthorized(
                "signed_authorization_request expired at \(signed.expiresAt.display); authorize the user again")
        }
        try LoginLimits.check(user, job)
        try checkPermission(signed, organization, job)

        let session = SessionRecord(
            token: try job.nextID(.session), userID: user.id, bundleID: signed.bundleID ?? request.bundle_id,
            createdAt: job.now,
            softExpiresAt: max(job.now, job.now + job.entrupy.settings.sessionLifetime - Self.softMargin),
            expiresAt: job.now + job.entrupy.settings.sessionLifetime)
        try job.transaction.useSignedRequest(id: signed.id, at: job.now)
        try job.transaction.insert(session)
        try LoginLimits.record(user, job)
        try job.schedule(.sessionExpiry, session.token, at: session.expiresAt)
        var data: JSONObject = [
            "session_id": .string(ActiveSession.id(ofToken: session.token)), "signed_request": .string(signed.id),
        ]
        data["bundle_id"] = session.bundleID.map { .string($0) }
        try job.record(.sessionStarted, user.username, data)
        return LoginResponse(
            token: session.token, expiration_time: session.expiresAt.epoch,
            soft_expiration_time: session.softExpiresAt.epoch, username: user.username)
    }

    /// The time before a session's end at which its soft expiry lies [P].
    static let softMargin = Span(microseconds: 30 * 60 * 1_000_000)

    /// Throws if the signed request was used before, or if a bundle is not registered to the organization [S].
    private func checkPermission(
        _ signed: SignedRequestRecord, _ organization: OrganizationRecord, _ job: JobContext
    ) throws {
        if let usedAt = signed.usedAt {
            throw PlatformError.forbidden(
                "signed_authorization_request was used before, at \(usedAt.display); it is good for one login",
                because: Because(
                    "the signed request was issued at \(signed.issuedAt.display) and used for a login at \(usedAt.display)",
                    try job.transaction.user(id: signed.userID)?.username ?? "", [.sessionStarted], named: signed.id))
        }
        func checkRegistered(_ bundle: String, _ details: [ErrorDetail] = []) throws {
            guard try !job.transaction.hasBundle(bundle, organizationID: organization.id) else { return }
            throw PlatformError.forbidden(
                "the bundle \(bundle) is not registered to \(organization.name): add it to the organization's bundles in the seed data",
                details,
                because: Because(
                    "the bundles of \(organization.name) in the seed data do not have \(bundle.excerpt)", "seed",
                    [.seedLoaded], named: organization.name))
        }
        if let named = request.bundle_id {
            if let bundle = signed.bundleID, !bundle.isIdentical(to: named) {
                throw PlatformError.forbidden(
                    "the login names the bundle \(named), the signed request \(bundle)",
                    [ErrorDetail("bundle_id", "differs from the signed request's")],
                    because:
                        "the back end's sdk_authorization_request named \(bundle.excerpt), the login \(named.excerpt)")
            }
            try checkRegistered(named, [ErrorDetail("bundle_id", "is not registered")])
        }
        if let bundle = signed.bundleID { try checkRegistered(bundle) }
    }
}

/// The limits of successful logins: 5 a minute and 100 a day for each user. Failed logins do not count [S].
///
/// A login over the limit does not consume the signed request [D login-limit].
enum LoginLimits {
    /// Checks the login limits and the user's request limit per second. The request is counted at once, even if the
    /// login fails later.
    static func check(_ user: UserRecord, _ job: JobContext) throws {
        let limits = try Users.limits(user, job)
        var exceeded: [Exceeded] = []
        if let wait = job.state.limits.wait(.user(user.id), at: job.now, limit: limits.sdkPerSecond) {
            exceeded.append(Exceeded("sdk_per_second", limits.sdkPerSecond!, "request", "a second for a user", wait))
        }
        if limits.loginsPerMinute != nil || limits.loginsPerDay != nil {
            let logins = try job.transaction.logins(userID: user.id, after: job.now - .day)
            for (limit, length, name) in [
                (limits.loginsPerMinute, Span.minute, "minute"), (limits.loginsPerDay, Span.day, "day"),
            ] {
                var window = SlidingWindow(length: length, times: logins)
                if let limit, let wait = window.wait(at: job.now, limit: limit) {
                    exceeded.append(
                        Exceeded("logins_per_\(name)", limit, "successful login", "a \(name) for a user", wait))
                }
            }
        }
        guard exceeded.isEmpty else { throw try job.overRateLimit(exceeded, of: user) }
        job.state.limits.record(.user(user.id), at: job.now)
        try note(limits, user, job)
    }

    /// Notes how much of the user's limits is left.
    private static func note(_ limits: EntrupySettings.Limits, _ user: UserRecord, _ job: JobContext) throws {
        guard limits.showsHeaders else { return }
        func ofLogins() throws -> [LimitLeft] {
            try [(limits.loginsPerMinute, Span.minute), (limits.loginsPerDay, Span.day)].compactMap { limit, length in
                guard let limit else { return nil }
                var window = SlidingWindow(
                    length: length, times: try job.transaction.logins(userID: user.id, after: job.now - length))
                return window.left(at: job.now, limit: limit)
            }
        }
        let ofRequests = limits.sdkPerSecond.map { [job.state.limits.left(.user(user.id), at: job.now, limit: $0)] }
        job.noteLimits((ofRequests ?? []) + (try ofLogins()))
    }

    /// Counts a failed login with a valid but expired signed request as a request of the user, if the limit allows.
    static func countFailed(_ user: UserRecord, _ job: JobContext) {
        guard let limits = try? Users.limits(user, job),
            job.state.limits.wait(.user(user.id), at: job.now, limit: limits.sdkPerSecond) == nil
        else { return }
        job.state.limits.record(.user(user.id), at: job.now)
    }

    /// Counts a successful login. Writes.
    static func record(_ user: UserRecord, _ job: JobContext) throws {
        try job.transaction.forgetLogins(userID: user.id, upTo: job.now - .day)
        try job.transaction.insertLogin(userID: user.id, at: job.now)
        try note(Users.limits(user, job), user, job)
    }
}

enum Sessions {
    /// Expires a session. Writes.
    static func expire(token: String, _ job: JobContext) throws {
        try end(token: token, reason: "expired", .sessionExpired, job)
    }

    /// Ends an active session, for a reason that later 401 answers give. Writes.
    static func end(token: String, reason: String, _ kind: EventKind, _ job: JobContext) throws {
        guard let session = try job.transaction.session(token: token), session.endedAt == nil,
            let user = try job.transaction.user(id: session.userID)
        else { return }
        try job.transaction.endSession(token: token, at: job.now, reason: reason)
        try job.unschedule(.sessionExpiry, token, at: session.expiresAt)
        try job.record(
            kind, user.username,
            ["reason": .string(reason), "session_id": .string(ActiveSession.id(ofToken: token))])
        job.entrupy.forgetSession(token: token)
    }
}

/// `POST /sdk/logout`: ends this session only [S].
package struct Logout: Operation, Writes {
    package init() {}

    package func perform(_ job: JobContext, as user: SDKUser) throws {
        try Sessions.end(token: user.session.token, reason: "logged_out", .sessionEnded, job)
    }
}

/// `GET /sdk/session`.
package struct ShowSession: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as user: SDKUser) -> SessionInfo {
        SessionInfo(
            username: user.username, organization: user.organization.name, bundle_id: user.session.bundleID,
            created_at: user.session.createdAt.epoch, expiration_time: user.session.expiresAt.epoch,
            soft_expiration_time: user.session.softExpiresAt.epoch)
    }
}
