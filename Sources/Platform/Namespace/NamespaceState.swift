import Crypto
import EntrupyAPI
import Storage

/// An open world: its database and what is kept of it in memory.
///
/// Not thread-safe: only its namespace's mailbox touches it, one job at a time. Whatever is in memory can be dropped
/// and read again, which is what happens where a transaction fails.
final class NamespaceState {
    let database: NamespaceDatabase
    let environment: Environment
    let name: String
    /// Tells this world from the one that a reset puts in its place.
    let generation: Int
    /// How long it may go unused before it is dropped; nil: for ever.
    let ttl: Span?
    private(set) var seed: Seed {
        didSet {
            secrets = Self.secrets(seed, environment)
            hasReadSecrets = false
            encodedSteps = EncodedSteps()
        }
    }
    /// The steps that the seed's catalogue asks for, as far as captures asked for them.
    var encodedSteps = EncodedSteps()
    /// Texts that are masked wherever they are shown: the organizations' API tokens, the control token and, once
    /// ``readSecrets(_:)`` has read them, the secrets of subscriptions.
    private(set) var secrets: [String]
    private var hasReadSecrets = false
    /// How many subscriptions' secrets are masked beyond their names at most, the newest ones [D].
    private static let maxSubscriptionSecrets = 100
    let generator: SeededGenerator
    /// Signs this world's authorization requests.
    let signingKey: SymmetricKey
    /// Seals this world's cursors; begun with its key, to be copied.
    let cursorCode: HMAC<SHA256>

    var clock: Clock
    var settings: Settings {
        didSet {
            knownRenderingKey = nil
            // Sessions in memory carry the limits that held before.
            sessions = [:]
        }
    }
    /// When something falls due next, or earlier; nil where nothing will.
    var nextDue: Instant?
    /// Living sessions by token, as far as they were asked for.
    var sessions: [String: SignedInUser] = [:]
    var limits = RateLimits()
    /// What ids and tokens follow from.
    var counters = Counters()

    /// What its renderings are kept under in memory; another after a transaction was lost, whose revisions never were.
    private(set) var renderingsID: Int
    /// Goes into what stored renderings must have been made under; empty where the world was never uploaded.
    let renderingSalt: String
    /// Renderings that were made by the jobs of this batch, to be stored by a job of their own.
    private(set) var freshRenderings: [FreshRendering] = []
    private var knownRenderingKey: Int64?
    /// Attempts that the jobs of this batch decided on, to be made once it is committed.
    var outgoing: [OutgoingWebhook] = []
    /// What the jobs of this batch changed in the pictures it refers to, in their order.
    private(set) var imageChanges: [ImageChange] = []
    /// All pictures it refers to, if the world was read since they were last asked for.
    private var loadedImages: Set<ImageHash>?
    private var knownHasSubscriptions: Bool?
    /// The rules as the database has them, once they were asked for.
    var knownOutcomes: [OutcomeRule]?
    var knownFaults: [FaultRule]?
    /// The scenario that was started here, once it was asked for.
    var knownScenario: ScenarioDocument?

    private var requestCounter: Int64
    private var reservedRequests: Int64
    private var controlCounter: Int64 = 0

    /// How many renderings wait to be stored at most; others are made again.
    private static let maxFreshRenderings = 200
    /// How many request ids one write to the database covers.
    private static let requestBlock: Int64 = 4096

    init(
        name: String, database: NamespaceDatabase, environment: Environment
    ) throws {
        self.name = name
        self.database = database
        self.environment = environment
        generation = environment.nextGeneration()
        renderingsID = generation
        let stored = try database.transaction { try Stored($0) }
        seed = try environment.seed(named: stored.seedName, text: stored.seedText)
        secrets = Self.secrets(seed, environment)
        generator = SeededGenerator(randomSeed: stored.randomSeed)
        signingKey = generator.key(for: "signed authorization requests")
        cursorCode = HMAC<SHA256>(key: generator.key(for: "cursors of \(name)"))
        clock = stored.clock
        settings = try Settings(StoredJSON.decode(stored.settings), flagEligible: seed.flagEligible)
        nextDue = stored.nextDue
        loadedImages = stored.images
        ttl = stored.ttl
        requestCounter = stored.requestCounter
        reservedRequests = stored.requestCounter
        renderingSalt = stored.renderingSalt
    }

