import SimulationAPI
import Storage

/// The configuration of a server's namespaces.
package struct NamespacesConfiguration: Sendable {
    /// The directory of databases and images; `nil` to keep them in memory.
    package var dataDirectory: String?
    package var durability: Durability
    /// The default seed data of a new namespace.
    package var seed: Seed
    /// Random seeds of namespaces that were given none are derived from this one; 0 to 2^53 - 1.
    package var randomSeed: Int
    /// The initial settings of a new namespace, a settings document.
    package var settings: JSONValue
    /// Whether a request to an unknown namespace creates it.
    package var autoCreates: Bool
    /// Whether webhooks may go to addresses beyond this machine and private networks.
    package var allowsAnyTarget = false
    /// The path of a bundle that becomes the default namespace; `nil` if there is none.
    package var bundle: String?
    /// The reader of what happens in all namespaces; `nil` if there is none.
    package var evidence: (any EvidenceReader)?
    /// The maximum numbers of held requests.
    package var holdLimits = HoldLimits.standard
    /// Whether jobs are recorded, or replayed.
    package var jobOrder = JobOrder.live

    package init(
        dataDirectory: String?, durability: Durability, seed: Seed, randomSeed: Int, settings: JSONValue,
        autoCreates: Bool
    ) {
        self.dataDirectory = dataDirectory
        self.durability = durability
        self.seed = seed
        self.randomSeed = randomSeed
        self.settings = settings
        self.autoCreates = autoCreates
    }
}

/// The moment at which a clock is frozen from the start.
package enum FrozenMoment: Sendable, Equatable {
    case at(Instant)
    /// When the namespace is made.
    case now
}

/// The options of a new namespace.
package struct NamespaceOptions: Sendable {
    /// `standard`, `empty`, or inline seed data; `nil` for the server's default.
    package var seed: JSONValue?
    package var randomSeed: Int?
    /// The time the clock is frozen at from the start; `nil` if it runs.
    package var frozenAt: FrozenMoment?
    /// The time to live, in real time since the last request; `nil` if it has none.
    package var ttl: Span?

    package init(seed: JSONValue? = nil, randomSeed: Int? = nil, frozenAt: FrozenMoment? = nil, ttl: Span? = nil) {
        self.ttl = ttl
        self.seed = seed
        self.randomSeed = randomSeed
        self.frozenAt = frozenAt
    }
}

extension NamespaceOptions {
    /// The options of a namespace with a given name.
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["seed", "random_seed", "clock", "ttl"])
        try self.init(&fields)
    }

    /// The options of a namespace whose name the server makes up, and the prefix of that name.
    package static func fresh(_ input: some RequestInput) throws -> (prefix: String?, options: NamespaceOptions) {
        var fields = input.fields(known: ["prefix", "seed", "random_seed", "clock", "ttl"])
        let prefix = fields.optionalString("prefix")
        return (prefix, try NamespaceOptions(&fields))
    }

    private init(_ fields: inout FieldReader) throws {
        let ttl = fields.timeToLive()
        let seed = fields.value("seed", "must be \"standard\", \"empty\" or seed data") { value in
            value.text != nil || value.members != nil ? value : nil
        }
        let randomSeed = fields.number("random_seed", in: 0...9_007_199_254_740_991)
        var clock = fields.object("clock", known: ["freeze"])
        let frozenAt = clock.frozenMoment("freeze")
        try fields.finish()
        self.init(seed: seed, randomSeed: randomSeed, frozenAt: frozenAt, ttl: ttl)
    }
}
