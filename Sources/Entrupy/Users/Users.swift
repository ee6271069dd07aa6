import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// Operations on users that the platform's support can perform.
enum Users {
    static func find(_ username: String, _ job: JobContext) throws -> UserRecord {
        guard let user = try job.transaction.user(username: username) else {
            throw PlatformError.notFound("there is no user \"\(username.excerpt)\" in this namespace")
        }
        return user
    }

    /// A user, by its username or by a `unique_user_id` that no other has, created if necessary. The username of a new one must
    /// begin with an organization's name and a hyphen.
    static func findOrCreate(_ username: String, _ job: JobContext) throws -> UserRecord {
        if let user = try job.transaction.user(username: username) { return user }
        let organizations = try job.transaction.organizations()
        guard let organization = organizations.first(where: { username.utf8.starts(with: "\($0.name)-".utf8) }) else {
            let called = try job.transaction.users(before: .max, uniqueUserID: username, limit: 2)
            if called.count == 1 { return called[0] }
            let names = organizations.map { "\($0.name)-" }.joined(separator: " or ")
            let guess = organizations.first.map { "; did you mean \($0.name)-\(username.excerpt)?" } ?? ""
            throw PlatformError.invalid(
                field: "username", "must begin with \(names), got \"\(username.excerpt)\"\(guess)")
        }
        let id = String(decoding: username.utf8.dropFirst(organization.name.utf8.count + 1), as: UTF8.self)
        if let problem = TextRules.uniqueUserIDProblem(id) {
            throw PlatformError.invalid(field: "username", "after \(organization.name)- \(problem)")
        }
        _ = try job.transaction.insertUser(
            organizationID: organization.id, username: username, uniqueUserID: id, email: nil, firstName: nil,
            lastName: nil, isTestUser: false, createdAt: job.now)
        try job.record(.userCreated, username, ["by": .string("control")])
        return try find(username, job)
    }

    /// The limits of a user: the user's own, else the namespace's [D user-limits]. The namespace's login limits do
    /// not apply to test users [S].
    static func limits(_ user: UserRecord, _ job: JobContext) throws -> EntrupySettings.Limits {
        var limits = job.entrupy.settings.rateLimits
        if user.isTestUser {
            limits.loginsPerMinute = nil
            limits.loginsPerDay = nil
        }
        guard let own = user.rateLimits else { return limits }
        var found = try EntrupySettings.limits(ofUser: StoredJSON.decode(own), namespace: limits)
        // A word, such as `off`, names none of them.
        found.showsHeaders = limits.showsHeaders
        return found
    }
}

/// `GET /_sim/users/{username}`.
package enum ShowUser: RuleByID, Reads {
    package static func perform(_ username: String, _ job: JobContext, as caller: Control) throws -> UserInfo {
        try UserInfo(Users.find(username, job), job)
    }
}

/// `PATCH /_sim/users/{username}`: changes what the vendor's support can change [S], and the user's own limits
/// [D user-limits].
package struct PatchUser: Operation, Writes {
    let username: String
    let patch: JSONObject

    package func perform(_ job: JobContext, as caller: Control) throws -> UserInfo {
        var problems: [ErrorDetail] = []
        problems.add("email", patch["email"]?.text.flatMap(TextRules.emailProblem))
        for field in ["first_name", "last_name"] {
            problems.add(
                field, patch[field]?.text.flatMap { TextRules.tooLong($0, bytes: AuthorizeUser.maxNameBytes) })
        }
        try problems.check()
        if let limits = patch["rate_limits"], limits != .null {
            _ = try EntrupySettings.limits(ofUser: limits, namespace: .documented)
        }

        var user = try Users.find(username, job)
        if let email = patch["email"]?.text { user.email = email }
        if let name = patch["first_name"] { user.firstName = name.text?.nonEmpty }
        if let name = patch["last_name"] { user.lastName = name.text?.nonEmpty }
        if let limits = patch["rate_limits"] {
            // A merge patch, as for the namespace's settings: null removes a limit, and objects are merged.
            let merged = try user.rateLimits.map { try StoredJSON.decode($0) } ?? .null
            user.rateLimits = limits == .null ? nil : try StoredJSON.encode(merged.merging(limits))
        }
        try job.transaction.updateUser(user)
        try job.transaction.setRateLimits(userID: user.id, user.rateLimits)
        try job.record(.userUpdated, username, ["fields": .array(patch.keys.sorted().map { .string($0) })])
        // The cached sessions hold the old limits.
        job.entrupy.forgetSessions()
        return try UserInfo(user, job)
    }
}

extension PatchUser {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["email", "first_name", "last_name", "rate_limits"])
        if fields.has("email") { _ = fields.string("email") }
        _ = fields.optionalString("first_name")
        _ = fields.optionalString("last_name")
        try fields.finish()
        self.init(username: input.path("username"), patch: input.body)
    }
}

extension UserInfo {
    init(_ user: UserRecord, _ job: JobContext) throws {
        let limits = try Users.limits(user, job)
        let logins = try job.transaction.logins(userID: user.id, after: job.now - .day)
        let lastMinute = logins.count { job.now - $0 < .minute }
        let used = job.state.limits.count(.user(user.id), at: job.now)
        func left(_ limit: Int?, _ used: Int) -> Int? { limit.map { max(0, $0 - used) } }
        self.init(
            username: user.username, unique_user_id: user.uniqueUserID,
            organization: try job.transaction.organization(id: user.organizationID)?.name ?? "", email: user.email,
            first_name: user.firstName, last_name: user.lastName, test_user: user.isTestUser,
            created_at: user.createdAt.epoch, sessions: try job.transaction.countActiveSessions(userID: user.id),
            submissions: user.submissions, quota: job.entrupy.settings.quota,
            rate_limits: try user.rateLimits.map { try StoredJSON.decode($0) },
            budgets: .init(
                sdk_this_second: left(limits.sdkPerSecond, used),
                logins_this_minute: left(limits.loginsPerMinute, lastMinute),
                logins_this_day: left(limits.loginsPerDay, logins.count)))
    }
}