    /// What a world remembers of itself.
    private struct Stored {
        let randomSeed: Int
        let seedName: String
        let seedText: String
        let clock: Clock
        let settings: String
        let nextDue: Instant?
        let ttl: Span?
        let requestCounter: Int64
        let images: Set<ImageHash>
        let renderingSalt: String

        init(_ transaction: Transaction) throws {
            guard let seed = try transaction.namespaceValue(.randomSeed).flatMap({ Int($0) }),
                let seedName = try transaction.namespaceValue(.seedName),
                let seedText = try transaction.namespaceValue(.seedText),
                let settings = try transaction.namespaceValue(.settings)
            else { throw StorageError.unavailable("the database is not a namespace of entrupy-sim") }
            randomSeed = seed
            self.seedName = seedName
            self.seedText = seedText
            self.settings = settings
            clock = try Clock(stored: transaction)
            nextDue = try transaction.nextDue()?.dueAt
            ttl = try transaction.namespaceValue(.ttl).flatMap { Int64($0) }.map(Span.init(microseconds:))
            requestCounter = Int64(try transaction.namespaceValue(.requestCounter) ?? "") ?? 0
            images = try transaction.images()
            renderingSalt = try transaction.namespaceValue(.renderingSalt) ?? ""
        }
    }

    /// Drops what is in memory and reads the world again: what was changed by a transaction that failed never was.
    func reload() throws {
        let stored = try database.transaction { try Stored($0) }
        let last = clock.last
        clock = Clock(mode: stored.clock.mode, last: max(last, stored.clock.last))
        seed = try environment.seed(named: stored.seedName, text: stored.seedText)
        settings = try Settings(StoredJSON.decode(stored.settings), flagEligible: seed.flagEligible)
        nextDue = stored.nextDue
        sessions = [:]
        limits = RateLimits()
        counters = Counters()
        freshRenderings = []
        renderingsID = environment.nextGeneration()
        outgoing = []
        imageChanges = []
        loadedImages = stored.images
        subscriptionsChanged()
        invalidateRules()
        // Ids given out stay given out; what is reserved on disk is reserved.
        reservedRequests = max(requestCounter, stored.requestCounter)
    }

    /// Remembers that storage failed, for whoever asks whether the server is ready.
    ///
    /// - Returns: the answer of the job that met it.
    func storageFailed(_ error: any Error) -> PlatformError {
        let text = "storage cannot be used: \(database.text(of: error))"
        environment.storageHealth.failed(name, text)
        return .unavailable(text)
    }

    /// This world, or what is in its place on disk, if it was closed to be replaced and then was not.
    func reopenedIfClosed() -> NamespaceState {
        guard database.isClosed, database.path != nil else { return self }
        // If that fails too, the next request that replaces the world tries again.
        return (try? NamespaceState(name: name, database: environment.store.open(name), environment: environment))
            ?? self
    }

    /// Goes on with other seed data.
    func adopt(_ seed: Seed, _ settings: Settings) {
        self.seed = seed
        self.settings = settings
    }

    /// What stored renderings must have been made under to be good.
    var renderingKey: Int64 {
        if let knownRenderingKey { return knownRenderingKey }
        let key = Renderings.key(of: self)
        knownRenderingKey = key
        return key
    }

    /// Sees to it that a rendering is stored, soon.
    func cache(_ rendering: FreshRendering) {
        if freshRenderings.count < Self.maxFreshRenderings { freshRenderings.append(rendering) }
    }

    /// Hands out the attempts that are to be made.
    func takeOutgoing() -> [OutgoingWebhook] {
        defer { outgoing = [] }
        return outgoing
    }

    /// Notes that a capture refers to a picture now.
    func refer(to sha256: String) {
        if let hash = ImageHash(sha256) { imageChanges.append(.added(hash)) }
    }

    /// Notes that nothing in this world refers to pictures any more.
    func giveUp(_ hashes: [String]) {
        imageChanges += hashes.compactMap { ImageHash($0).map(ImageChange.removed) }
    }

    /// Forgets the changes that a job made before it failed.
    ///
    /// - Parameter count: how many there were before the job.
    func forgetImageChanges(after count: Int) {
        imageChanges.removeLast(imageChanges.count - count)
    }

    /// Hands out what has changed in the pictures it refers to: all of them if they were read since, then the changes.
    func takeImageChanges() -> (all: Set<ImageHash>?, changes: [ImageChange]) {
        defer { (loadedImages, imageChanges) = (nil, []) }
        return (loadedImages, imageChanges)
    }

