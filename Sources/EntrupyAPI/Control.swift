/// `GET /_sim/clock` and the answer of every clock action [D].
public struct ClockState: Codable, Sendable {
    /// ISO 8601 UTC with microseconds.
    public var now: String
    /// Epoch seconds.
    public var epoch: Double
    /// `running` or `frozen`.
    public var mode: String
    /// After `advance`: whether the clock came to where it was sent.
    public var reached: Bool?
    /// After an advance that did not: what is still under way.
    public var pending: Int?

    public init(now: String, epoch: Double, mode: String, reached: Bool? = nil, pending: Int? = nil) {
        self.now = now
        self.epoch = epoch
        self.mode = mode
        self.reached = reached
        self.pending = pending
    }
}

/// A namespace as the control API lists it [D].
public struct NamespaceInfo: Codable, Sendable {
    public var id: String
    public var name: String
    /// The base URL a client is pointed at.
    public var url: String
    /// What every id, token and key of this world follows from.
    public var random_seed: Int
    /// The name of the seed data it was made from.
    public var seed: String
    public var clock: ClockState
    public var counts: WorldCounts
    /// Bytes of its database, images aside.
    public var database_bytes: Int

    public init(
        name: String, url: String, random_seed: Int, seed: String, clock: ClockState, counts: WorldCounts,
        database_bytes: Int
    ) {
        id = name
        self.name = name
        self.url = url
        self.random_seed = random_seed
        self.seed = seed
        self.clock = clock
        self.counts = counts
        self.database_bytes = database_bytes
    }
}

/// `GET /_sim/namespaces`.
public struct NamespaceList: Codable, Sendable {
    public var namespaces: [NamespaceInfo]

    public init(namespaces: [NamespaceInfo]) {
        self.namespaces = namespaces
    }
}

/// How much a world holds.
public struct WorldCounts: Codable, Sendable {
    public var users: Int
    public var sessions: Int
    public var captures: Int
    public var authentications: Int
    public var events: Int

    public init(users: Int, sessions: Int, captures: Int, authentications: Int, events: Int) {
        self.users = users
        self.sessions = sessions
        self.captures = captures
        self.authentications = authentications
        self.events = events
    }
}

/// `GET /_sim/info` [D].
public struct ServerInfo: Codable, Sendable {
    public var name: String
    public var version: String
    public var url: String
    /// Real seconds since the start.
    public var uptime: Double
    /// What the seeds of namespaces without one of their own follow from.
    public var random_seed: Int
    /// The data directory, or null in memory.
    @Nullable public var data_dir: String?
    public var namespaces: Int
    public var namespace: NamespaceInfo
    public var settings: JSONValue

    public init(
        version: String, url: String, uptime: Double, random_seed: Int, data_dir: String?, namespaces: Int,
        namespace: NamespaceInfo, settings: JSONValue
    ) {
        name = "entrupy-sim"
        self.version = version
        self.url = url
        self.uptime = uptime
        self.random_seed = random_seed
        self._data_dir = Nullable(wrappedValue: data_dir)
        self.namespaces = namespaces
        self.namespace = namespace
        self.settings = settings
    }
}

/// An item as the control API shows it: what every surface makes of it, and how it came to be [D].
public struct AuthenticationInfo: Codable, Sendable {
    public var id: String
    public var entrupy_id: String
    public var username: String
    @Nullable public var customer_item_id: String?
    @Nullable public var capture_id: String?
    public var result: Result
    /// Which rule decided the result, for instance `magic_customer_item_id`.
    public var decided_by: String
    /// When the pending result is due, or null.
    @Nullable public var result_due_at: Double?
    public var flag: FlagStatus
    @Nullable public var certificate_id: String?
    public var timeline: [TimelineEntry]
    /// What the SDK sees.
    public var sdk: EntrupyCaptureResult

    public init(
        entrupy_id: String, username: String, customer_item_id: String?, capture_id: String?, result: Result,
        decided_by: String, result_due_at: Double?, flag: FlagStatus, certificate_id: String?,
        timeline: [TimelineEntry], sdk: EntrupyCaptureResult
    ) {
        id = entrupy_id
        self.entrupy_id = entrupy_id
        self.username = username
        self._customer_item_id = Nullable(wrappedValue: customer_item_id)
        self._capture_id = Nullable(wrappedValue: capture_id)
        self.result = result
        self.decided_by = decided_by
        self._result_due_at = Nullable(wrappedValue: result_due_at)
        self.flag = flag
        self._certificate_id = Nullable(wrappedValue: certificate_id)
        self.timeline = timeline
        self.sdk = sdk
    }

    public struct Result: Codable, Sendable {
        public var id: String
        public var final: Bool
        @Nullable public var reason: String?

        public init(id: String, final: Bool, reason: String?) {
            self.id = id
            self.final = final
            self._reason = Nullable(wrappedValue: reason)
        }
    }

    public struct TimelineEntry: Codable, Sendable {
        /// Epoch seconds.
        public var at: Double
        public var event: String
        public var data: JSONValue

        public init(at: Double, event: String, data: JSONValue) {
            self.at = at
            self.event = event
            self.data = data
        }
    }
}
