// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/stats` [D control-api].
public struct Stats: Codable, Sendable {
    /// The current time by the namespace's clock, in epoch seconds.
    public var now: Double
    /// Counts of the requests in the journal.
    public var requests: Requests
    /// The use of each API token.
    public var organizations: [Usage]
    /// The users who made a request in the last second or logged in within a day, busiest first, at most 100.
    public var users: [UserUsage]

    /// Counts of the requests in the journal.
    public struct Requests: Codable, Sendable {
        /// The number of requests in the journal. The journal drops the oldest requests.
        public var journaled: Int
        /// The number in the last second of the namespace's clock.
        public var last_second: Int
        /// The number in the last minute of the namespace's clock.
        public var last_minute: Int
        /// The numbers in each of the last 60 seconds of the namespace's clock, oldest first.
        public var per_second: [Int]
        /// The number for each class of status, `2xx` to `5xx`.
        public var by_status: [String: Int]
        /// The number of requests refused by a limit.
        public var limited: Int
        /// The number of requests in which a fault was triggered.
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

    /// The use of each API token.
    public struct Usage: Codable, Sendable {
        /// The organization's name.
        public var organization: String
        /// The first letters of the token.
        public var token: String
        /// The number of requests in the last second.
        public var last_second: Int
        /// The limit; null if limits are off.
        @Nullable public var limit: Int?

        public init(organization: String, token: String, last_second: Int, limit: Int?) {
            self.organization = organization
            self.token = token
            self.last_second = last_second
            _limit = Nullable(wrappedValue: limit)
        }
    }

    /// The users who made a request in the last second or logged in within a day, busiest first, at most 100.
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
            _limit = Nullable(wrappedValue: limit)
            self.logins_last_minute = logins_last_minute
            _logins_per_minute = Nullable(wrappedValue: logins_per_minute)
            self.logins_last_day = logins_last_day
            _logins_per_day = Nullable(wrappedValue: logins_per_day)
        }
    }

    public init(now: Double, requests: Requests, organizations: [Usage], users: [UserUsage]) {
        self.now = now
        self.requests = requests
        self.organizations = organizations
        self.users = users
    }
}
