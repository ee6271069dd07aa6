// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `GET /_sim/users/{username}`, `PATCH /_sim/users/{username}` [D control-api].
public struct UserInfo: Codable, Sendable {
    public var id: String
    /// The user's name, `OrganizationName-unique_user_id`.
    public var username: String
    /// The customer's own id of the user.
    public var unique_user_id: String
    /// The organization's name.
    public var organization: String
    /// The email; null until the first authorization.
    @Nullable public var email: String?
    /// A name shown on certificates, or null.
    @Nullable public var first_name: String?
    /// A name shown on certificates, or null.
    @Nullable public var last_name: String?
    /// Whether the seed data declares the user to be a test user.
    public var test_user: Bool
    /// The time at which the user was created, in epoch seconds.
    public var created_at: Double
    /// The number of active sessions.
    public var sessions: Int
    /// The number of items that the user has submitted.
    public var submissions: Int
    /// The maximum number of submissions; null if there is no quota.
    @Nullable public var quota: Int?
    /// The user's own rate limits; null if the namespace's limits apply [D user-limits].
    @Nullable public var rate_limits: JSONValue?
    /// The numbers of further requests that the limits allow now; null means no limit.
    public var budgets: Budgets

    /// The numbers of further requests that the limits allow now; null means no limit.
    public struct Budgets: Codable, Sendable {
        /// The remaining `/sdk` requests in the second that ends now.
        @Nullable public var sdk_this_second: Int?
        /// The remaining successful logins in the minute that ends now.
        @Nullable public var logins_this_minute: Int?
        /// The remaining successful logins in the 24 hours that end now.
        @Nullable public var logins_this_day: Int?

        public init(sdk_this_second: Int?, logins_this_minute: Int?, logins_this_day: Int?) {
            _sdk_this_second = Nullable(wrappedValue: sdk_this_second)
            _logins_this_minute = Nullable(wrappedValue: logins_this_minute)
            _logins_this_day = Nullable(wrappedValue: logins_this_day)
        }
    }

    public init(
        username: String, unique_user_id: String, organization: String, email: String?, first_name: String?,
        last_name: String?, test_user: Bool, created_at: Double, sessions: Int, submissions: Int, quota: Int?,
        rate_limits: JSONValue?, budgets: Budgets
    ) {
        self.id = username
        self.username = username
        self.unique_user_id = unique_user_id
        self.organization = organization
        _email = Nullable(wrappedValue: email)
        _first_name = Nullable(wrappedValue: first_name)
        _last_name = Nullable(wrappedValue: last_name)
        self.test_user = test_user
        self.created_at = created_at
        self.sessions = sessions
        self.submissions = submissions
        _quota = Nullable(wrappedValue: quota)
        _rate_limits = Nullable(wrappedValue: rate_limits)
        self.budgets = budgets
    }
}

/// `GET /_sim/users` [D control-api].
public struct UserInfoList: Codable, Sendable {
    /// The users, in reverse order of creation.
    public var users: [UserInfo]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(users: [UserInfo], next_cursor: String?) {
        self.users = users
        _next_cursor = Nullable(wrappedValue: next_cursor)
    }
}
