import EntrupyAPI
import NIOConcurrencyHelpers
import NIOPosix
import Storage

/// How a server's worlds are kept and made.
package struct NamespacesConfiguration: Sendable {
    /// Where databases and images are; nil: in memory.
    package var dataDirectory: String?
    package var durability: Durability
    /// The seed namespaces are made from where they are given none.
    package var seed: Seed
    /// What the random seeds of namespaces without one of their own follow from; 0 to 2^53 - 1.
    package var randomSeed: Int
    /// The settings namespaces are made with, a settings document.
    package var settings: JSONValue
    /// Whether a request to an unknown namespace makes it.
    package var autoCreates: Bool
    /// Whether webhooks may go to addresses beyond this machine and private networks.
    package var allowsAnyTarget = false
    /// A bundle that the default namespace is made from; nil: none.
    package var bundle: String?
    /// Writes requests down; nil where that is not asked for.
    package var recorder: Recorder?
    /// The real time the default namespace is made at, where that is a replay's; nil: now.
    package var replaysFrom: Instant?

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

/// What a namespace may be made with.
package struct NamespaceOptions: Sendable {
    /// `standard`, `empty`, or seed data inline; nil: the server's.
    package var seed: JSONValue?
    package var randomSeed: Int?
    /// Where the clock stands frozen from the start; nil: it runs.
    package var frozenAt: Instant?
    /// How long it may go unused, in real time, before it is dropped; nil: for ever.
    package var ttl: Span?

    package init(seed: JSONValue? = nil, randomSeed: Int? = nil, frozenAt: Instant? = nil, ttl: Span? = nil) {
        self.ttl = ttl
        self.seed = seed
        self.randomSeed = randomSeed
        self.frozenAt = frozenAt
    }
}

/// The namespaces of a server.
package final class Namespaces: Sendable {
    /// The namespace of paths without a prefix.
    package static let defaultName = "default"

    package let environment: Environment
    private let autoCreates: Bool
    private let bundle: String?
    private let startedAt: Instant?
    private let generator: SeededGenerator
    private let entries = NIOLockedValueBox<[String: Entry]>([:])
    /// Held while an entry is looked at or changed in the order that is recorded.
    private let orderLock = NIOLock()

    private enum Entry {
        case open(Namespace)
        /// Being made; whoever wants it waits. In a replay, with the place of the job that makes it.
        case opening(Task<Namespace, any Error>, place: Int?)
        /// Being deleted; its name is free when this is done. In a replay, with the place of the job that deletes it.
        case closing(Task<Void, any Error>, place: Int?)
    }

    /// - Parameters:
    ///   - realTime: the real time.
    ///   - threads: may block; they must be running.
    ///   - dueChanged: called whenever some namespace's ``Namespace/wakeTime`` has changed.
    /// - Throws: ``StorageError`` where the data directory cannot be used, ``PlatformError`` where the settings are wrong.
    package init(
        _ configuration: NamespacesConfiguration, realTime: @escaping @Sendable () -> Instant,
        threads: NIOThreadPool, dueChanged: @escaping @Sendable () -> Void
    ) throws {
        // Checked here, so that a wrong flag stops the server and not the first namespace.
        _ = try Settings(configuration.settings, flagEligible: configuration.seed.flagEligible)
        let images = ImageStore(root: configuration.dataDirectory, durability: configuration.durability)
        environment = Environment(
            realTime: realTime, threads: threads, images: images,
            store: try NamespaceStore(
                root: configuration.dataDirectory, durability: configuration.durability,
                background: { work in threads.submit { _ in work() } }),
            snapshots: SnapshotStore(
                root: configuration.dataDirectory, images: images, durability: configuration.durability),
            scenarios: ScenarioStore(root: configuration.dataDirectory, durability: configuration.durability),
            scratchStore: try NamespaceStore(root: nil),
            settings: configuration.settings, seed: configuration.seed, randomSeed: configuration.randomSeed,
            publicURL: "", allowsAnyTarget: configuration.allowsAnyTarget,
            recorder: configuration.recorder,
            isTimed: configuration.recorder != nil || configuration.replaysFrom != nil,
            dueChanged: dueChanged)
        autoCreates = configuration.autoCreates
        bundle = configuration.bundle
        startedAt = configuration.recorder?.startedAt ?? configuration.replaysFrom
        let entries = entries
        environment.connections.whenTooMany { name in
            if case .open(let namespace) = entries.withLockedValue({ $0[name] }) { namespace.closeIdleConnection() }
        }
        generator = SeededGenerator(randomSeed: configuration.randomSeed)
    }

    /// Opens every world there is, and the default one if there is none; what fell due meanwhile has then run.
    package func openAll() async throws {
        let environment = environment
        guard try environment.recorder == nil || environment.store.names().isEmpty else {
            throw PlatformError.wrongState(
                "a recording begins with a fresh world, and the data directory holds some; record with --in-memory, or another --data-dir"
            )
        }
        try await openStored()
        if let bundle {
            guard find(Self.defaultName) == nil else {
                throw PlatformError.wrongState(
                    "the data directory holds worlds already; open a bundle with --in-memory, or another --data-dir")
            }
            try await open(bundle: bundle)
        } else if find(Self.defaultName) == nil {
            _ = try await JobTicket.$current.withValue(startedAt.map { .standing(at: $0) }) {
                try await make(Self.defaultName, NamespaceOptions())
            }
        }
        environment.dueChanged()
    }

    /// How many worlds are opened at once when the server starts.
    private static let openedAtOnce = 8

    /// Opens every world on disk in which something is to be done; the others stay closed until they are needed.
    private func openStored() async throws {
        var names = try environment.store.names()[...]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names.prefix(Self.openedAtOnce) { group.addTask { try await self.openStored(name) } }
            names = names.dropFirst(Self.openedAtOnce)
            while try await group.next() != nil {
                if let name = names.popFirst() { group.addTask { try await self.openStored(name) } }
            }
        }
    }

    private func openStored(_ name: String) async throws {
        let environment = environment
        let namespace = try await environment.threads.runIfActive {
            if let note = environment.store.note(of: name),
                let resting = try? WireJSON.decode(IdleNamespace.self, from: note)
            {
                return Namespace(name, atRest: resting, environment: environment)
            }
            return Namespace(
                state: try NamespaceState(name: name, database: environment.store.open(name), environment: environment),
                environment: environment)
        }
        entries.withLockedValue { $0[name] = .open(namespace) }
        guard !namespace.isAtRest || namespace.hasInterruptedDeliveries || namespace.isDue else { return }
        await namespace.resumeDeliveries()
        await namespace.tick()
    }

    /// How many worlds on disk have an open connection.
    package var openDatabases: Int { environment.connections.count }

    /// Looks at the entries, or changes them: where requests are recorded or replayed, as a job of its own, so that who comes first
    /// then comes first again.
    private func inOrder<Value>(_ body: @Sendable () throws -> Value) async throws -> Value {
        guard let ticket = JobTicket.current else { return try body() }
        try await ticket.turn()
        return try orderLock.withLock { try JobTicket.run(ticket, environment, body) }
    }

    /// An open namespace.
    package func find(_ name: String) -> Namespace? {
        guard Self.isName(name) else { return nil }
        return entries.withLockedValue { if case .open(let namespace) = $0[name] { namespace } else { nil } }
    }

    /// The namespace a request names, made now if the server makes unknown ones.
    ///
    /// - Throws: ``PlatformError/unknownNamespace(_:_:)``.
    package func resolve(_ name: String) async throws -> Namespace {
        guard Self.isName(name) else {
            throw PlatformError.unknownNamespace(
                "\"\(name)\" is not a valid namespace name; names are 1 to 63 of a-z, 0-9 and -")
        }
        switch try await inOrder({ [entries] in entries.withLockedValue { $0[name] } }) {
        case .open(let namespace): return namespace
        case .opening(let task, let place):
            try await JobTicket.current?.follow(place)
            return try await task.value
        case .closing(let task, let place):
            try await JobTicket.current?.follow(place)
            try? await task.value
        case nil: break
        }
        guard autoCreates else {
            throw PlatformError.unknownNamespace(
                "there is no namespace \"\(name)\"; make it with PUT /_sim/namespaces/\(name)")
        }
        do {
            return try await make(name, NamespaceOptions())
        } catch PlatformError.wrongState {
            return try await resolve(name)
        }
    }

    /// Every open namespace, by name.
    package func all() -> [Namespace] {
        entries.withLockedValue { entries in
            entries.values.compactMap { if case .open(let namespace) = $0 { namespace } else { nil } }
        }.sorted { $0.name < $1.name }
    }

    /// Every open namespace, and what ends when those are gone that are being deleted.
    var openAndClosing: (open: [Namespace], closing: [Task<Void, any Error>]) {
        entries.withLockedValue { entries in
            (
                entries.values.compactMap { if case .open(let namespace) = $0 { namespace } else { nil } },
                entries.values.compactMap { if case .closing(let task, _) = $0 { task } else { nil } }
            )
        }
    }

    /// Makes a namespace.
    ///
    /// - Throws: ``PlatformError``: a bad name or seed, a name that is taken, storage.
    package func make(_ name: String, _ options: NamespaceOptions) async throws -> Namespace {
        let recipe = try recipe(name, options)
        return try await create(name) { try recipe.make($0) }
    }

    /// What a namespace with these options is made from.
    func recipe(_ name: String, _ options: NamespaceOptions) throws -> NamespaceRecipe {
        NamespaceRecipe(
            name: name, seed: try seed(options.seed),
            randomSeed: options.randomSeed ?? generator.seed(ofNamespace: name), settings: environment.settings,
            frozenAt: options.frozenAt, ttl: options.ttl)
    }

    /// Opens a namespace under a name that is free.
    ///
    /// - Parameters:
    ///   - isLong: whether it may take long, so that it keeps no namespace's jobs waiting.
    ///   - build: makes its world; may block.
    /// - Throws: ``PlatformError``: a bad name, one that is taken, storage.
    func create(
        _ name: String, isLong: Bool = false, _ build: @escaping @Sendable (Environment) throws -> NamespaceState
    ) async throws -> Namespace {
        guard Self.isName(name) else {
            throw PlatformError.invalid(field: "namespace", "must be 1 to 63 of a-z, 0-9 and -")
        }
        let environment = environment
        let ticket = JobTicket.current
        let task = try await inOrder { [entries] in
            try entries.withLockedValue { entries in
                guard entries[name] == nil else {
                    throw PlatformError.wrongState("the namespace \"\(name)\" exists already", [Self.nameTaken])
                }
                let place = ticket?.nextPlace
                let task = Task {
                    try await ticket?.turn()
                    return try await (isLong ? environment.copyThreads : environment.threads).runIfActive {
                        try JobTicket.run(ticket, environment) {
                            do {
                                return Namespace(state: try build(environment), environment: environment)
                            } catch {
                                // A file that is in its place already would be a namespace after the next start.
                                environment.store.remove(name)
                                throw error
                            }
                        }
                    }
                }
                entries[name] = .opening(task, place: place)
                return task
            }
        }
        do {
            let namespace = try await task.value
            try await inOrder { [entries] in entries.withLockedValue { $0[name] = .open(namespace) } }
            return namespace
        } catch {
            try await inOrder { [entries] in entries.withLockedValue { $0[name] = nil } }
            if let error = error as? SeedError { throw PlatformError.invalid(scenario: error) }
            throw error as? PlatformError ?? .unavailable("the namespace cannot be made: \(error)")
        }
    }

    /// The detail of a refusal for a name that another namespace has.
    static let nameTaken = ErrorDetail("namespace", "exists already")

    /// Makes a namespace under a name that no other has had.
    ///
    /// - Parameter prefix: what the name begins with.
    /// - Throws: ``PlatformError``: a bad prefix or seed, storage.
    package func makeFresh(_ prefix: String?, _ options: NamespaceOptions) async throws -> Namespace {
        let beginning = prefix ?? "ns"
        guard Self.isName(beginning), beginning.utf8.count <= Self.longestPrefix else {
            throw PlatformError.invalid(field: "prefix", "must be 1 to \(Self.longestPrefix) of a-z, 0-9 and -")
        }
        // Two requests of one moment draw one name; the second then draws another.
        let moment = try await inOrder { environment.realTime().microseconds }
        var number = 0
        while true {
            number += 1
            let purpose = "fresh:\(moment):\(number)"
            do {
                return try await make("\(beginning)-\(generator.name(for: purpose))", options)
            } catch PlatformError.wrongState {
                continue
            }
        }
    }

    /// What a fresh name's end leaves of 63.
    private static let longestPrefix = 63 - 1 - SeededGenerator.nameLength

    /// Drops every namespace whose name begins with a prefix, but the default one.
    package func deleteAll(prefix: String) async throws {
        var names = all().map(\.name).filter { $0 != Self.defaultName && $0.utf8.starts(with: prefix.utf8) }[...]
        // One after the other where that is recorded or replayed.
        let atOnce = JobTicket.current == nil ? Self.deletedAtOnce : 1
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names.prefix(atOnce) { group.addTask { try await self.deleteIfThere(name) } }
            names = names.dropFirst(atOnce)
            while try await group.next() != nil {
                if let name = names.popFirst() { group.addTask { try await self.deleteIfThere(name) } }
            }
        }
    }

    /// How many namespaces are deleted at once.
    private static let deletedAtOnce = 16

    private func deleteIfThere(_ name: String) async throws {
        do {
            try await delete(name)
        } catch PlatformError.notFound {
            // Another request was faster.
        }
    }

    /// Drops the namespaces that nobody has used for as long as they were made for.
    package func dropUnused() async {
        for namespace in all() where namespace.isUnused {
            // One that cannot be dropped now is tried again. It is written down all the same: a place that no line has looks like
            // a recording's end.
            let ticket = environment.recorder?.ticket()
            await JobTicket.$current.withValue(ticket) { try? await delete(namespace.name) }
            if let ticket, ticket.hasTurns {
                environment.recorder?.record(dropped: namespace.name, ticket, environment)
            }
        }
    }

    /// Drops a namespace: requests that are running in it are answered first, those that wait are refused.
    ///
    /// - Throws: ``PlatformError``: no such namespace, or the default one.
    package func delete(_ name: String) async throws {
        guard Self.isName(name) else { throw PlatformError.notFound("there is no namespace \"\(name)\"") }
        guard name != Self.defaultName else {
            throw PlatformError.wrongState("the namespace \"default\" cannot be deleted; POST /_sim/reset empties it")
        }
        let store = environment.store
        let snapshots = environment.snapshots
        let scenarios = environment.scenarios
        let connections = environment.connections
        let journals = environment.journals
        let entries = entries
        let closing = try await inOrder {
            try entries.withLockedValue { held in
                guard case .open(let namespace) = held[name] else {
                    throw PlatformError.notFound("there is no namespace \"\(name)\"")
                }
                let place = JobTicket.current?.nextPlace
                let task = Task {
                    try await namespace.runExclusively(isLast: true) { state in
                        // The files go in any case, so how the database closes does not matter.
                        state?.database.abandon()
                        state = nil
                        namespace.images.replace(with: [])
                        store.remove(name)
                        snapshots.removeAll(name)
                        scenarios.removeAll(name)
                        connections.forget(name)
                        journals.forget(name)
                        // The name is free from here on: within the job, so that a replay frees it at the same place.
                        entries.withLockedValue { $0[name] = nil }
                    }
                }
                held[name] = .closing(task, place: place)
                return task
            }
        }
        do {
            try await closing.value
        } catch {
            throw PlatformError.unavailable("the namespace cannot be deleted: \(error)")
        }
    }

    /// Has whatever takes long end where it is: the server is to stop.
    package func stopWaiting() {
        environment.stop()
        for namespace in all() { namespace.outbox.cancelAllWaits() }
    }

    /// Closes every world, when the jobs that wait in them are done.
    package func closeAll() async throws {
        for namespace in all() {
            try await namespace.runExclusively(isLast: true) { state in
                try state?.close()
                state = nil
            }
        }
        try await environment.copyThreads.shutdownGracefully()
    }

    private static func isName(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
    }

    func seed(_ wanted: JSONValue?) throws -> Seed {
        do {
            switch wanted {
            case nil, .null:
                return environment.seed
            case .string(let name):
                if name.isIdentical(to: environment.seed.name) { return environment.seed }
                guard let seed = try Seed.named(name) else {
                    throw PlatformError.invalid(
                        field: "seed", "must be \"standard\", \"empty\" or seed data, this is \"\(name)\"")
                }
                return seed
            case .some(let inline):
                return try Seed(name: "inline", yaml: StoredJSON.encode(inline))
            }
        } catch let error as SeedError {
            throw PlatformError.invalid(error)
        }
    }
}

