// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/clock`, `POST /_sim/clock/freeze`, `POST /_sim/clock/advance` [D clock].
public struct ClockState: Codable, Sendable {
    /// The clock's time, in ISO 8601 UTC with microseconds.
    public var now: String
    /// The clock's time, in epoch seconds.
    public var epoch: Double
    /// The clock's mode: `running` or `frozen`.
    public var mode: String
    /// Whether an advance reached its target. Only the answer to an advance has it.
    public var reached: Bool?
    /// The amount of work still due up to the target, plus webhook attempts in progress. Only an advance that did not reach its
    /// target has it.
    public var pending: Int?
    /// True if an advance to `next` found no scheduled work, so the clock did not move. Otherwise absent.
    public var nothing_due: Bool?

    public init(
        now: String, epoch: Double, mode: String, reached: Bool? = nil, pending: Int? = nil, nothing_due: Bool? = nil
    ) {
        self.now = now
        self.epoch = epoch
        self.mode = mode
        self.reached = reached
        self.pending = pending
        self.nothing_due = nothing_due
    }
}

/// A namespace as the control API lists it [D namespaces].
public struct NamespaceInfo: Codable, Sendable {
    public var id: String
    /// The namespace's name: 1 to 63 characters of `a-z0-9-`.
    public var name: String
    /// The base URL for clients.
    public var url: String
    /// The random seed. Every id, token and key of the namespace is derived from it.
    public var random_seed: Int
    /// The name of the seed data that the namespace was made from.
    public var seed: String
    /// The current state of its clock.
    public var clock: ClockState
    /// The sizes of its contents.
    public var counts: NamespaceCounts
    /// The size of the database in bytes, without images.
    public var database_bytes: Int
    /// The real seconds without use after which the namespace is deleted; null if it has no time to live.
    @Nullable public var ttl: Double?
    /// What is probably meant otherwise: a clock that is `session_lifetime`, or a day, behind real time, so that devices take
    /// sessions for over. Absent if there is nothing, and in lists.
    public var notes: [ErrorDetail]?

    public init(
        name: String, url: String, random_seed: Int, seed: String, clock: ClockState, counts: NamespaceCounts,
        database_bytes: Int, ttl: Double?, notes: [ErrorDetail]? = nil
    ) {
        self.id = name
        self.name = name
        self.url = url
        self.random_seed = random_seed
        self.seed = seed
        self.clock = clock
        self.counts = counts
        self.database_bytes = database_bytes
        _ttl = Nullable(wrappedValue: ttl)
        self.notes = notes
    }
}

/// The sizes of a namespace's contents.
public struct NamespaceCounts: Codable, Sendable {
    /// The number of users, including those of the seed data.
    public var users: Int
    /// The number of active sessions.
    public var sessions: Int
    /// The number of captures, in any state.
    public var captures: Int
    /// The number of items.
    public var authentications: Int
    /// The number of entries in the event log.
    public var events: Int

    public init(users: Int, sessions: Int, captures: Int, authentications: Int, events: Int) {
        self.users = users
        self.sessions = sessions
        self.captures = captures
        self.authentications = authentications
        self.events = events
    }
}

/// `GET /_sim/info` [D control-api].
public struct ServerInfo: Codable, Sendable {
    /// The program's name, `entrupy-sim`.
    public var name: String
    /// The program's version.
    public var version: String
    /// The beginning of every absolute URL.
    public var url: String
    /// The real seconds since the server's start.
    public var uptime: Double
    /// The server's random seed. A namespace that was made without a random seed derives its own from it.
    public var random_seed: Int
    /// The data directory; null if the server stores its data in memory.
    @Nullable public var data_dir: String?
    /// Where webhooks may go, as `--webhook-targets` says: to loopback and private addresses, or to any.
    public var webhook_targets: WebhookTargets?
    /// The number of open namespaces.
    public var namespaces: Int
    /// The namespace that the request named.
    public var namespace: NamespaceInfo
    /// That namespace's settings.
    public var settings: JSONValue
    /// The seconds by which the machine's clock was set forward since the server's start, or back if negative. Running clocks
    /// do not follow. Absent if it was not set.
    public var machine_clock_step: Double?
    /// How far a snapshot of the namespace is that is being saved to a disk. Absent if none is, and in memory.
    public var saving: SaveProgress?
    /// The namespaces whose files cannot be opened, by name. Requests to them get 503, and their files stay as they are.
    public var damaged: [DamagedFile]?
    /// The requests that were refused for their `Host` or `Origin` since the start.
    public var refused: RefusedSummary?

    public init(
        version: String, url: String, uptime: Double, random_seed: Int, data_dir: String?,
        webhook_targets: WebhookTargets? = nil, namespaces: Int, namespace: NamespaceInfo, settings: JSONValue,
        refused: RefusedSummary? = nil, saving: SaveProgress? = nil, damaged: [DamagedFile]? = nil,
        machine_clock_step: Double? = nil
    ) {
        self.name = "entrupy-sim"
        self.version = version
        self.url = url
        self.uptime = uptime
        self.random_seed = random_seed
        _data_dir = Nullable(wrappedValue: data_dir)
        self.webhook_targets = webhook_targets
        self.namespaces = namespaces
        self.namespace = namespace
        self.settings = settings
        self.machine_clock_step = machine_clock_step
        self.saving = saving
        self.damaged = damaged
        self.refused = refused
    }
}

/// How far a snapshot of the namespace is that is being saved to a disk. Absent if none is, and in memory.
public struct SaveProgress: Codable, Sendable {
    /// The number of copied bytes.
    public var bytes: Int
    /// The size of the database.
    public var total_bytes: Int

    public init(bytes: Int, total_bytes: Int) {
        self.bytes = bytes
        self.total_bytes = total_bytes
    }
}

/// The requests that were refused for their `Host` or `Origin` since the start.
public struct RefusedSummary: Codable, Sendable {
    /// The number of requests.
    public var count: Int
    /// The latest different values, the newest first. At most 20 are kept.
    public var latest: [RefusedValue]

    public init(count: Int, latest: [RefusedValue]) {
        self.count = count
        self.latest = latest
    }
}

/// The latest different values, the newest first. At most 20 are kept.
public struct RefusedValue: Codable, Sendable {
    /// `Host`, `Origin`, or `Sec-Fetch-Site` where a browser named no origin.
    public var header: String
    /// The value, with `?` for anything but visible ASCII characters. Long ones are cut.
    public var value: String
    /// The number of requests with the value.
    public var count: Int
    /// The real time of the last request, in epoch seconds.
    public var last_real: Double

    public init(header: String, value: String, count: Int = 0, last_real: Double = 0) {
        self.header = header
        self.value = value
        self.count = count
        self.last_real = last_real
    }
}

/// A namespace or a snapshot whose file cannot be opened.
public struct DamagedFile: Codable, Sendable, Hashable {
    public var name: String
    /// The problem, with the path of the file.
    public var problem: String

    public init(name: String, problem: String) {
        self.name = name
        self.problem = problem
    }
}
