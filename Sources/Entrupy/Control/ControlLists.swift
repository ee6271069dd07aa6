import EntrupyAPI
import EntrupyStorage
import Hashes
import Simulation
import SimulationAPI
import Storage

/// `GET /_sim/captures`.
package struct ListAllCaptures: Operation, Reads {
    /// Only captures in this state; `nil` for all.
    let status: Capture.Status?
    let limit: Int
    let cursor: String?

    package func perform(_ job: JobContext, as caller: Control) throws -> CaptureInfoList {
        let query = ["all captures", status?.rawValue ?? ""]
        let page = try Cursor.page(cursor, of: query, limit: limit, job, position: \.position) {
            try job.transaction.captures(status: status, before: $0, limit: $1)
        }
        return CaptureInfoList(
            captures: try page.records.map { try CaptureInfo($0, job) }, next_cursor: page.next,
            status: status?.rawValue ?? "all",
            hint: status.map { "only captures with the status \($0.rawValue); ?status=all lists all" })
    }
}

extension ListAllCaptures {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        let status = query.word("status", Capture.Status.names + ["all"]) ?? Capture.Status.started.rawValue
        let (limit, cursor) = query.page()
        try query.finish()
        self.init(status: status == "all" ? nil : .init(rawValue: status), limit: limit, cursor: cursor)
    }
}

/// `GET /_sim/users`.
package struct ListUsers: Operation, Reads {
    /// Only the users with this `unique_user_id`, of whatever organization; `nil` for all.
    var uniqueUserID: String?
    let limit: Int
    let cursor: String?

    package func perform(_ job: JobContext, as caller: Control) throws -> UserInfoList {
        let query = ["users", uniqueUserID].compactMap(\.self)
        let page = try Cursor.page(cursor, of: query, limit: limit, job, position: \.id) {
            try job.transaction.users(before: $0, uniqueUserID: uniqueUserID, limit: $1)
        }
        return UserInfoList(users: try page.records.map { try UserInfo($0, job) }, next_cursor: page.next)
    }
}

extension ListUsers {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        let uniqueUserID = query.text("unique_user_id")
        let (limit, cursor) = query.page()
        try query.finish()
        self.init(uniqueUserID: uniqueUserID, limit: limit, cursor: cursor)
    }
}

/// `GET /_sim/webhooks`: the subscriptions of all organizations.
package struct ListAllSubscriptions: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> SubscriptionInfoList {
        let latest = try job.transaction.latestAttempts()
        return SubscriptionInfoList(
            webhooks: try job.transaction.organizations().flatMap { organization in
                try job.transaction.subscriptions(organizationID: organization.id).map { record in
                    try SubscriptionInfo(Subscriptions.render(record), of: organization, latest: latest, job)
                }
            })
    }
}

extension SubscriptionInfo {
    /// - Parameter latest: the newest attempts, by their subscriptions; `nil` if they are not read yet.
    init(
        _ subscription: Subscription, of organization: OrganizationRecord, latest: [String: LatestAttempt]? = nil,
        _ job: JobContext
    ) throws {
        let latest = try latest ?? job.transaction.latestAttempts()
        let secrets = Secrets(try job.state.readSecrets(job.transaction))
        self.init(
            subscription, organization: organization.name,
            open_deliveries: try job.transaction.openDeliveryCount(subscriptionID: subscription.id),
            failing: latest[subscription.id].flatMap { Failing($0, secrets) })
    }
}

extension SubscriptionInfo.Failing {
    /// `nil` if the attempt succeeded. A text about a failure may hold a secret.
    fileprivate init?(_ latest: LatestAttempt, _ secrets: Secrets) {
        guard !latest.hasSucceeded else { return nil }
        let attempt = latest.attempt
        self.init(
            delivery: attempt.deliveryID, event: latest.event, attempt: attempt.number, at: attempt.at.epoch,
            status: attempt.status, error: attempt.error.map { secrets.masked(text: $0) })
    }
}

/// `GET /_sim/sessions`: lists the active sessions.
package struct ListSessions: Operation, Reads {
    /// Only this user's sessions; `nil` for all users.
    let username: String?
    let limit: Int

    package init(_ input: some RequestInput) throws {
        var query = input.query
        username = query.text("username")
        limit = query.number("limit", in: ControlPage.limits) ?? ControlPage.defaultLimit
        try query.finish()
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> ActiveSessionList {
        let user = try username.map { try NamedUser.find($0, job) }
        return ActiveSessionList(
            sessions: try job.transaction.activeSessions(userID: user?.id, limit: limit).map { session in
                ActiveSession(
                    id: ActiveSession.id(ofToken: session.token),
                    username: try job.transaction.user(id: session.userID)?.username ?? "",
                    bundle_id: session.bundleID, created_at: session.createdAt.epoch,
                    soft_expires_at: session.softExpiresAt.epoch, expires_at: session.expiresAt.epoch)
            },
            total: try job.transaction.countActiveSessions(userID: user?.id))
    }
}

/// `DELETE /_sim/sessions` and `DELETE /_sim/sessions/{id}`: revokes sessions. Their next request is 401.
package struct RevokeSessions: Operation, Writes {
    /// The id of one session; `nil` for all.
    let id: String?
    /// Only this user's sessions; `nil` for all users.
    let username: String?

    package init(id: String? = nil, username: String? = nil) {
        self.id = id
        self.username = username
    }

    package init(_ input: some RequestInput) throws {
        var query = input.query
        self.init(username: query.text("username"))
        try query.finish()
    }

    package func perform(_ job: JobContext, as caller: Control) throws {
        let user = try username.map { try NamedUser.find($0, job) }
        let tokens = try job.transaction.activeSessions(userID: user?.id, limit: .max).map(\.token)
        let wanted = id.map { id in tokens.filter { ActiveSession.id(ofToken: $0).isIdentical(to: id) } } ?? tokens
        if let id, wanted.isEmpty {
            throw PlatformError.notFound("there is no session \"\(id.excerpt)\" in this namespace")
        }
        for token in wanted { try Sessions.end(token: token, reason: "revoked", .sessionEnded, job) }
    }
}

extension ActiveSession {
    /// The beginning of the ids that the control API shows for sessions.
    static let prefix = "ses_"

    static func id(ofToken token: String) -> String {
        prefix + Hex.string(SHA256.hash(data: Array(token.utf8)).prefix(10))
    }
}

extension CaptureInfo {
    init(_ capture: CaptureRecord, _ job: JobContext) throws {
        let uploaded = try job.transaction.captureImages(captureID: capture.id).map(\.regionID)
        let isOpen = capture.status == .started
        let missing = try Captures.steps(capture, job).filter { $0.required && !uploaded.contains($0.regionID) }
        let item = try ItemMetadata(stored: capture.item)
        self.init(
            id: capture.id, username: try job.transaction.user(id: capture.userID)?.username ?? "",
            status: capture.status, config_type: capture.configType.rawValue,
            customer_item_id: item.text(.customerItemID),
            started_at: capture.startedAt.epoch, expires_at: capture.expiresAt.epoch,
            seconds_left: isOpen ? Double(capture.expiresAt.microseconds - job.now.microseconds) / 1e6 : nil,
            uploaded: uploaded, missing: missing.map(\.regionID), entrupy_id: capture.entrupyID)
    }
}
