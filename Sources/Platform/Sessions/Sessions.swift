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
        of input: Result<Login, PlatformError>, _ credential: Credential, _ visit: Visit
    ) throws -> String? {
        guard case .success(let login) = input,
            let claims = try? SignedRequests.claims(
                of: login.request.signed_authorization_request, signedWith: visit.world.signingKey),
            let signed = try visit.transaction.signedRequest(id: claims.jti)
        else { return nil }
        return try visit.transaction.user(id: signed.userID)?.username
    }

    package func perform(_ visit: Visit) throws -> LoginResponse {
        let claims = try SignedRequests.claims(
            of: request.signed_authorization_request, signedWith: visit.world.signingKey)
        guard let signed = try visit.transaction.signedRequest(id: claims.jti),
            let user = try visit.transaction.user(id: signed.userID),
            let organization = try visit.transaction.organization(id: user.organizationID)
        else {
            throw PlatformError.unauthorized(
                "signed_authorization_request is unknown here; it was issued before a reset")
        }
        visit.trace?.note { $0.username = user.username }
        guard visit.now < signed.expiresAt else {
            LoginLimits.countFailed(user, visit)
            throw PlatformError.unauthorized(
                "signed_authorization_request expired at \(signed.expiresAt.display); authorize the user again")
        }
        try LoginLimits.check(user, visit)
        try checkPermission(signed, organization, visit)

        let session = SessionRecord(
            token: try visit.draw(.session), userID: user.id, bundleID: signed.bundleID ?? request.bundle_id,
            createdAt: visit.now,
            softExpiresAt: max(visit.now, visit.now + visit.settings.sessionLifetime - Self.softMargin),
            expiresAt: visit.now + visit.settings.sessionLifetime)
        try visit.transaction.useSignedRequest(id: signed.id, at: visit.now)
        try visit.transaction.insertSession(session)
        try LoginLimits.record(user, visit)
        try visit.schedule(.sessionExpiry, session.token, at: session.expiresAt)
        try visit.record(.sessionStarted, user.username, session.bundleID.map { ["bundle_id": .string($0)] } ?? [:])
        return LoginResponse(
            token: session.token, expiration_time: session.expiresAt.epoch,
            soft_expiration_time: session.softExpiresAt.epoch, username: user.username)
    }

    /// How long before its end a session says that it is about to end [P].
    static let softMargin = Span(microseconds: 30 * 60 * 1_000_000)

    /// Used before, or a bundle that is not the organization's [S].
    private func checkPermission(
        _ signed: SignedRequestRecord, _ organization: OrganizationRecord, _ visit: Visit
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
            guard try visit.transaction.hasBundle(named, organizationID: organization.id) else {
                throw PlatformError.forbidden(
                    "the bundle \(named) is not registered to \(organization.name)",
                    [ErrorDetail("bundle_id", "is not registered")])
            }
        }
        if let bundle = signed.bundleID, try !visit.transaction.hasBundle(bundle, organizationID: organization.id) {
            throw PlatformError.forbidden("the bundle \(bundle) is not registered to \(organization.name)")
        }
    }
}

/// How often a user may log in successfully: 5 times a minute, 100 times a day; failed logins are free [S].
enum LoginLimits {
    /// Checks the windows of a login, and the user's requests of a second, which a login with a good signature is one
    /// of; that it happened counts in the latter at once.
    static func check(_ user: UserRecord, _ visit: Visit) throws {
        let limits = try Users.limits(user, visit)
        var exceeded: [Exceeded] = []
        if let wait = visit.world.limits.userWait(user.id, at: visit.now, limit: limits.sdkPerSecond) {
            exceeded.append(
                Exceeded("sdk_per_second", "\(limits.sdkPerSecond!) requests a second for a user", wait))
        }
        if limits.loginsPerMinute != nil || limits.loginsPerDay != nil {
            let logins = try visit.transaction.logins(userID: user.id, after: visit.now - .day)
            for (limit, length, name) in [
                (limits.loginsPerMinute, Span.minute, "minute"),
                (limits.loginsPerDay, Span.day, "day"),
            ] {
                var window = SlidingWindow(length: length, times: logins)
                if let limit, let wait = window.wait(at: visit.now, limit: limit) {
                    exceeded.append(
                        Exceeded("logins_per_\(name)", "\(limit) successful logins a \(name) for a user", wait))
                }
            }
        }
        guard exceeded.isEmpty else { throw visit.overLimit(exceeded) }
        visit.world.limits.recordUser(user.id, at: visit.now)
    }

    /// Counts a login that names its user but comes too late: one of the user's requests of this second, if there is
    /// room for it.
    static func countFailed(_ user: UserRecord, _ visit: Visit) {
        guard let limits = try? Users.limits(user, visit),
            visit.world.limits.userWait(user.id, at: visit.now, limit: limits.sdkPerSecond) == nil
        else { return }
        visit.world.limits.recordUser(user.id, at: visit.now)
    }

    /// Counts a successful login.
    static func record(_ user: UserRecord, _ visit: Visit) throws {
        try visit.transaction.forgetLogins(userID: user.id, upTo: visit.now - .day)
        try visit.transaction.insertLogin(userID: user.id, at: visit.now)
    }
}

/// How sessions end.
enum Sessions {
    /// The session's time is over.
    static func expire(token: String, _ visit: Visit) throws {
        try end(token: token, reason: "expired", .sessionExpired, visit)
    }

    /// Ends a living session, for a reason that a later 401 names.
    static func end(token: String, reason: String, _ kind: EventKind, _ visit: Visit) throws {
        guard let session = try visit.transaction.session(token: token), session.endedAt == nil,
            let user = try visit.transaction.user(id: session.userID)
        else { return }
        try visit.transaction.endSession(token: token, at: visit.now, reason: reason)
        try visit.unschedule(.sessionExpiry, token, at: session.expiresAt)
        try visit.record(kind, user.username, ["reason": .string(reason)])
        visit.world.sessions[token] = nil
    }
}

/// `POST /sdk/logout`: the SDK's cleanup; ends this session and no other [S].
package struct Logout: UserOperation {
    package static let access = Access.writes

    package init() {}

    package func perform(_ visit: Visit, for user: SignedInUser) throws {
        try Sessions.end(token: user.session.token, reason: "logged_out", .sessionEnded, visit)
    }
}

/// `GET /sdk/session`.
package struct ShowSession: UserOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ visit: Visit, for user: SignedInUser) -> SessionInfo {
        SessionInfo(
            username: user.username, organization: user.organization.name, bundle_id: user.session.bundleID,
            created_at: user.session.createdAt.epoch, expiration_time: user.session.expiresAt.epoch,
            soft_expiration_time: user.session.softExpiresAt.epoch)
    }
}
