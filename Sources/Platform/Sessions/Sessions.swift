import EntrupyAPI
import Storage

/// `POST /sdk/login`: a signed request for a session token [S].
package struct Login: OpenOperation {
    package static let access = Access.writes
    let request: LoginRequest

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    package init(_ request: LoginRequest) throws {
        self.request = request
        var problems: [ErrorDetail] = []
        if request.signed_authorization_request.isEmpty {
            problems.append(ErrorDetail("signed_authorization_request", "must not be empty"))
        }
        if let bundle = request.bundle_id {
            if let problem = bundle.isEmpty ? "must not be empty" : TextRules.tooLong(bundle, bytes: 255) {
                problems.append(ErrorDetail("bundle_id", problem))
            }
        }
        guard problems.isEmpty else { throw PlatformError.invalid(problems) }
    }

    /// The user whose signed request it is, once its signature is verified; also of one that was used or has expired [D].
    package static func username(
        of input: Result<Login, PlatformError>, _ credential: Credential, _ job: JobContext
    ) throws -> String? {
        guard case .success(let login) = input,
            let claims = try? SignedRequests.claims(
                of: login.request.signed_authorization_request, signedWith: job.state.signingKey),
            let signed = try job.transaction.signedRequest(id: claims.jti)
        else { return nil }
        return try job.transaction.user(id: signed.userID)?.username
    }

    package func perform(_ job: JobContext) throws -> LoginResponse {
        let claims = try SignedRequests.claims(
            of: request.signed_authorization_request, signedWith: job.state.signingKey)
        guard let signed = try job.transaction.signedRequest(id: claims.jti),
            let user = try job.transaction.user(id: signed.userID),
            let organization = try job.transaction.organization(id: user.organizationID)
        else {
            throw PlatformError.unauthorized(
                "signed_authorization_request is unknown here; it was issued before a reset")
        }
        job.trace?.note { $0.username = user.username }
        guard job.now < signed.expiresAt else {
            LoginLimits.countFailed(user, job)
            throw PlatformError.unauthorized(
                "signed_authorization_request expired at \(signed.expiresAt.display); authorize the user again")
        }
        try LoginLimits.check(user, job)
        try checkPermission(signed, organization, job)

        let session = SessionRecord(
            token: try job.nextID(.session), userID: user.id, bundleID: signed.bundleID ?? request.bundle_id,
            createdAt: job.now,
            softExpiresAt: max(job.now, job.now + job.settings.sessionLifetime - Self.softMargin),
            expiresAt: job.now + job.settings.sessionLifetime)
        try job.transaction.useSignedRequest(id: signed.id, at: job.now)
        try job.transaction.insertSession(session)
        try LoginLimits.record(user, job)
        try job.schedule(.sessionExpiry, session.token, at: session.expiresAt)
        try job.record(.sessionStarted, user.username, session.bundleID.map { ["bundle_id": .string($0)] } ?? [:])
        return LoginResponse(
            token: session.token, expiration_time: session.expiresAt.epoch,
            soft_expiration_time: session.softExpiresAt.epoch, username: user.username)
    }

    /// How long before its end a session says that it is about to end [P].
    static let softMargin = Span(microseconds: 30 * 60 * 1_000_000)

    /// Used before, or a bundle that is not the organization's [S].
    private func checkPermission(
        _ signed: SignedRequestRecord, _ organization: OrganizationRecord, _ job: JobContext
    ) throws {
        if let usedAt = signed.usedAt {
            throw PlatformError.forbidden(
                "signed_authorization_request was used before, at \(usedAt.display); it is good for one login")
        }
        if let named = request.bundle_id {
            if let bundle = signed.bundleID, !bundle.isIdentical(to: named) {
                throw PlatformError.forbidden(
                    "the login names the bundle \(named), the signed request \(bundle)",
                    [ErrorDetail("bundle_id", "differs from the signed request's")])
            }
            guard try job.transaction.hasBundle(named, organizationID: organization.id) else {
                throw PlatformError.forbidden(
                    "the bundle \(named) is not registered to \(organization.name)",
                    [ErrorDetail("bundle_id", "is not registered")])
            }
        }
        if let bundle = signed.bundleID, try !job.transaction.hasBundle(bundle, organizationID: organization.id) {
            throw PlatformError.forbidden("the bundle \(bundle) is not registered to \(organization.name)")
        }
    }
}

