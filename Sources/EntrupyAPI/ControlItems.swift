/// `GET /_sim/authentications` [D control-api].
public struct AuthenticationList: Codable, Sendable {
    /// The items, in reverse order of creation.
    public var authentications: [AuthenticationSummary]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(authentications: [AuthenticationSummary], next_cursor: String?) {
        self.authentications = authentications
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// An item in a list. `GET /_sim/authentications/{entrupy_id}` shows all of its details.
public struct AuthenticationSummary: Codable, Sendable {
    public var id: String
    public var entrupy_id: String
    /// The name of the item's user.
    public var username: String
    /// The customer's own id of the item, or null.
    @Nullable public var customer_item_id: String?
    /// The brand's id.
    public var brand: String
    /// The category's id.
    public var product_category: String
    /// The time of the submission, in epoch seconds.
    public var submitted_at: Double
    /// The current result.
    public var result: AuthenticationInfo.Result
    /// The flag's status.
    public var flag: String
    /// The rule that decided the result.
    public var decided_by: String

    public init(
        entrupy_id: String, username: String, customer_item_id: String?, brand: String, product_category: String,
        submitted_at: Double, result: AuthenticationInfo.Result, flag: String, decided_by: String
    ) {
        id = entrupy_id
        self.entrupy_id = entrupy_id
        self.username = username
        self._customer_item_id = Nullable(wrappedValue: customer_item_id)
        self.brand = brand
        self.product_category = product_category
        self.submitted_at = submitted_at
        self.result = result
        self.flag = flag
        self.decided_by = decided_by
    }
}

/// `GET|PATCH /_sim/users/{username}` [D control-api].
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
    /// The requests that the user can still make.
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
            self._sdk_this_second = Nullable(wrappedValue: sdk_this_second)
            self._logins_this_minute = Nullable(wrappedValue: logins_this_minute)
            self._logins_this_day = Nullable(wrappedValue: logins_this_day)
        }
    }

    public init(
        username: String, unique_user_id: String, organization: String, email: String?, first_name: String?,
        last_name: String?, test_user: Bool, created_at: Double, sessions: Int, submissions: Int, quota: Int?,
        rate_limits: JSONValue?, budgets: Budgets
    ) {
        id = username
        self.username = username
        self.unique_user_id = unique_user_id
        self.organization = organization
        self._email = Nullable(wrappedValue: email)
        self._first_name = Nullable(wrappedValue: first_name)
        self._last_name = Nullable(wrappedValue: last_name)
        self.test_user = test_user
        self.created_at = created_at
        self.sessions = sessions
        self.submissions = submissions
        self._quota = Nullable(wrappedValue: quota)
        self._rate_limits = Nullable(wrappedValue: rate_limits)
        self.budgets = budgets
    }
}

/// The answer of `POST /_sim/authentications` [D generated-items].
public struct GeneratedItems: Codable, Sendable {
    /// The number of items made.
    public var count: Int
    /// The ids of the first 1,000, newest first.
    public var entrupy_ids: [String]

    public init(count: Int, entrupy_ids: [String]) {
        self.count = count
        self.entrupy_ids = entrupy_ids
    }
}
