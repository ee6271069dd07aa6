import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import SimulationAPI
import Storage

/// The parts that all namespaces of a server share, and their access to the outside world.
package final class Environment: Sendable {
    /// Threads that may block. Mailboxes run their jobs on them, and images are written on them.
    package let threads: NIOThreadPool
    package let images: ImageStore
    package let store: NamespaceStore
    /// The options that the server was started with.
    package let configuration: NamespacesConfiguration
    /// The initial settings of a new namespace.
    package var settings: JSONValue { configuration.settings }
    /// The default seed data of a new namespace.
    package let seed: Seed
    /// The platforms that every namespace hosts.
    package var platforms: Platforms { seed.platforms }
    /// Called when the next due time of any namespace may have changed.
    package let dueChanged: @Sendable (Instant?) -> Void

    /// All saved snapshots.
    package let snapshots: SnapshotStore
    /// All scenarios stored in namespaces.
    package let scenarios: ScenarioStore
    /// In-memory databases for validating scenarios.
    package let scratchStore: NamespaceStore
    /// Threads for copying and removing files and filling templates, so that these do not block the jobs of any namespace.
    package let copyThreads: NIOThreadPool
    /// Threads for ``offload(_:)``: they parse YAML, decode gzip and read small files.
    package let workThreads: NIOThreadPool
    /// Threads for jobs that may take seconds, as those which compare a whole journal with many expectations.
    let longThreads: NIOThreadPool
    /// One thread for audits, which look at a whole journal. Bodies and scenarios of other namespaces do not wait for them.
    private let auditThreads: NIOThreadPool
    /// The threads for work that is not a job. Kinds of work that must not wait for each other have threads of their own.
    private let backgroundThreads: [NIOThreadPool]
    /// Decides the order and the times of all jobs.
    package let sequencer: JobSequencer
    /// The comparisons of states, one at a time: each may copy two namespaces in memory.
    let comparisons: AdvanceLine

    /// The namespaces whose last write failed.
    package let storageHealth = NamespaceProblems()
    /// The namespaces whose files cannot be opened.
    package let damaged = NamespaceProblems()
    /// The namespaces on disk that have an open database connection, at most 200, and fewer where few descriptors are allowed.
    package let connections = Connections(maxOpen: DescriptorLimit.maxOpenDatabases)

    /// The way of webhooks out of the server.
    package let webhooks: WebhookTransport
    /// Seed data that namespaces hold as text.
    package let seeds: SeedCache

    /// The journals of all namespaces.
    package let journals = Journals()

    /// The reader of what happens in all namespaces; `nil` if there is none.
    package let evidence: (any EvidenceReader)?

    /// Called before the world of a namespace ends: at a reset, a restore, the start of a scenario or its deletion; `nil` for nobody.
    /// Requests can still come to it. Returns what is called if the world goes on after all.
    package let endOfWorld = NIOLockedValueBox<
        (@Sendable (Namespace, _ isDeleted: Bool) async -> @Sendable () -> Void)?
    >(nil)

    package let routes: KnownRoutes

    /// The addresses with which the URLs of answers begin.
    package let address = PublicAddress()

    /// The requests that faults hold.
    package let held: HeldRequests

    private let stopBox = NIOLockedValueBox(false)

    /// Whether the server is stopping. Long operations then end early.
    package var isStopping: Bool { stopBox.withLockedValue { $0 } }

    /// Marks the server as stopping.
    package func stop() {
        stopBox.withLockedValue { $0 = true }
    }

    /// Ends the threads for work that is not a job.
    func stopBackgroundThreads() async throws {
        for pool in backgroundThreads { try await pool.shutdownGracefully() }
    }

    /// Namespaces that are not closed, as those of tests, keep no threads either.
    deinit { Self.abandon(backgroundThreads) }

    /// Stops threads without waiting.
    private static func abandon(_ pools: [NIOThreadPool]) {
        for pool in pools { pool.shutdownGracefully { _ in } }
    }

    /// Runs work that takes long or blocks, and is not a job, on threads of its own: parsing YAML, decoding gzip, reading files.
    /// The cooperative threads are as few as the processors, and every request needs them.
    ///
    /// Work that was begun goes on if the task is cancelled.
    package func offload<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Self.run(on: workThreads, body)
    }

    /// Judges a journal, one after another.
    package func audit<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Self.run(on: auditThreads, body)
    }

    private static func run<Value: Sendable>(
        on threads: NIOThreadPool, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            threads.submit { _ in continuation.resume(with: Result { try body() }) }
        }
    }

    /// Makes the template of seed data, unless there is one, so that creating a namespace from it is only a copy. This takes
    /// seconds for much data. It would hold a thread of the namespaces' jobs, and one for each request that waits for it.
    package func prepareTemplate(of seed: Seed) async {
        guard !store.hasTemplate(seed.templateKey) else { return }
        // The creation makes it once more then, and reports the error.
        try? await copyThreads.runIfActive { [store] in try store.makeTemplate(seed.templateKey, build: seed.insert) }
    }

    private let secretBox = NIOLockedValueBox<[String]>([])

    /// Secrets of the server itself. They are masked in the output of every namespace.
    package var secrets: [String] { secretBox.withLockedValue { $0 } }

    /// The secrets of a namespace with this seed data, besides its subscriptions.
    package func secrets(with seed: Seed) -> KnownSecrets {
        KnownSecrets(seed.apiTokens.values.flatMap(\.self) + secrets, tokensOf: platforms)
    }

    /// Registers a secret of the server, which is then masked everywhere [D secrets]. Must be called before any
    /// namespace is opened.
    package func registerSecret(_ secret: String) {
        secretBox.withLockedValue { $0.append(secret) }
    }

    /// The real time. It is the only clock below `Server`.
    package func realTime() -> Instant { sequencer.realTime() }

    private let serverRequests = NIOLockedValueBox(0)
    private let generations = NIOLockedValueBox(0)

    /// - Throws: ``StorageError`` if the data directory cannot be used.
    init(
        _ configuration: NamespacesConfiguration, realTime: @escaping @Sendable () -> Instant,
        threads: NIOThreadPool, dueChanged: @escaping @Sendable (Instant?) -> Void
    ) throws {
        let (root, durability) = (configuration.dataDirectory, configuration.durability)
        let migrations = configuration.seed.platforms.migrations
        let copies = NIOThreadPool(numberOfThreads: 2)
        // Moves write-ahead logs into their database files. One checkpoint waits for the disk, and hundreds of namespaces may fall
        // idle at once; at most one checkpoint of each waits here.
        let checkpoints = NIOThreadPool(numberOfThreads: 1)
        let work = NIOThreadPool(numberOfThreads: 2)
        let audits = NIOThreadPool(numberOfThreads: 1)
        let long = NIOThreadPool(numberOfThreads: 2)
        let pools = [copies, checkpoints, work, audits, long]
        for pool in pools { pool.start() }
        do {
            store = try NamespaceStore(
                root: root, durability: durability, background: { body in copies.submit { _ in body() } },
                checkpoints: { body in checkpoints.submit { _ in body() } }, migrations: migrations)
            scratchStore = try NamespaceStore(root: nil, migrations: migrations)
        } catch {
            Self.abandon(pools)
            throw error
        }
        copyThreads = copies
        workThreads = work
        (auditThreads, longThreads) = (audits, long)
        backgroundThreads = pools
        images = ImageStore(root: root, durability: durability)
        snapshots = SnapshotStore(root: root, images: images, durability: durability)
        scenarios = ScenarioStore(root: root, durability: durability)
        sequencer = JobSequencer(configuration.jobOrder, clock: realTime)
        comparisons = AdvanceLine(sequencer)
        held = HeldRequests(configuration.holdLimits)
        webhooks = WebhookTransport(allowsAnyTarget: configuration.allowsAnyTarget)
        seeds = SeedCache(default: configuration.seed)
        routes = KnownRoutes(unsimulated: configuration.seed.platforms.unsimulatedPaths)
        self.configuration = configuration
        seed = configuration.seed
        evidence = configuration.evidence
        self.threads = threads
        self.dueChanged = dueChanged
    }

    /// A request id for an answer that does not come from a namespace's mailbox. Unique in this process.
    package func nextServerRequestID() -> String {
        "srv_\(serverRequests.next())"
    }

    /// A number for ``NamespaceState/generation``. Unique in this process.
    package func nextGeneration() -> Int {
        generations.next()
    }
}
