import Hashes
import SimulationAPI
import Storage

/// The open state of a namespace: its database, and what is cached of it in memory.
///
/// Not thread-safe: only the namespace's mailbox touches it, one job at a time. Everything in memory can be dropped
/// and read again, which happens when a transaction fails.
package final class NamespaceState {
    package let database: NamespaceDatabase
    package let environment: Environment
    package let name: String
    /// Distinguishes this state from the one that replaces it, for instance at a reset.
    package let generation: Int
    /// Whether it is the state that an earlier process left.
    package private(set) var isOfEarlierProcess = false
    /// The time to live; `nil` if it has none.
    package let ttl: Span?
    /// The time on its clock to which the namespace was restored last; `nil` if it was not since it was made or reset.
    package private(set) var restoredAt: Instant?
    /// The same, of the last restore that took deliveries of webhooks away; `nil` if none did.
    package private(set) var deliveriesForgottenBefore: Instant?
    package private(set) var seed: Seed {
        didSet {
            secrets = environment.secrets(with: seed)
            hasReadSecrets = false
        }
    }
    /// What is masked in all output: the platforms' tokens, the organizations' API tokens, the control token and, once ``readSecrets(_:)``
    /// has read them, the secrets of subscriptions.
    package private(set) var secrets: KnownSecrets
    private var hasReadSecrets = false
    /// The maximum number of subscriptions whose secrets are masked in any position, and not only under their name.
    /// The newest ones count [D secrets].
    private static let maxSubscriptionSecrets = 100
    package let generator: SeededGenerator
    /// The authentication code that seals cursors. It is initialized with the key; copy it for each use.
    package let cursorCode: HMACSHA256

    package var clock: Clock
    package var settings: Settings {
        didSet {
            future = NamespaceFuture(settings.future, generator, environment.platforms.futureForms)
            for part in parts { part.configurationChanged(self) }
        }
    }
    /// How answers change; `nil` if they do not [D future].
    package private(set) var future: NamespaceFuture?
    /// The parts of the platforms, in their order.
    package private(set) var parts: [any PlatformState] = []
    /// The outcome of the request whose job is running; `nil` for control requests and scheduled work.
    package var outcome: RequestOutcome?
    /// The cause of the current job's changes.
    package var cause = JobCause.unknown
    /// The sequence number of the last event; `nil` if it must be read. Only jobs may change it.
    package var lastEvent: Int64?
    /// A time no later than the next due time; `nil` if nothing is scheduled.
    package var nextDue: Instant?
    package var limits = RateLimits()
    /// The counters from which ids and tokens are derived.
    package var counters = Counters()

    /// A part of the key of stored renderings; empty if the namespace was never uploaded.
    package let renderingSalt: String
    /// Webhook attempts that the jobs of this batch want. They are made once the batch is committed.
    package var outgoing: [OutgoingWebhook] = []
    /// Events that the jobs of this batch noted for the reader of evidence, who hears of them once the batch is committed.
    var noted: [NotedEvent] = []
    /// The requests that the jobs of this batch hold. They were never held if the batch is lost.
    var heldInBatch: [HeldRequest] = []
    /// Changes that the jobs of this batch made to the set of referenced images, in order.
    package private(set) var imageChanges: [ImageChange] = []
    /// All images referred to, if the state was read since ``takeImageChanges()`` was last called.
    private var loadedImages: Set<ImageHash>?
    private var knownHasSubscriptions: Bool?
    /// The rules of the database, once they have been read.
    package var knownFaults: [FaultRule]?
    package var knownOutcomes: [OutcomeRule]?
    /// The scenario that was started here, once it has been read.
    package var knownScenario: ScenarioDocument?
    /// The removed fault rules of the scenario that was started here; `nil` if they must be read.
    var knownRemovedFaults: ScenarioFaults?

    /// Whether memory may hold what never committed: a transaction failed, and ``reload()`` failed after it.
    private var isStale = false
    /// The clock's time as of the last batch that committed. A later one may be of an advance that was lost.
    private var committedTime: Instant
    /// The last number from which a request's id was derived.
    private var requestCounter: ReservedCounter
    /// The last number that a request got in the journal.
    private var sequenceCounter: ReservedCounter
    private var controlCounter: Int64 = 0

    package init(name: String, database: NamespaceDatabase, environment: Environment) throws {
        self.name = name
        self.database = database
        self.environment = environment
        generation = environment.nextGeneration()
        let stored = try database.transaction { try Stored($0, real: environment.realTime()) }
        seed = try environment.seeds.seed(named: stored.seedName, text: stored.seedText)
        secrets = environment.secrets(with: seed)
        generator = SeededGenerator(randomSeed: stored.randomSeed)
        cursorCode = generator.key(for: "cursors of \(name)")
        clock = stored.clock
        // The journal of a namespace that was closed meanwhile goes on.
        clock.moved = environment.journals.entries(of: name).last?.outcome.moved.microseconds ?? 0
        committedTime = stored.clock.last
        settings = try Settings(StoredJSON.decode(stored.settings), seed)
        future = NamespaceFuture(settings.future, generator, environment.platforms.futureForms)
        nextDue = stored.nextDue
        loadedImages = stored.images
        ttl = stored.ttl
        (restoredAt, deliveriesForgottenBefore) = (stored.restoredAt, stored.deliveriesForgottenBefore)
        requestCounter = stored.requestCounter
        sequenceCounter = stored.sequenceCounter
        renderingSalt = stored.renderingSalt
        parts = try makeParts()
        var clock = stored.clock
        isOfEarlierProcess = environment.journals.opened(
            name, after: sequenceCounter.last, at: clock.now(real: environment.realTime()))
    }

    /// Drops what the platforms have in memory, after work that failed halfway.
    func remakeParts() throws { parts = try makeParts() }

    private func makeParts() throws -> [any PlatformState] {
        try environment.platforms.all.compactMap { try $0.makeState(for: self) }
    }

    /// A platform's part.
    package func part<Part: PlatformState>(_ type: Part.Type) -> Part {
        for part in parts where ObjectIdentifier(Swift.type(of: part)) == ObjectIdentifier(type) {
            return unsafeDowncast(part, to: type)
        }
        preconditionFailure("the platform that has \(type) is not one of the server's")
    }

    /// The values that a namespace's database holds about itself.
    private struct Stored {
        let randomSeed: Int
        let seedName: String
        let seedText: String
        let clock: Clock
        let settings: String
        let nextDue: Instant?
        let ttl: Span?
        let restoredAt, deliveriesForgottenBefore: Instant?
        let requestCounter: ReservedCounter
        let sequenceCounter: ReservedCounter
        let images: Set<ImageHash>
        let renderingSalt: String

        init(_ transaction: Transaction, real: Instant) throws {
            guard let seed = try transaction.namespaceValue(.randomSeed).flatMap({ Int($0) }),
                let seedName = try transaction.namespaceValue(.seedName),
                let seedText = try transaction.namespaceValue(.seedText),
                let settings = try transaction.namespaceValue(.settings)
            else { throw StorageError.unavailable("the database is not a namespace of entrupy-sim") }
            randomSeed = seed
            self.seedName = seedName
            self.seedText = seedText
            self.settings = settings
            clock = try Clock(stored: transaction, real: real)
            nextDue = try transaction.nextDue()?.dueAt
            ttl = try transaction.namespaceValue(.ttl).flatMap { Int64($0) }.map(Span.init(microseconds:))
            func moment(_ key: NamespaceKey) throws -> Instant? {
                try transaction.namespaceValue(key).flatMap { Int64($0) }.map(Instant.init(microseconds:))
            }
            restoredAt = try moment(.restoredAt)
            deliveriesForgottenBefore = try moment(.deliveriesForgottenBefore)
            requestCounter = try ReservedCounter(.requestCounter, block: 4096, transaction)
            sequenceCounter = try ReservedCounter(.sequenceCounter, block: 256, transaction)
            images = try transaction.images()
            renderingSalt = try transaction.namespaceValue(.renderingSalt) ?? ""
        }
    }

    /// Notes that this state was restored in place of a later one, for upper limits of what is counted in it.
    ///
    /// - Parameter deliveries: the number of deliveries that the later state had.
    func noteRestore(of later: NamespaceState, deliveries: Int64) throws {
        var clock = clock
        let now = clock.now(real: environment.realTime())
        try database.transaction { transaction in
            let forgotten = try transaction.count("deliveries") < deliveries ? now : later.deliveriesForgottenBefore
            try transaction.setNamespaceValue(.restoredAt, String(now.microseconds))
            if let forgotten {
                try transaction.setNamespaceValue(.deliveriesForgottenBefore, String(forgotten.microseconds))
            }
            (restoredAt, deliveriesForgottenBefore) = (now, forgotten)
        }
    }

    /// Notes that all that was done so far is stored.
    package func markCommitted() {
        committedTime = clock.last
        if !heldInBatch.isEmpty { heldInBatch = [] }
    }

    /// Drops what a failed transaction has changed in memory. If the database cannot be read now, ``usable()`` does it later.
    package func dropChanges() {
        for held in heldInBatch { environment.held.discard(held) }
        heldInBatch = []
        do {
            try reload()
        } catch {
            isStale = true
        }
    }

    /// This state, as its database has it. Opens the database again if it was closed for a replacement that then failed, or
    /// could not be read after a failed transaction.
    ///
    /// - Throws: ``StorageError`` if that fails. No job may run then.
    package func usable() throws -> NamespaceState {
        if database.isClosed, database.path != nil {
            return try environment.open(name)
        }
        if isStale {
            do {
                try reload()
            } catch {
                try database.reconnect()
                try reload()
            }
            isStale = false
        }
        return self
    }

    /// Drops what is in memory and reads the database again.
    private func reload() throws {
        let stored = try database.transaction { try Stored($0, real: environment.realTime()) }
        let moved = clock.moved
        clock = Clock(mode: stored.clock.mode, last: max(committedTime, stored.clock.last))
        clock.moved = moved
        seed = try environment.seeds.seed(named: stored.seedName, text: stored.seedText)
        settings = try Settings(StoredJSON.decode(stored.settings), seed)
        nextDue = stored.nextDue
        lastEvent = nil
        limits = RateLimits()
        counters = Counters()
        parts = try makeParts()
        outgoing = []
        noted = []
        imageChanges = []
        loadedImages = stored.images
        subscriptionsChanged()
        invalidateRules()
        // Ids that were used are not used again, and ids reserved on disk stay reserved.
        requestCounter.reread(stored.requestCounter)
        sequenceCounter.reread(stored.sequenceCounter)
    }

    /// Records that storage failed, for readiness checks.
    ///
    /// - Returns: the error for the job that failed.
    package func storageFailed(_ error: any Error) -> PlatformError {
        let text = "storage cannot be used: \(database.text(of: error))"
        environment.storageHealth.add(name, text)
        return .unavailable(text)
    }

    /// Replaces the seed data and settings in memory.
    package func adopt(_ seed: Seed, _ settings: Settings) {
        self.seed = seed
        self.settings = settings
    }

    /// Records that the namespace now refers to an image.
    package func refer(to sha256: String) {
        if let hash = ImageHash(sha256) { imageChanges.append(.added(hash)) }
    }

    /// Records that nothing in this namespace refers to these images any more.
    package func releaseImages(_ hashes: [String]) {
        imageChanges += hashes.compactMap { ImageHash($0).map(ImageChange.removed) }
    }

    /// The lengths of the lists that a job adds to.
    struct Mark {
        fileprivate let outgoing: Int
        fileprivate let noted: Int
        fileprivate let imageChanges: Int
    }

    var mark: Mark { Mark(outgoing: outgoing.count, noted: noted.count, imageChanges: imageChanges.count) }

    /// Drops the webhook attempts, noted events and image changes of a job that failed.
    ///
    /// - Parameter mark: the ``mark`` before the job.
    func undo(to mark: Mark) {
        outgoing.removeLast(outgoing.count - mark.outgoing)
        noted.removeLast(noted.count - mark.noted)
        imageChanges.removeLast(imageChanges.count - mark.imageChanges)
    }

    /// Removes and returns the outcome of the request whose job ends now; `nil` if there is none.
    func takeOutcome(_ transaction: Transaction) throws -> RequestOutcome? {
        guard var ended = outcome.take() else { return nil }
        try ended.noteChanges(self, transaction)
        return ended
    }

    /// Removes and returns the image changes. `all` is the full set if the state was read since the last call; the
    /// changes come after it.
    package func takeImageChanges() -> (all: Set<ImageHash>?, changes: [ImageChange]) {
        defer { (loadedImages, imageChanges) = (nil, []) }
        return (loadedImages, imageChanges)
    }

    /// Whether the namespace has webhook subscriptions.
    package func hasSubscriptions(_ transaction: Transaction) throws -> Bool {
        if let knownHasSubscriptions { return knownHasSubscriptions }
        let found = try transaction.hasSubscriptions()
        knownHasSubscriptions = found
        return found
    }

    /// Drops what is cached of subscriptions.
    package func subscriptionsChanged() {
        knownHasSubscriptions = nil
        hasReadSecrets = false
    }

    /// What is masked, with the secrets of subscriptions.
    package func readSecrets(_ transaction: Transaction) throws -> KnownSecrets {
        if hasReadSecrets { return secrets }
        let found =
            try hasSubscriptions(transaction)
            ? transaction.subscriptionSecrets(limit: Self.maxSubscriptionSecrets) : []
        secrets = environment.secrets(with: seed) + found
        hasReadSecrets = true
        return secrets
    }

    /// The sequence number of the last event; 0 before the first.
    func lastEventSequence(_ transaction: Transaction) throws -> Int64 {
        if let lastEvent { return lastEvent }
        let found = try transaction.lastEventSequence()
        lastEvent = found
        return found
    }

    /// Drops cached rules, which may differ from the database.
    package func invalidateRules() {
        knownFaults = nil
        knownOutcomes = nil
        knownRemovedFaults = nil
    }

    /// The id of the next request [D request-ids]. Ids survive a crash: they are reserved in blocks and never used
    /// twice. May write.
    ///
    /// - Throws: ``PlatformError/unavailable(_:)`` if none are left, which is only possible in a file that was
    ///   tampered with.
    package func nextRequestID(_ transaction: Transaction) throws -> String {
        generator.text(.request, counter: try requestCounter.next("request ids", transaction))
    }

    /// The number of the next request in the journal. Never given twice, also after a restart or a reset. May write.
    ///
    /// - Throws: ``PlatformError/unavailable(_:)`` if none are left, which is only possible in a file that was
    ///   tampered with.
    func nextSequence(_ transaction: Transaction) throws -> Int64 {
        try sequenceCounter.next("journal numbers", transaction)
    }

    /// The last number that a request got in the journal; 0 before the first.
    var lastSequence: Int64 { sequenceCounter.last }

    /// Gives no number up to this one to a request, such as those of a state that this one replaces.
    func continueSequences(after last: Int64) { sequenceCounter.skip(to: last) }

    /// The id of the next control request. These have their own counter, so that observing a run does not change it
    /// [D request-ids].
    package func nextControlRequestID() -> String {
        controlCounter += 1
        return generator.text(.controlRequest, counter: controlCounter)
    }

    /// Stores what is only in memory, so that the database is complete. Writes.
    package func flush() throws {
        try database.transaction {
            try requestCounter.flush($0)
            try sequenceCounter.flush($0)
        }
    }

    /// Closes the database connection of an idle namespace; the next job opens it again. Blocks.
    ///
    /// - Returns: a summary for use while it is closed; `nil` if the connection was not open, or no summary can be
    ///   made.
    package func closeIdleConnection() throws -> IdleNamespace? {
        guard database.path != nil, database.isOpen else { return nil }
        return try saveAndClose { try database.closeIdleConnection() }
    }

    /// Stores what is only in memory and closes the database. Blocks.
    package func close() throws {
        // An idle namespace has stored everything already.
        guard database.isOpen else { return }
        _ = try saveAndClose {
            try database.checkpoint()
            try database.close()
        }
    }

    /// Closes the database with `body`, and saves a summary beside it if one can be made.
    private func saveAndClose(_ body: () throws -> Void) throws -> IdleNamespace? {
        try flush()
        let idle = database.path == nil || isStale ? nil : try database.transaction { try IdleNamespace(self, $0) }
        try body()
        // Without a note the database is opened at the next start.
        if let idle, let note = try? WireJSON.encode(idle) { environment.store.saveNote(note, of: name) }
        return idle
    }

    /// Runs what is due by `now`, in time order, each stamped with the time it was due.
    package func runDue(upTo now: Instant, _ transaction: Transaction) throws {
        while let next = nextDue, next <= now {
            guard let due = try transaction.nextDue(), due.dueAt <= now else {
                nextDue = try transaction.nextDue()?.dueAt
                return
            }
            let job = JobContext(state: self, transaction: transaction, now: due.dueAt, language: .english)
            let mark = mark
            let outer = cause
            cause = .dueWork(due, shown: job.shownSubject(of: due))
            defer { cause = outer }
            do {
                try transaction.savepoint {
                    try transaction.deleteDue(id: due.id)
                    guard let kind = environment.platforms.dueKind(due.kind) else {
                        throw PlatformError.bug("this program knows no work of the kind \(due.kind)")
                    }
                    try kind.perform(due.subject, job)
                }
            } catch  where !job.isStorageFailure(error) {
                try job.setAside(due, after: error, to: mark)
            }
            nextDue = try transaction.nextDue()?.dueAt
        }
    }
}
