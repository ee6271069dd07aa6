import EntrupyAPI
import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import Storage

/// What every namespace of a server shares: the outside world as the rules may see it.
package final class Environment: Sendable {
    /// The real time. The only clock below `Server`, and handed in.
    let realTime: @Sendable () -> Instant
    /// Threads that may block: mailboxes drain and images are written on them.
    package let threads: NIOThreadPool
    package let images: ImageStore
    let store: NamespaceStore
    /// The settings namespaces are made with.
    let settings: JSONValue
    /// The seed namespaces are made from.
    let seed: Seed
    /// What the seeds of namespaces without one follow from.
    package let randomSeed: Int
    /// Called whenever some namespace's next due time may have changed.
    let dueChanged: @Sendable () -> Void

    /// The worlds that were saved.
    let snapshots: SnapshotStore
    /// The scenarios namespaces were given.
    let scenarios: ScenarioStore
    /// Worlds that nobody sees.
    let scratchStore: NamespaceStore
    /// Where files are copied, so that no namespace's jobs wait for it.
    let copyThreads = NIOThreadPool(numberOfThreads: 2)
    /// Held while files are copied in the order that is recorded.
    let copyOrder = NIOLock()

    /// Writes requests down; nil where that is not asked for.
    package let recorder: Recorder?
    /// The real time a recording begins at.
    package var recordingStart: Instant? { recorder?.startedAt }

    /// Which namespaces could not be written when they were last written to.
    let storageHealth = StorageHealth()
    /// Which worlds on disk have an open connection.
    let connections = Connections(most: 200)
    /// Renderings that no row keeps.
    let renderings = RenderingCache(bytes: 16_000_000)

    /// Whether webhooks may go to addresses beyond this machine and private networks.
    let allowsAnyTarget: Bool

    /// What was asked of all namespaces.
    let journals = Journals()

    private let stopBox = NIOLockedValueBox(false)

    /// Whether the server is to stop: what takes long ends where it is.
    package var isStopping: Bool { stopBox.withLockedValue { $0 } }

    /// Tells that the server is to stop.
    package func stop() {
        stopBox.withLockedValue { $0 = true }
    }

    private let secretBox = NIOLockedValueBox<[String]>([])

    /// Secrets of the server itself, which no namespace shows.
    var secrets: [String] { secretBox.withLockedValue { $0 } }

    /// Has a secret of the server masked wherever it is shown. To be called before any namespace is opened.
    package func hide(_ secret: String) {
        secretBox.withLockedValue { $0.append(secret) }
    }

    private let senderBox = NIOLockedValueBox<Sender?>(nil)
    private let routesBox = NIOLockedValueBox<[(method: String, path: Glob)]>([])
    private let publicURLBox: NIOLockedValueBox<String>
    private let ownAddressBox = NIOLockedValueBox<ServerAddress?>(nil)
    private let serverRequests = NIOLockedValueBox(0)
    private let generations = NIOLockedValueBox(0)
    private let seeds = NIOLockedValueBox<[String: Seed]>([:])

    init(
        realTime: @escaping @Sendable () -> Instant, threads: NIOThreadPool, images: ImageStore, store: NamespaceStore,
        snapshots: SnapshotStore, scenarios: ScenarioStore, scratchStore: NamespaceStore,
        settings: JSONValue, seed: Seed, randomSeed: Int, publicURL: String, allowsAnyTarget: Bool,
        recorder: Recorder?, isTimed: Bool, dueChanged: @escaping @Sendable () -> Void
    ) {
        self.recorder = recorder
        self.allowsAnyTarget = allowsAnyTarget
        self.snapshots = snapshots
        self.scenarios = scenarios
        self.scratchStore = scratchStore
        copyThreads.start()
        let jobTime: @Sendable () -> Instant = { JobTime.current ?? realTime() }
        self.realTime = isTimed ? jobTime : realTime
        self.threads = threads
        self.images = images
        self.store = store
        self.settings = settings
        self.seed = seed
        self.randomSeed = randomSeed
        self.dueChanged = dueChanged
        publicURLBox = NIOLockedValueBox(publicURL)
    }

    /// Makes attempts; tells the outbox when each is over.
    package typealias Sender = @Sendable (_ webhooks: [OutgoingWebhook], _ namespace: String, _ outbox: Outbox) -> Void

    /// Says who makes attempts.
    package func whenToSend(_ sender: @escaping Sender) {
        senderBox.withLockedValue { $0 = sender }
    }

    /// Has attempts made, beside the line of work.
    func send(_ webhooks: [OutgoingWebhook], _ namespace: String, _ outbox: Outbox) {
        guard let sender = senderBox.withLockedValue({ $0 }) else {
            for _ in webhooks { outbox.end() }
            return
        }
        sender(webhooks, namespace, outbox)
    }

    /// The platform's routes, for telling a rule that meets none of them.
    var routes: [(method: String, path: Glob)] { routesBox.withLockedValue { $0 } }

    /// Tells which routes there are: method, and path with `{name}` for its parameters.
    package func adopt(routes: [(method: String, path: String)]) {
        let globs = routes.map { route in
            let parts = route.path.split(separator: "/").map { $0.hasPrefix("{") ? "*" : String($0) }
            return (route.method, Glob("/" + parts.joined(separator: "/")))
        }
        routesBox.withLockedValue { $0 = globs }
    }

    /// What absolute URLs start with; known once the port is.
    package var publicURL: String {
        get { publicURLBox.withLockedValue { $0 } }
        set { publicURLBox.withLockedValue { $0 = newValue } }
    }

    /// Where the server listens, known once it does; in a replay, where the recorded one did.
    package var ownAddress: ServerAddress? {
        get { ownAddressBox.withLockedValue { $0 } }
        set { ownAddressBox.withLockedValue { $0 = newValue } }
    }

    /// A request id for an answer that comes from no namespace's line of work; no other answer of this process has it.
    package func nextServerRequestID() -> String {
        let number = serverRequests.withLockedValue { count in
            count += 1
            return count
        }
        return "srv_\(number)"
    }

    /// A number no world of this process has had.
    func nextGeneration() -> Int {
        generations.withLockedValue { count in
            count += 1
            return count
        }
    }

    /// The base URL of a namespace [D].
    package func publicURL(ofNamespace name: String) -> String {
        name == Namespaces.defaultName ? publicURL : "\(publicURL)/ns/\(name)"
    }

    /// A seed that a world remembers; each text is read once.
    func seed(named name: String, text: String) throws -> Seed {
        let key = name + "\n" + text
        if let known = seeds.withLockedValue({ $0[key] }) { return known }
        if seed.name == name, seed.text.isIdentical(to: text) { return seed }
        let seed = try Seed.remembered(name: name, text: text)
        seeds.withLockedValue { $0[key] = seed }
        return seed
    }
}

/// JSON that storage keeps as text.
enum StoredJSON {
    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try WireJSON.encode(value), as: UTF8.self)
    }

    static func decode(_ text: String) throws -> JSONValue {
        try WireJSON.decode(JSONValue.self, from: Data(text.utf8))
    }
}
