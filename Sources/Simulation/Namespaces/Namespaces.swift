import NIOConcurrencyHelpers
import NIOPosix
import SimulationAPI
import Storage

/// The namespaces of a server.
package final class Namespaces: Sendable {
    /// The namespace of paths without a prefix.
    package static let defaultName = "default"

    package let environment: Environment
    private let generator: SeededGenerator
    private let list: NamespaceRegistry

    /// - Parameters:
    ///   - realTime: returns the real time.
    ///   - threads: threads that may block. They must be running.
    ///   - dueChanged: called with the new ``Namespace/wakeTime`` of a namespace when it has changed.
    /// - Throws: ``StorageError`` if the data directory cannot be used, ``PlatformError`` if the settings are wrong.
    package init(
        _ configuration: NamespacesConfiguration, realTime: @escaping @Sendable () -> Instant,
        threads: NIOThreadPool, dueChanged: @escaping @Sendable (Instant?) -> Void
    ) throws {
        // Checked here, so that a wrong flag fails at the server's start, not at the first namespace.
        _ = try Settings(configuration.settings, configuration.seed)
        environment = try Environment(configuration, realTime: realTime, threads: threads, dueChanged: dueChanged)
        list = NamespaceRegistry(environment.sequencer)
        // Weak: the namespaces of the list have the environment.
        environment.connections.setCloser { [weak list] name in
            list?.now { $0[name]?.namespace }?.closeIdleConnection()
        }
        generator = SeededGenerator(randomSeed: configuration.randomSeed)
    }

    /// Sentences about files of the data directory that other users could access, for the log.
    package var warnings: [String] { environment.store.warnings }

    /// Opens the stored namespaces, and creates the default one if needed. Work that fell due in the meantime has
    /// then run.
    package func openAll() async throws {
        let environment = environment
        try environment.sequencer.checkBeginning(environment.store.names)
        try await openStored()
        if let bundle = environment.configuration.bundle {
            guard find(Self.defaultName) == nil else {
                throw PlatformError.wrongState(
                    "the data directory has namespaces already; open a bundle with --in-memory, or another --data-dir")
            }
            try await open(bundle: bundle)
        } else if find(Self.defaultName) == nil {
            _ = try await environment.sequencer.atStart { try await make(Self.defaultName, NamespaceOptions()) }
        }
        environment.dueChanged(environment.realTime())
    }

    /// Makes the template of the default namespace in memory, which ``openAll()`` will need. A server opens its port meanwhile: nothing
    /// is written before it has that.
    package func prepareDefault() async {
        let configuration = environment.configuration
        guard configuration.dataDirectory == nil, configuration.bundle == nil else { return }
        await environment.prepareTemplate(of: environment.seed)
    }

    /// The number of namespaces that are opened in parallel when the server starts.
    private static let openedAtOnce = 8

    /// Opens the namespaces on disk that have work to do. The others stay closed until their first use.
    private func openStored() async throws {
        let environment = environment
        let names = try await environment.offload {
            let names = try environment.store.names()
            let known = Set(names + [Self.defaultName])
            try environment.snapshots.removeOrphans(except: known)
            try environment.scenarios.removeOrphans(except: known)
            return names
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, name) in names.enumerated() {
                if index >= Self.openedAtOnce { try await group.next() }
                group.addTask { try await self.openStored(name) }
            }
            // The first that fails ends the others.
            while try await group.next() != nil {}
        }
    }

    private func openStored(_ name: String) async throws {
        let environment = environment
        environment.journals.continueEarlier(name)
        environment.evidence?.continued(name)
        let namespace = try await environment.threads.runIfActive {
            // Without a note that can be read, the database itself is.
            let idle = environment.store.note(of: name).flatMap { try? WireJSON.decode(IdleNamespace.self, from: $0) }
            if let idle { return Namespace(name, environment, state: nil, idle: idle) }
            do {
                return Namespace(name, environment, state: try environment.open(name), idle: nil)
            } catch let error as StorageError where !error.isOfNewerVersion {
                // One damaged file must not keep the others from being used. Its namespace answers that it cannot be opened.
                return Namespace(name, environment, state: nil, idle: nil)
            }
        }
        list.now { $0[name] = .open(namespace) }
        guard !environment.damaged.has(name), !namespace.isIdle || namespace.hasInterruptedDeliveries || namespace.isDue
        else { return }
        await namespace.resumeDeliveries()
        await namespace.tick()
    }

    /// The number of namespaces on disk that have an open connection.
    package var openDatabases: Int { environment.connections.count }

    /// The open namespace of this name; `nil` if there is none.
    package func find(_ name: String) -> Namespace? {
        guard Self.isName(name) else { return nil }
        return list.now { $0[name]?.namespace }
    }

    /// Begins a use of the namespace that a request names. Creates it if the server creates unknown ones. The caller ends the
    /// use with ``Namespace/endUse()``.
    ///
    /// Finding it and beginning the use are one step, so that it cannot expire in between.
    ///
    /// - Parameter orDefault: whether the default namespace stands in for one that is not open.
    /// - Throws: ``PlatformError/unknownNamespace(_:_:)``.
    package func use(_ name: String, orDefault: Bool = false) async throws -> Namespace {
        guard Self.isName(name) else {
            if orDefault { return try await use(Self.defaultName) }
            throw PlatformError.unknownNamespace(
                "\"\(name)\" is not a valid namespace name; a name is 1 to 63 of the characters a-z, 0-9 and -")
        }
        if let namespace = try await useExisting(name, orDefault: orDefault) { return namespace }
        guard environment.configuration.autoCreates else {
            throw PlatformError.unknownNamespace(
                "there is no namespace \"\(name)\"; make it with PUT /_sim/namespaces/\(name)")
        }
        do {
            return try await make(name, NamespaceOptions(), isInUse: true)
        } catch let error as PlatformError where error.kind == .wrongState {
            return try await use(name)
        }
    }

    /// As ``use(_:orDefault:)``, but creates none; `nil` if there is none.
    func useExisting(_ name: String, orDefault: Bool = false) async throws -> Namespace? {
        let entry = try await list.inOrder { entries in
            let named = entries[name]
            var entry = orDefault && named?.namespace == nil ? entries[Self.defaultName] : named
            if orDefault, let name = entry?.namespace?.name, environment.damaged.has(name) {
                // A damaged namespace answers for itself alone.
                let others = entries.values.filter { $0.namespace.map { !environment.damaged.has($0.name) } ?? false }
                entry = others.min { $0.namespace!.name < $1.namespace!.name } ?? entry
            }
            entry?.namespace?.beginUse()
            return entry
        }
        switch entry {
        case .open(let namespace): return namespace
        case .opening(let task):
            let namespace = try await task.valueForLaterJobs()
            namespace.beginUse()
            return namespace
        // Its own caller gets the error. If the name is not free, making it says so.
        case .closing(let task): try? await task.valueForLaterJobs()
        case nil: break
        }
        return nil
    }

    /// Every open namespace, sorted by name.
    package func all() -> [Namespace] { unordered().sorted { $0.name < $1.name } }

    /// Every open namespace, in no order.
    package func unordered() -> [Namespace] { list.now { $0.values.compactMap(\.namespace) } }

    /// Every open namespace, sorted by name, for a request whose answer or jobs depend on them.
    ///
    /// - Throws: ``PlatformError`` if a replay ends before this.
    package func allInOrder() async throws -> [Namespace] {
        try await list.inOrder { $0.values.compactMap(\.namespace) }.sorted { $0.name < $1.name }
    }

    /// Every open namespace, and the tasks of those being deleted.
    package var openAndClosing: (open: [Namespace], closing: [SequencedTask<Void>]) {
        list.now { entries in
            (
                entries.values.compactMap(\.namespace),
                entries.values.compactMap { if case .closing(let task) = $0 { task } else { nil } }
            )
        }
    }

    /// Frees the names whose creation or deletion the end of a replay interrupted.
    func forgetUnfinished() {
        list.now { entries in entries = entries.filter { $0.value.namespace != nil } }
    }

    /// Creates a namespace.
    ///
    /// - Parameter isInUse: whether a use of it has begun, so that it does not expire before the caller ends that.
    /// - Throws: ``PlatformError`` if the name or seed data is invalid, the name is taken, or storage fails.
    package func make(_ name: String, _ options: NamespaceOptions, isInUse: Bool = false) async throws -> Namespace {
        let recipe =
            try await options.seed == nil
            ? recipe(name, options) : environment.offload { try self.recipe(name, options) }
        if list.now({ $0[name] == nil }) { await environment.prepareTemplate(of: recipe.seed) }
        return try await create(name, isInUse: isInUse) { try recipe.make($0) }
    }

    /// The recipe of a namespace with these options.
    package func recipe(_ name: String, _ options: NamespaceOptions) throws -> NamespaceRecipe {
        NamespaceRecipe(
            name: name, seed: try seed(options.seed),
            randomSeed: options.randomSeed ?? generator.seed(ofNamespace: name), settings: environment.settings,
            frozenAt: options.frozenAt, ttl: options.ttl)
    }

    /// Creates a namespace under a free name.
    ///
    /// - Parameters:
    ///   - isLong: whether `build` copies a snapshot, which may take long. It then runs on threads of its own, so that it does
    ///     not block other namespaces.
    ///   - isInUse: whether a use of it has begun, so that it does not expire before the caller ends that.
    ///   - build: creates the state; may block.
    /// - Throws: ``PlatformError`` if the name is invalid or taken, or storage fails.
    package func create(
        _ name: String, isLong: Bool = false, isInUse: Bool = false,
        _ build: @escaping @Sendable (Environment) throws -> NamespaceState
    ) async throws -> Namespace {
        guard Self.isName(name) else {
            throw PlatformError.invalid(
                field: "namespace", "must be 1 to 63 characters of a-z, 0-9 and -, got \"\(name.excerpt)\"")
        }
        let environment = environment
        let task = try await list.inOrder { entries in
            guard entries[name] == nil else {
                throw PlatformError.wrongState("the namespace \"\(name)\" exists already", [Self.nameTaken])
            }
            let task = environment.sequencer.task {
                let turn = try await environment.sequencer.turn()
                @Sendable func make() throws -> Namespace {
                    do {
                        let namespace = Namespace(name, environment, state: try build(environment))
                        if isInUse { namespace.beginUse() }
                        return namespace
                    } catch {
                        // A file that is already in place would become a namespace at the next start.
                        environment.store.remove([name])
                        throw error
                    }
                }
                return try await (isLong ? environment.copyThreads : environment.threads).runIfActive {
                    try isLong ? environment.sequencer.readingFiles(turn, make) : turn.run(make)
                }
            }
            entries[name] = .opening(task)
            return task
        }
        do {
            let namespace = try await task.value
            try await list.inOrder { $0[name] = .open(namespace) }
            // A copy of another namespace may have work that is due before its first request.
            environment.dueChanged(namespace.wakeTime)
            return namespace
        } catch {
            try await list.inOrder { $0[name] = nil }
            if let error = error as? SeedError { throw PlatformError.invalid(error) }
            throw error as? PlatformError ?? .unavailable("the namespace cannot be created: \(error)")
        }
    }

    /// The error detail for a name that is taken.
    package static let nameTaken = ErrorDetail("namespace", "exists already")

    /// Creates a namespace under a new, generated name.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the name; `ns` if `nil`.
    ///   - isInUse: see ``make(_:_:isInUse:)``.
    /// - Throws: ``PlatformError`` if the prefix or seed data is invalid, or storage fails.
    package func makeFresh(
        _ prefix: String?, _ options: NamespaceOptions, isInUse: Bool = false
    ) async throws -> Namespace {
        let beginning = prefix ?? "ns"
        guard Self.isName(beginning), beginning.utf8.count <= Self.maxPrefixLength else {
            throw PlatformError.invalid(field: "prefix", "must be 1 to \(Self.maxPrefixLength) of a-z, 0-9 and -")
        }
        // Two requests at the same moment generate the same name; the second one then tries another.
        let moment = try await environment.sequencer.inOrder { environment.realTime().microseconds }
        var number = 0
        while true {
            number += 1
            let purpose = "fresh:\(moment):\(number)"
            do {
                return try await make("\(beginning)-\(generator.name(for: purpose))", options, isInUse: isInUse)
            } catch let error as PlatformError where error.kind == .wrongState {
                continue
            }
        }
    }

    /// The maximum length of a prefix: a name has at most 63 characters.
    private static let maxPrefixLength = 63 - 1 - SeededGenerator.nameLength

    /// Deletes every namespace whose name begins with a prefix, except the default one.
    package func deleteAll(prefix: String) async throws {
        let isDoomed: @Sendable (String) -> Bool = { $0 != Self.defaultName && $0.utf8.starts(with: prefix.utf8) }
        guard !environment.sequencer.ordersAllJobs else {
            // One after the other: each is a job.
            for name in try await allInOrder().map(\.name).filter(isDoomed) {
                do {
                    try await delete(name)
                } catch let error as PlatformError where error.kind == .notFound {
                    // Another request has deleted it.
                }
            }
            return
        }
        await willDelete { isDoomed($0.name) }
        let closing = list.now { entries in
            let doomed = entries.values.compactMap(\.namespace).filter { isDoomed($0.name) }
            let task = environment.sequencer.task { try await self.end(doomed) }
            for namespace in doomed { entries[namespace.name] = .closing(task) }
            return task
        }
        do {
            try await closing.value
        } catch {
            throw PlatformError.unavailable("the namespaces cannot be deleted: \(error)")
        }
    }

    /// Ends namespaces that are marked as closing, and removes their data together. Most are idle and end on one
    /// thread, without a thread hop for each.
    private func end(_ doomed: [Namespace]) async throws {
        let threads = environment.threads
        let busy = try await threads.runIfActive {
            doomed.filter { namespace in
                !namespace.mailbox.runIfIdle(
                    .unopened(isLast: true) { state in
                        namespace.abandon(&state)
                        return {}
                    })
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for namespace in busy {
                group.addTask { try await namespace.runExclusively(isLast: true) { namespace.abandon(&$0) } }
            }
            // Removing files waits for the disk, so it does not use the threads of the namespaces' jobs.
            let copyThreads = environment.copyThreads
            try await group.waitForAll()
            for start in stride(from: 0, to: doomed.count, by: Self.removedTogether) {
                let names = doomed[start..<min(start + Self.removedTogether, doomed.count)].map(\.name)
                group.addTask { try await copyThreads.runIfActive { self.removeData(of: names) } }
            }
            try await group.waitForAll()
        }
    }

    /// The number of namespaces whose files are removed at a time. The folders are listed once for each such group.
    private static let removedTogether = 1000

    /// Removes everything outside the state of namespaces that have ended, and frees their names. Blocks.
    private func removeData(of names: [String]) {
        environment.store.remove(names)
        environment.snapshots.removeAll(names)
        environment.scenarios.removeAll(names)
        for name in names {
            environment.connections.forget(name)
            environment.storageHealth.remove(name)
            environment.damaged.remove(name)
            environment.journals.forget(name)
        }
        list.now { for name in names { $0[name] = nil } }
    }

    /// Returns what is to be called if they are not deleted after all.
    @discardableResult
    private func willDelete(_ isMeant: (Namespace) -> Bool) async -> [@Sendable () -> Void] {
        guard let action = environment.endOfWorld.withLockedValue({ $0 }) else { return [] }
        var resume: [@Sendable () -> Void] = []
        for namespace in all() where isMeant(namespace) { resume.append(await action(namespace, true)) }
        return resume
    }

    /// Deletes the namespaces whose time to live has expired.
    package func deleteExpired() async {
        for namespace in all() where namespace.hasExpired {
            // A deletion that fails is tried again later.
            await environment.sequencer.runExpiry(of: namespace.name) {
                // A request may have found it since, and uses it.
                try? await delete(namespace.name) { $0.hasExpired }
            }
        }
    }

    /// Deletes a namespace. Requests in progress are answered first; waiting requests are refused.
    ///
    /// - Parameter condition: whether it is deleted, asked in the same step in which requests no longer find it.
    /// - Throws: ``PlatformError`` if there is no such namespace, or it is the default one.
    package func delete(
        _ name: String, if condition: @escaping @Sendable (Namespace) -> Bool = { _ in true }
    ) async throws {
        guard Self.isName(name) else { throw PlatformError.notFound("there is no namespace \"\(name)\"") }
        guard name != Self.defaultName else {
            throw PlatformError.wrongState("the namespace \"default\" cannot be deleted; POST /_sim/reset empties it")
        }
        let resume = await willDelete { $0.name.isIdentical(to: name) && condition($0) }
        let sequencer = environment.sequencer
        var isDeleted = false
        defer { if !isDeleted { for resumed in resume { resumed() } } }
        let closing = try await list.inOrder(if: { $0[name]?.namespace.map(condition) ?? true }) { entries in
            guard let namespace = entries[name]?.namespace else {
                throw PlatformError.notFound("there is no namespace \"\(name)\"")
            }
            let task = sequencer.task {
                try await namespace.runExclusively(isLast: true) { state in
                    namespace.abandon(&state)
                    // The name becomes free inside the job, which has a place among all jobs.
                    self.removeData(of: [name])
                }
            }
            entries[name] = .closing(task)
            return task
        }
        do {
            try await closing?.value
            isDeleted = closing != nil
        } catch {
            throw PlatformError.unavailable("the namespace cannot be deleted: \(error)")
        }
    }

    /// Marks the server as stopping and ends all waits, so that long operations end early.
    package func stopWaiting() {
        environment.stop()
        environment.held.stop()
        for namespace in all() { namespace.outbox.cancelAllWaits() }
    }

    /// Closes every namespace after its waiting jobs are done.
    package func closeAll() async throws {
        for namespace in all() {
            try await namespace.runExclusively(isLast: true) { state in
                try state?.close()
                state = nil
            }
        }
        try await environment.stopBackgroundThreads()
    }

    static func isName(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
    }

    package func seed(_ wanted: JSONValue?) throws -> Seed {
        do {
            switch wanted {
            case nil, .null:
                return environment.seed
            case .string(let name):
                if name.isIdentical(to: environment.seed.name) { return environment.seed }
                guard let seed = try environment.platforms.seed(named: name) else {
                    throw PlatformError.invalid(
                        field: "seed", "must be \"standard\", \"empty\" or seed data, got \"\(name)\"")
                }
                return seed
            case .some(let inline):
                return try Seed(name: "inline", yaml: StoredJSON.encode(inline), environment.platforms)
            }
        } catch let error as SeedError {
            throw PlatformError.invalid(error)
        }
    }
}
