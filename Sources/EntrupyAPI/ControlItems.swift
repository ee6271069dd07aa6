/// `GET /_sim/authentications` [D].
public struct AuthenticationList: Codable, Sendable {
    /// Last made first.
    public var authentications: [AuthenticationSummary]
    /// Null on the last page.
    @Nullable public var next_cursor: String?

    /// Makes one from its members.
    public init(authentications: [AuthenticationSummary], next_cursor: String?) {
        self.authentications = authentications
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// An item in a list; `GET /_sim/authentications/{entrupy_id}` says more.
public struct AuthenticationSummary: Codable, Sendable {
    /// The same as `entrupy_id`.
    public var id: String
    /// The item's id.
    public var entrupy_id: String
    /// Whose item it is.
    public var username: String
    /// The customer's own id, or null.
    @Nullable public var customer_item_id: String?
    /// The brand's id.
    public var brand: String
    /// The category's id.
    public var product_category: String
    /// Epoch seconds.
    public var submitted_at: Double
    /// The result now.
    public var result: AuthenticationInfo.Result
    /// The flag's status.
    public var flag: String
    /// Which rule decided the result.
    public var decided_by: String

    /// Makes one from its members.
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

/// `GET|PATCH /_sim/users/{username}` [D].
public struct UserInfo: Codable, Sendable {
    /// The same as `username`.
    public var id: String
    /// `OrganizationName-unique_user_id`.
    public var username: String
    /// The customer's own id of the user.
    public var unique_user_id: String
    /// The organization's name.
    public var organization: String
    /// Null until the first authorization.
    @Nullable public var email: String?
    /// For certificates, or null.
    @Nullable public var first_name: String?
    /// For certificates, or null.
    @Nullable public var last_name: String?
    /// Whether the seed made it a test user.
    public var test_user: Bool
    /// Epoch seconds.
    public var created_at: Double
    /// How many sessions are not over.
    public var sessions: Int
    /// How many items the user has submitted.
    public var submissions: Int
    /// How many the user may submit; null: any number.
    @Nullable public var quota: Int?
    /// The user's own limits; null: the namespace's.
    @Nullable public var rate_limits: JSONValue?
    /// What is left before the limits.
    public var budgets: Budgets

    /// How many more requests are let through now; null: any number.
    public struct Budgets: Codable, Sendable {
        /// Of `/sdk` requests in the second that ends now.
        @Nullable public var sdk_this_second: Int?
        /// Of successful logins in the minute that ends now.
        @Nullable public var logins_this_minute: Int?
        /// Of successful logins in the 24 hours that end now.
        @Nullable public var logins_this_day: Int?

        /// Makes one from its members.
        public init(sdk_this_second: Int?, logins_this_minute: Int?, logins_this_day: Int?) {
            self._sdk_this_second = Nullable(wrappedValue: sdk_this_second)
            self._logins_this_minute = Nullable(wrappedValue: logins_this_minute)
            self._logins_this_day = Nullable(wrappedValue: logins_this_day)
        }
    }

    /// Makes one from its members.
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

/// The answer of `POST /_sim/authentications` [D].
public struct GeneratedItems: Codable, Sendable {
    /// How many items were made.
    public var count: Int
    /// The ids of the first 1,000, newest first.
    public var entrupy_ids: [String]

    /// Makes one from its members.
    public init(count: Int, entrupy_ids: [String]) {
        self.count = count
        self.entrupy_ids = entrupy_ids
    }
}
