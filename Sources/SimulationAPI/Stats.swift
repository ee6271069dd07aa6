/// `GET /_sim/stats`: the use of the rate limits [D control-api].
public struct Stats: Codable, Sendable {
    /// The current time by the namespace's clock, in epoch seconds.
    public var now: Double
    /// The counts of the journal's requests.
    public var requests: Requests
    /// The use of each API token, compared with the limit `api_per_second`.
    public var organizations: [Usage]
    /// The users who made a request in the last second or logged in within the last day, busiest first, at most
    /// 100.
    public var users: [UserUsage]

    public init(now: Double, requests: Requests, organizations: [Usage], users: [UserUsage]) {
        self.now = now
        self.requests = requests
        self.organizations = organizations
        self.users = users
    }

    /// Counts of the requests in the journal.
    public struct Requests: Codable, Sendable {
        /// The number of requests in the journal. The journal drops the oldest requests.
        public var journaled: Int
        /// The number in the last second of the namespace's clock.
        public var last_second: Int
        /// The number in the last minute of the namespace's clock.
        public var last_minute: Int
        /// The numbers in each of the last 60 seconds of the namespace's clock, oldest first. The last one is still
        /// running.
        public var per_second: [Int]
        /// The number for each class of status, `2xx` to `5xx`.
        public var by_status: [String: Int]
        /// The number refused by a rate limit.
        public var limited: Int
        /// The number in which a fault was triggered.
        public var faulted: Int

        public init(
            journaled: Int, last_second: Int, last_minute: Int, per_second: [Int], by_status: [String: Int],
            limited: Int, faulted: Int
        ) {
            self.journaled = journaled
            self.last_second = last_second
            self.last_minute = last_minute
            self.per_second = per_second
            self.by_status = by_status
            self.limited = limited
            self.faulted = faulted
        }
    }

    /// The use of the rate limit by an API token.
    public struct Usage: Codable, Sendable {
        /// The organization's name.
        public var organization: String
        /// The first letters of the token.
        public var token: String
        /// The number of requests in the last second.
        public var last_second: Int
        /// The maximum number per second; null if there is no limit.
        @Nullable public var limit: Int?

        public init(organization: String, token: String, last_second: Int, limit: Int?) {
            self.organization = organization
            self.token = token
            self.last_second = last_second
            self._limit = Nullable(wrappedValue: limit)
        }
    }

    /// The use of the rate limits by a user.
    public struct UserUsage: Codable, Sendable {
        /// The user's name.
        public var username: String
        /// The number of SDK requests in the last second.
        public var last_second: Int
        /// The maximum number per second; null if there is no limit.
        @Nullable public var limit: Int?
        /// The number of logins in the last minute.
        public var logins_last_minute: Int
        /// The maximum number of logins per minute; null if there is no limit.
        @Nullable public var logins_per_minute: Int?
        /// The number of logins in the last day.
        public var logins_last_day: Int
        /// The maximum number of logins per day; null if there is no limit.
        @Nullable public var logins_per_day: Int?

        public init(
            username: String, last_second: Int, limit: Int?, logins_last_minute: Int, logins_per_minute: Int?,
            logins_last_day: Int, logins_per_day: Int?
        ) {
            self.username = username
            self.last_second = last_second
            self._limit = Nullable(wrappedValue: limit)
            self.logins_last_minute = logins_last_minute
            self._logins_per_minute = Nullable(wrappedValue: logins_per_minute)
            self.logins_last_day = logins_last_day
            self._logins_per_day = Nullable(wrappedValue: logins_per_day)
        }
    }
}
