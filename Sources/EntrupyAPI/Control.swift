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

    /// Makes one from its members.
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
    /// The same as `name`.
    public var id: String
    /// 1 to 63 of `a-z0-9-`.
    public var name: String
    /// The base URL a client is pointed at.
    public var url: String
    /// What every id, token and key of this world follows from.
    public var random_seed: Int
    /// The name of the seed data it was made from.
    public var seed: String
    /// Its clock, now.
    public var clock: ClockState
    /// How much it holds.
    public var counts: NamespaceCounts
    /// Bytes of its database, images aside.
    public var database_bytes: Int
    /// Real seconds it may go unused before it is dropped; null: for ever.
    @Nullable public var ttl: Double?

    /// Makes one from its members.
    public init(
        name: String, url: String, random_seed: Int, seed: String, clock: ClockState, counts: NamespaceCounts,
        database_bytes: Int, ttl: Double?
    ) {
        _ttl = Nullable(wrappedValue: ttl)
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
    /// By name.
    public var namespaces: [NamespaceInfo]

    /// Makes one from its members.
    public init(namespaces: [NamespaceInfo]) {
        self.namespaces = namespaces
    }
}

/// How much a world holds.
public struct NamespaceCounts: Codable, Sendable {
    /// Users, seeded ones too.
    public var users: Int
    /// Sessions that are not over.
    public var sessions: Int
    /// Captures, in whatever state.
    public var captures: Int
    /// Items.
    public var authentications: Int
    /// Entries of the event log.
    public var events: Int

    /// Makes one from its members.
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
    /// `entrupy-sim`.
    public var name: String
    /// The program's version.
    public var version: String
    /// What absolute URLs start with.
    public var url: String
    /// Real seconds since the start.
    public var uptime: Double
    /// What the seeds of namespaces without one of their own follow from.
    public var random_seed: Int
    /// The data directory, or null in memory.
    @Nullable public var data_dir: String?
    /// How many namespaces are open.
    public var namespaces: Int
    /// The namespace that was asked.
    public var namespace: NamespaceInfo
    /// That namespace's settings.
    public var settings: JSONValue

    /// Makes one from its members.
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
    /// The same as `entrupy_id`.
    public var id: String
    /// The item's id.
    public var entrupy_id: String
    /// Whose item it is.
    public var username: String
    /// The customer's own id, or null.
    @Nullable public var customer_item_id: String?
    /// The capture it came from, or null.
    @Nullable public var capture_id: String?
    /// The result now.
    public var result: Result
    /// Which rule decided the result, for instance `magic_customer_item_id`.
    public var decided_by: String
    /// When the pending result is due, or null.
    @Nullable public var result_due_at: Double?
    /// The flag now.
    public var flag: FlagStatus
    /// The certificate it has or had, or null.
    @Nullable public var certificate_id: String?
    /// Everything that happened to it, oldest first.
    public var timeline: [TimelineEntry]
    /// The item as it was described, unknown members included.
    public var item: JSONValue
    /// What the SDK sees.
    public var sdk: EntrupyCaptureResult
    /// What `/v1` shows to the highest `Api-Version`.
    public var v1: V1Item
    /// What `/v2` shows, images and catalogue data included.
    public var v2: V2Item

    /// Makes one from its members.
    public init(
        entrupy_id: String, username: String, customer_item_id: String?, capture_id: String?, result: Result,
        decided_by: String, result_due_at: Double?, flag: FlagStatus, certificate_id: String?,
        timeline: [TimelineEntry], item: JSONValue, sdk: EntrupyCaptureResult, v1: V1Item, v2: V2Item
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
        self.item = item
        self.sdk = sdk
        self.v1 = v1
        self.v2 = v2
    }

    /// A result as the control API shows it.
    public struct Result: Codable, Sendable {
        /// `authentic`, `unknown`, `not_supported`, `needs_review`, `invalid` [S].
        public var id: String
        /// Whether the platform has made up its mind.
        public var final: Bool
        /// The id of an invalid result's reason [P]; null otherwise.
        @Nullable public var reason: String?

        /// Makes one from its members.
        public init(id: String, final: Bool, reason: String?) {
            self.id = id
            self.final = final
            self._reason = Nullable(wrappedValue: reason)
        }
    }

    /// One entry of the event log.
    public struct TimelineEntry: Codable, Sendable {
        /// Epoch seconds.
        public var at: Double
        /// The event's kind, for instance `result.set`.
        public var event: String
        /// What belongs to it.
        public var data: JSONValue

        /// Makes one from its members.
        public init(at: Double, event: String, data: JSONValue) {
            self.at = at
            self.event = event
            self.data = data
        }
    }
}
