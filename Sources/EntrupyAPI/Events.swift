/// The data of an event `state` or `webhook` of `GET /_sim/events`: an entry of the event log [D].
public struct StateChange: Codable, Sendable {
    /// Its place in the namespace's event log, which survives a restart.
    public var sequence: Int64
    /// Epoch seconds, by the namespace's clock.
    public var at: Double
    /// For instance `capture.submitted`.
    public var kind: String
    /// The id of what it happened to.
    public var subject: String
    /// What belongs to it.
    public var data: JSONValue

    /// Makes one from its members.
    public init(sequence: Int64, at: Double, kind: String, subject: String, data: JSONValue) {
        self.sequence = sequence
        self.at = at
        self.kind = kind
        self.subject = subject
        self.data = data
    }
}

/// The data of an event `gap`: what came before can no longer be told [D].
public struct EventGap: Codable, Sendable {
    /// How many events are missing; null where the number is from another run of the server.
    @Nullable public var missed: Int64?
    /// Why.
    public var reason: String

    /// Makes one from its members.
    public init(missed: Int64?, reason: String) {
        self._missed = Nullable(wrappedValue: missed)
        self.reason = reason
    }
}

/// The data of an event `world.replaced` or `world.deleted` [D].
public struct WorldChange: Codable, Sendable {
    /// The namespace's name.
    public var namespace: String

    /// Makes one from its members.
    public init(namespace: String) {
        self.namespace = namespace
    }
}

/// `GET /_sim/stats`: what is asked, against what may be [D].
public struct Stats: Codable, Sendable {
    /// Epoch seconds, by the namespace's clock.
    public var now: Double
    /// The journal's requests.
    public var requests: Requests
    /// Each organization's API tokens, against `api_per_second`.
    public var organizations: [Usage]
    /// Users who asked something in the last second or logged in within the last day, busiest first, at most 100.
    public var users: [UserUsage]

    /// Makes one from its members.
    public init(now: Double, requests: Requests, organizations: [Usage], users: [UserUsage]) {
        self.now = now
        self.requests = requests
        self.organizations = organizations
        self.users = users
    }

    /// Requests the journal holds.
    public struct Requests: Codable, Sendable {
        /// All of them; older ones are forgotten.
        public var journaled: Int
        /// Those of the last second of the namespace's clock.
        public var last_second: Int
        /// Those of its last minute.
        public var last_minute: Int
        /// How many had which status, `2xx` to `5xx`.
        public var by_status: [String: Int]
        /// How many a limit refused.
        public var limited: Int
        /// How many a fault struck.
        public var faulted: Int

        /// Makes one from its members.
        public init(
            journaled: Int, last_second: Int, last_minute: Int, by_status: [String: Int], limited: Int, faulted: Int
        ) {
            self.journaled = journaled
            self.last_second = last_second
            self.last_minute = last_minute
            self.by_status = by_status
            self.limited = limited
            self.faulted = faulted
        }
    }

    /// How much of a limit an API token uses.
    public struct Usage: Codable, Sendable {
        /// The organization's name.
        public var organization: String
        /// The token's first letters.
        public var token: String
        /// Requests in the last second.
        public var last_second: Int
        /// How many there may be; null: any number.
        @Nullable public var limit: Int?

        /// Makes one from its members.
        public init(organization: String, token: String, last_second: Int, limit: Int?) {
            self.organization = organization
            self.token = token
            self.last_second = last_second
            self._limit = Nullable(wrappedValue: limit)
        }
    }

    /// How much of the limits a user uses.
    public struct UserUsage: Codable, Sendable {
        /// The user's name.
        public var username: String
        /// SDK requests in the last second.
        public var last_second: Int
        /// How many there may be; null: any number.
        @Nullable public var limit: Int?
        /// Logins in the last minute, and how many there may be.
        public var logins_last_minute: Int
        /// Null: any number.
        @Nullable public var logins_per_minute: Int?
        /// Logins in the last day, and how many there may be.
        public var logins_last_day: Int
        /// Null: any number.
        @Nullable public var logins_per_day: Int?

        /// Makes one from its members.
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

/// The answer of `POST /_sim/seed` [D].
public struct SeedLoaded: Codable, Sendable {
    /// How many organizations were made.
    public var organizations: Int
    /// How many users were made.
    public var users_created: Int
    /// How many users got other names or another email.
    public var users_updated: Int
    /// How many API tokens were added.
    public var api_tokens: Int
    /// The brands there are now.
    public var brands: Int

    /// Makes one from its members.
    public init(organizations: Int, users_created: Int, users_updated: Int, api_tokens: Int, brands: Int) {
        self.organizations = organizations
        self.users_created = users_created
        self.users_updated = users_updated
        self.api_tokens = api_tokens
        self.brands = brands
    }
}