/// How often a user may log in successfully: 5 times a minute, 100 times a day; failed logins are free [S].
enum LoginLimits {
    /// Checks the windows of a login, and the user's requests of a second, which a login with a good signature is one
    /// of; that it happened counts in the latter at once.
    static func check(_ user: UserRecord, _ job: JobContext) throws {
        let limits = try Users.limits(user, job)
        var exceeded: [Exceeded] = []
        if let wait = job.state.limits.userWait(user.id, at: job.now, limit: limits.sdkPerSecond) {
            exceeded.append(
                Exceeded("sdk_per_second", "\(limits.sdkPerSecond!) requests a second for a user", wait))
        }
        if limits.loginsPerMinute != nil || limits.loginsPerDay != nil {
            let logins = try job.transaction.logins(userID: user.id, after: job.now - .day)
            for (limit, length, name) in [
                (limits.loginsPerMinute, Span.minute, "minute"),
                (limits.loginsPerDay, Span.day, "day"),
            ] {
                var window = SlidingWindow(length: length, times: logins)
                if let limit, let wait = window.wait(at: job.now, limit: limit) {
                    exceeded.append(
                        Exceeded("logins_per_\(name)", "\(limit) successful logins a \(name) for a user", wait))
                }
            }
        }
        guard exceeded.isEmpty else { throw job.overLimit(exceeded) }
        job.state.limits.recordUser(user.id, at: job.now)
    }

    /// Counts a login that names its user but comes too late: one of the user's requests of this second, if there is
    /// room for it.
    static func countFailed(_ user: UserRecord, _ job: JobContext) {
        guard let limits = try? Users.limits(user, job),
            job.state.limits.userWait(user.id, at: job.now, limit: limits.sdkPerSecond) == nil
        else { return }
        job.state.limits.recordUser(user.id, at: job.now)
    }

    /// Counts a successful login.
    static func record(_ user: UserRecord, _ job: JobContext) throws {
        try job.transaction.forgetLogins(userID: user.id, upTo: job.now - .day)
        try job.transaction.insertLogin(userID: user.id, at: job.now)
    }
}

/// How sessions end.
enum Sessions {
    /// The session's time is over.
    static func expire(token: String, _ job: JobContext) throws {
        try end(token: token, reason: "expired", .sessionExpired, job)
    }

    /// Ends a living session, for a reason that a later 401 names.
    static func end(token: String, reason: String, _ kind: EventKind, _ job: JobContext) throws {
        guard let session = try job.transaction.session(token: token), session.endedAt == nil,
            let user = try job.transaction.user(id: session.userID)
        else { return }
        try job.transaction.endSession(token: token, at: job.now, reason: reason)
        try job.unschedule(.sessionExpiry, token, at: session.expiresAt)
        try job.record(kind, user.username, ["reason": .string(reason)])
        job.state.sessions[token] = nil
    }
}

/// `POST /sdk/logout`: the SDK's cleanup; ends this session and no other [S].
package struct Logout: UserOperation {
    package static let access = Access.writes

    package init() {}

    package func perform(_ job: JobContext, for user: SignedInUser) throws {
        try Sessions.end(token: user.session.token, reason: "logged_out", .sessionEnded, job)
    }
}

/// `GET /sdk/session`.
package struct ShowSession: UserOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext, for user: SignedInUser) -> SessionInfo {
        SessionInfo(
            username: user.username, organization: user.organization.name, bundle_id: user.session.bundleID,
            created_at: user.session.createdAt.epoch, expiration_time: user.session.expiresAt.epoch,
            soft_expiration_time: user.session.softExpiresAt.epoch)
    }
}