    /// Whether anybody wants to hear of anything.
    func hasSubscriptions(_ transaction: Transaction) throws -> Bool {
        if let knownHasSubscriptions { return knownHasSubscriptions }
        let found = try transaction.hasSubscriptions()
        knownHasSubscriptions = found
        return found
    }

    /// Forgets what is in memory of subscriptions.
    func subscriptionsChanged() {
        knownHasSubscriptions = nil
        hasReadSecrets = false
    }

    /// The texts that are masked wherever they are shown.
    func readSecrets(_ transaction: Transaction) throws -> [String] {
        if hasReadSecrets { return secrets }
        let found =
            try hasSubscriptions(transaction)
            ? transaction.subscriptionSecrets(limit: Self.maxSubscriptionSecrets) : []
        secrets = Self.secrets(seed, environment) + found
        hasReadSecrets = true
        return secrets
    }

    private static func secrets(_ seed: Seed, _ environment: Environment) -> [String] {
        seed.apiTokens.values.flatMap(\.self) + environment.secrets
    }

    /// What is kept of the rules may not be what the database has.
    func invalidateRules() {
        knownOutcomes = nil
        knownFaults = nil
    }

    /// Hands out what is to be stored.
    func takeFreshRenderings() -> [FreshRendering] {
        defer { freshRenderings = [] }
        return freshRenderings
    }

    /// The id of the next request. Survives a crash: ids are reserved in blocks, never given out twice.
    ///
    /// - Throws: ``PlatformError/unavailable(_:)`` if there are no more, which only a file that was tampered with brings about.
    func nextRequestID(_ transaction: Transaction) throws -> String {
        guard StoredCount.range.contains(requestCounter), requestCounter < StoredCount.range.upperBound else {
            throw PlatformError.unavailable(
                "the namespace has no more request ids, its counter is \(requestCounter); POST /_sim/reset begins anew")
        }
        if requestCounter == reservedRequests {
            try transaction.setNamespaceValue(.requestCounter, String(requestCounter + Self.requestBlock))
            reservedRequests = requestCounter + Self.requestBlock
        }
        requestCounter += 1
        return generator.text(.request, counter: requestCounter)
    }

    /// The id of the next control request, which has a counter of its own so that watching a run does not change it.
    func nextControlRequestID() -> String {
        controlCounter += 1
        return generator.text(.controlRequest, counter: controlCounter)
    }

    /// Writes down what is only in memory, so that the database alone is the world.
    func flush() throws {
        try database.transaction { try $0.setNamespaceValue(.requestCounter, String(requestCounter)) }
        reservedRequests = requestCounter
    }

    /// Closes the connection of a world that nobody has used for long; the next job opens it again.
    ///
    /// - Returns: what others may know of it meanwhile; nil if it is not at rest.
    func closeIdleConnection() throws -> IdleNamespace? {
        guard database.path != nil, database.isOpen else { return nil }
        let resting = try rested()
        try database.closeIdleConnection()
        saveNote(resting)
        return resting
    }

    /// Writes down what is only in memory, before the database is closed.
    func close() throws {
        // Whatever is set aside has written it down.
        guard database.isOpen else { return }
        let resting = try rested()
        try database.checkpoint()
        try database.close()
        saveNote(resting)
    }

    private func rested() throws -> IdleNamespace? {
        try flush()
        return database.path == nil ? nil : try database.transaction { try IdleNamespace(self, $0) }
    }

    private func saveNote(_ resting: IdleNamespace?) {
        guard let resting, let note = try? WireJSON.encode(resting) else { return }
        environment.store.saveNote(note, of: name)
    }

    /// Runs what is due by `now`, in time order, each stamped with the time it was due.
    func runDue(upTo now: Instant, _ transaction: Transaction) throws {
        while let next = nextDue, next <= now {
            guard let due = try transaction.nextDue(), due.dueAt <= now else {
                nextDue = try transaction.nextDue()?.dueAt
                return
            }
            let job = JobContext(state: self, transaction: transaction, now: due.dueAt, language: .english)
            try transaction.savepoint {
                try transaction.deleteDue(id: due.id)
                try DueWork.perform(due, job)
            }
            nextDue = try transaction.nextDue()?.dueAt
        }
    }
}
