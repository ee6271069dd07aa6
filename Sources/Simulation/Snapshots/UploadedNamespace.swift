import Foundation
import SimulationAPI
import Storage

/// Validation of an uploaded database, before it is accepted [D snapshots].
package enum UploadedNamespace {
    /// Checks every row. Only reads. Blocks for a time proportional to the number of rows.
    ///
    /// - Returns: the random seed, and the name of the seed data.
    /// - Throws: ``StorageError/invalidRow(_:)`` with table, row and column, ``StorageError/foreign(_:)``.
    package static func check(
        _ transaction: Transaction, settings: JSONValue, _ platforms: Platforms
    ) throws -> (randomSeed: Int, seed: String) {
        try transaction.validate([NamespaceDomains.namespaceValues(platforms)])
        let remembered = try remembered(transaction, platforms)
        try transaction.validate(NamespaceDomains.tables(remembered.seed))
        try checkScenario(transaction, remembered.seed, settings)
        try checkCounters(transaction, SeededGenerator(randomSeed: remembered.randomSeed), platforms)
        return (remembered.randomSeed, remembered.seed.name)
    }

    private static func refusal(
        _ row: String, of table: String = "world", _ problem: String, column: String = "value"
    ) -> StorageError {
        .invalidRow(InvalidRow(table: table, row: row, column: column, problem: problem))
    }

    /// Reads the values that every namespace must have.
    private static func remembered(
        _ transaction: Transaction, _ platforms: Platforms
    ) throws -> (randomSeed: Int, seed: Seed) {
        func value(_ key: NamespaceKey) throws -> String {
            guard let value = try transaction.namespaceValue(key) else {
                throw refusal(key.rawValue, "is missing", column: "key")
            }
            return value
        }
        do {
            _ = try value(.settings)
            let text = try value(.seedText)
            let name = try value(.seedName)
            guard let randomSeed = Int(try value(.randomSeed)) else {
                throw refusal("random_seed", "must be a number")
            }
            return (randomSeed, try Seed.remembered(name: name, text: text, platforms))
        } catch let error as SeedError {
            throw refusal("seed_text", "must be seed data: \(error.summary)")
        }
    }

    private static func checkScenario(_ transaction: Transaction, _ seed: Seed, _ settings: JSONValue) throws {
        guard let text = try transaction.namespaceValue(.scenario) else { return }
        do {
            let state = try WireJSON.decode(ScenarioState.self, from: Data(text.utf8))
            guard 0...Instant.end.microseconds ~= state.startedAt else {
                throw SeedError(file: state.name, line: nil, path: "startedAt", problem: "must be a time up to 9999")
            }
            _ = try ScenarioDocument(
                state.text, file: state.name, settings: settings, seed.platforms, seedNamed: { _ in seed })
            let removed = state.removedFaults ?? []
            guard removed.count <= ScenarioState.maxRemovedFaults, removed.allSatisfy(\.isValid) else {
                throw SeedError(
                    file: state.name, line: nil, path: "removedFaults",
                    problem: "must have at most \(ScenarioState.maxRemovedFaults) rules with possible counts")
            }
        } catch {
            let problem = (error as? SeedError)?.summary ?? "\(error)"
            throw refusal("scenario", "must be a scenario: \(problem)")
        }
    }

    // MARK: Counters

    /// The number of ids to generate in advance and look for in the database.
    private static let lookahead: Int64 = 200

    /// Checks that counters are at least the number of generated ids. Otherwise an id would be generated twice, and
    /// refused as a duplicate.
    private static func checkCounters(
        _ transaction: Transaction, _ generator: SeededGenerator, _ platforms: Platforms
    ) throws {
        /// The counter of a kind, and the ids that it would generate next.
        func upcoming(_ kind: IDKind) throws -> (value: Int64, ids: [String]) {
            let value = try transaction.counter(kind.name)
            let forms = kind.futureLength == nil ? [false] : [false, true]
            return (
                value,
                (value + 1...value + lookahead).flatMap { counter in
                    forms.map { generator.text(kind, counter: counter, isOfFuture: $0) }
                }
            )
        }
        for table in NamespaceDomains.declared(platforms) {
            guard let (column, name) = table.identity else { continue }
            guard let kind = platforms.idKinds.first(where: { $0.name.isIdentical(to: name) }) else {
                preconditionFailure("\(table.name) has ids of the kind \(name), which no platform has")
            }
            let (value, next) = try upcoming(kind)
            guard try transaction.count(table.name) <= value,
                try !transaction.hasAny(of: next, in: table.name, column)
            else {
                throw refusal(
                    name, of: "counters", "must be at least the number of generated ids of \(table.name), got \(value)")
            }
        }
        let rules = try [IDKind.outcome, .fault].flatMap { try upcoming($0).ids }
        guard try !transaction.hasAny(of: rules, in: "rules", "id") else {
            throw refusal("outcome, fault", of: "counters", "must be at least the number of generated ids of rules")
        }
    }
}
