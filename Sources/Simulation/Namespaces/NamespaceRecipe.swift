import SimulationAPI
import Storage

/// The initial values of a namespace, to which a reset returns.
package struct NamespaceRecipe: Sendable {
    package let name: String
    package var seed: Seed
    package let randomSeed: Int
    package var settings: JSONValue
    /// The time its clock is frozen at from the start; `nil` if it follows real time.
    package var frozenAt: FrozenMoment?
    /// The time to live; `nil` if it has none.
    package let ttl: Span?

    /// Creates the namespace, and replaces any that has its name. Blocks.
    ///
    /// - Parameters:
    ///   - store: where to create it; `nil` for the server's store.
    ///   - begin: writes further initial values before the namespace can be seen. If it throws, nothing is replaced.
    ///   - closeOld: closes the replaced namespace, once the new one is ready.
    package func make(
        _ environment: Environment, in store: NamespaceStore? = nil, begin: ((JobContext) throws -> Void)? = nil,
        closeOld: () throws -> Void = {}
    ) throws -> NamespaceState {
        let store = store ?? environment.store
        let prepared = try store.prepare(name, from: .template(key: seed.templateKey, build: seed.insert)) {
            try write($0, at: environment.realTime())
        }
        if let begin {
            do {
                try store.change(prepared) { database in
                    let state = try NamespaceState(name: name, database: database, environment: environment)
                    try database.transaction { transaction in
                        let now = state.clock.now(real: environment.realTime())
                        try begin(JobContext(state: state, transaction: transaction, now: now, language: .english))
                        try state.counters.store(transaction)
                    }
                }
            } catch {
                prepared.discard()
                throw error
            }
        }
        let database = try store.put(prepared, as: name, closeOld: closeOld)
        return try NamespaceState(name: name, database: database, environment: environment)
    }

    private func write(_ transaction: Transaction, at real: Instant) throws {
        let frozenAt: Instant? =
            switch frozenAt {
            case nil: nil
            case .now: real
            case .at(let moment): moment
            }
        let settings = try StoredJSON.encode(settings)
        try transaction.setNamespaceValue(.randomSeed, String(randomSeed))
        try transaction.setNamespaceValue(.seedName, seed.name)
        try transaction.setNamespaceValue(.seedText, seed.text)
        try transaction.setNamespaceValue(.settings, settings)
        try transaction.setNamespaceValue(.madeSettings, settings)
        try transaction.setNamespaceValue(.madeFrozenAt, frozenAt.map { String($0.microseconds) } ?? "")
        if let ttl { try transaction.setNamespaceValue(.ttl, String(ttl.microseconds)) }
        try transaction.stampSeedUsers(at: frozenAt ?? real)
        let mode = frozenAt.map { Clock.Mode.frozen($0) } ?? .running(offset: 0)
        try Clock(mode: mode, last: Instant(microseconds: 0)).store(in: transaction)
    }
}

extension NamespaceRecipe {
    /// Reads the values that the namespace was created with.
    package init(of state: NamespaceState) throws {
        let (settings, frozenAt) = try state.database.transaction { transaction in
            (try transaction.namespaceValue(.madeSettings) ?? "{}", try transaction.namespaceValue(.madeFrozenAt))
        }
        self.init(
            name: state.name, seed: state.seed, randomSeed: state.generator.randomSeed,
            settings: try StoredJSON.decode(settings),
            frozenAt: frozenAt.flatMap { Int64($0) }.map { .at(Instant(microseconds: $0)) }, ttl: state.ttl)
    }
}