extension Namespace {
    /// `POST /_sim/reset`: back to what the namespace was made from, in place. Whoever waits goes on with the new
    /// world.
    package func reset(_ head: RequestHead) async -> Completed<NamespaceInfo> {
        let environment = environment
        let requestID = await answer(.success(Acknowledge()), head).requestID
        do {
            try await runExclusively { state in
                guard let old = state else { throw PlatformError.unknownNamespace("the namespace was deleted") }
                let recipe = try NamespaceRecipe(of: old)
                state = try recipe.make(environment, closeOld: { try old.database.close() })
                environment.journals.clear(old.name)
            }
            return Completed(requestID: requestID, result: await answer(.success(ShowNamespace()), head).result)
        } catch {
            let refusal = error as? PlatformError ?? .unavailable("the namespace cannot be reset: \(error)")
            return Completed(requestID: requestID, result: .failure(refusal))
        }
    }
}

/// A namespace as the control API lists it.
package struct ShowNamespace: OpenOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext) throws -> NamespaceInfo {
        let counts = try job.transaction.counts()
        let ttl = try job.transaction.namespaceValue(.ttl).flatMap { Int64($0) }
        return NamespaceInfo(
            name: job.state.name, url: job.publicURL, random_seed: job.state.generator.randomSeed,
            seed: job.state.seed.name, clock: ClockState(job.state.clock, job.now),
            counts: NamespaceCounts(
                users: counts.users, sessions: counts.sessions, captures: counts.captures,
                authentications: counts.items, events: counts.events),
            database_bytes: try job.transaction.databaseBytes(), ttl: ttl.map { Double($0) / 1e6 })
    }
}
