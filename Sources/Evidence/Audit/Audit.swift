import Simulation
import SimulationAPI

/// `GET /_sim/audit`: what the clients of a namespace did that its vendor or HTTP asks them not to do [D audit].
///
/// The job only collects; ``AuditMaterial/report(_:)`` judges, outside of the namespace's jobs.
package struct Audit: Operation, Reads {
    let filter: AuditFilter

    package init(_ filter: AuditFilter) {
        self.filter = filter
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> AuditMaterial {
        try AuditMaterial(job, filter)
    }
}

/// The rules and levels that are asked for; `nil` for all.
package struct AuditFilter: Sendable {
    package let rule: String?
    package let level: AuditReport.Level?
    /// The test whose requests are judged, as `X-Sim-Test` names it; `nil` for all.
    package var test: String?
    /// The lowest level of the findings that the caller tells, so that nobody else must; `nil` if it tells none.
    package var told: AuditReport.Level?

    func includes(_ rule: AuditRule) -> Bool {
        (self.rule.map { $0.isIdentical(to: rule.id) } ?? true) && (level.map { $0 == rule.level } ?? true)
    }
}

extension AuditFilter {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        self.init(
            rule: query.word("rule", input.platforms.auditRules.map(\.id)),
            level: query.word("level", AuditReport.Level.self), test: query.text("test"),
            told: query.word("told", AuditReport.Level.self))
        try query.finish()
    }
}

/// Everything that an audit judges, as it was at one moment.
package struct AuditMaterial: Sendable {
    let journal: JournalSnapshot
    /// The time of the newest request that the journal has forgotten; `nil` if it has forgotten none.
    let forgotten: Instant?
    /// Whether all forgotten requests were judged before.
    let wereJudged: Bool
    let now: Instant
    let secrets: KnownSecrets
    /// Those that are asked for.
    let rules: [AuditRule]
    /// The test whose findings are asked for; `nil` for all.
    let test: String?
    let secretMembers: Set<String>
    /// The routes of the platforms, for the names of findings.
    let routes: [(method: String, path: Glob)]
    /// The events that rules look at, oldest first.
    let events: [StoredEvent]
    /// Whether there are older events than those that were looked at.
    let hasOlderEvents: Bool
    let attempts: [AuditedAttempt]
    let resubmissions: [Resubmission]

    /// The numbers of the last events, and of the last deliveries, that an audit looks at [D audit].
    private static let maxEvents: Int64 = 100_000
    private static let maxDeliveries: Int64 = 10_000

    init(_ job: JobContext, _ filter: AuditFilter, judged: Int64 = 0) throws {
        let environment = job.state.environment
        journal = job.journal
        test = filter.test
        let forgotten = environment.journals.forgotten(of: job.state.name, test: filter.test)
        self.forgotten = forgotten?.at
        wereJudged = forgotten.map { $0.sequence <= judged } ?? true
        now = job.now
        secrets = try job.state.readSecrets(job.transaction)
        rules = environment.platforms.auditRules.filter { filter.includes($0) }
        secretMembers = environment.platforms.auditedSecrets
        routes = environment.routes.all.map { ($0.method, $0.path) }
        let kinds = Set(rules.flatMap(\.check.events).map(\.name)).sorted()
        events = kinds.isEmpty ? [] : try job.transaction.events(kinds: kinds, recent: Self.maxEvents)
        hasOlderEvents = try job.transaction.lastEventSequence() > Self.maxEvents
        var settings = PastSettings(events, isWhole: !hasOlderEvents, job)
        if rules.contains(where: { $0.check.isOfReceivers }) {
            let ends = hasOlderEvents ? [:] : Self.ends(ofAttempts: events)
            attempts = try job.transaction.attempts(ofDeliveries: Self.maxDeliveries).map { attempt in
                let end = ends[TextKey("\(attempt.attempt.deliveryID):\(attempt.attempt.number)")]
                return AuditedAttempt(attempt, timeout: try settings.before(end ?? .max).webhookTimeout, job)
            }
        } else {
            attempts = []
        }
        resubmissions = try Resubmission.all(
            rules.lazy.compactMap(\.check.resubmission).first, events, &settings, job)
    }

    /// The numbers of the events with which attempts to deliver webhooks ended, by delivery and attempt; none if the settings never
    /// changed.
    private static func ends(ofAttempts events: [StoredEvent]) -> [TextKey: Int64] {
        guard events.contains(where: { $0.kind == EventKind.settingsChanged.name }) else { return [:] }
        var ends: [TextKey: Int64] = [:]
        var numbers: [TextKey: Int] = [:]
        for event in events where event.kind == EventKind.webhookAttempted.name {
            numbers[TextKey(event.subject), default: 0] += 1
            ends[TextKey("\(event.subject):\(numbers[TextKey(event.subject), default: 0])")] = event.sequence
        }
        return ends
    }
}

/// The settings of a namespace, as they were.
private struct PastSettings {
    private let job: JobContext
    /// The changes, oldest first.
    private let changes: [StoredEvent]
    /// Whether no change is missing.
    private let isWhole: Bool
    /// The settings after the change at a place; at -1 those before the first.
    private var known: [Int: Settings] = [:]

    init(_ events: [StoredEvent], isWhole: Bool, _ job: JobContext) {
        (self.job, self.isWhole) = (job, isWhole)
        changes = events.filter { $0.kind == EventKind.settingsChanged.name }
    }

    /// The settings before an event.
    mutating func before(_ sequence: Int64) throws -> Settings {
        let place = changes.firstPlace { $0.sequence >= sequence } - 1
        if place + 1 == changes.count || place < 0 && !isWhole { return job.settings }
        if let settings = known[place] { return settings }
        var document: JSONValue = [:]
        if place >= 0 {
            document = try StoredJSON.decode(changes[place].data).members?["settings"] ?? document
        }
        // Settings that cannot be read are taken for those of now.
        let settings = (try? Settings(document, job.state.seed)) ?? job.settings
        known[place] = settings
        return settings
    }
}

extension AuditCheck {
    /// Whether the check is about receivers of webhooks.
    var isOfReceivers: Bool {
        switch self {
        case .slowReceiver, .refusedWebhook, .redirectingReceiver: true
        default: false
        }
    }

    /// The names that the check for resubmissions needs; `nil` for another check.
    var resubmission: AuditResubmission? { if case .resubmitted(let names) = self { names } else { nil } }

    /// The kinds of events that the check looks at.
    fileprivate var events: [EventKind] {
        switch self {
        case .refusedWithoutReading(_, _, _, let known): [known]
        case .happened(let kind, let start, _): [kind, start]
        case .unanswered(let kind, let answer, let closing, _, _): [kind, answer] + closing
        case .repeatedLogin(_, _, _, _, let ended, _): ended
        case .resubmitted(let names): [names.submitted, names.disputed, .settingsChanged] + names.decided
        case .slowReceiver: [.webhookAttempted, .settingsChanged]
        case .noRetry: [.webhookAttempted]
        case .retryTooSoon, .tokenInURL, .pageFetchedTwice, .unreadMember, .refusedWebhook, .redirectingReceiver,
            .valueReused, .tokenAfterEnd, .polling, .repeatedUpload, .oldVersion:
            []
        }
    }
}

/// An attempt to deliver a webhook.
struct AuditedAttempt: Sendable {
    let delivered: StoredAttempt
    /// The real time after which it failed.
    let timeout: Span
    /// The number of the request that caused it, also by way of due work; `nil` if none did, or it is not known.
    let request: Int64?
    /// Whether the receiver took more than half of the time after which the attempt fails.
    let isSlow: Bool

    fileprivate init(_ delivered: StoredAttempt, timeout: Span, _ job: JobContext) {
        (self.delivered, self.timeout) = (delivered, timeout)
        isSlow = delivered.attempt.milliseconds * 2000 >= Double(timeout.microseconds)
        // Most attempts succeed at once. They need no request.
        guard delivered.attempt.status != 200 || isSlow,
            case .request(let sequence)? = delivered.cause?.root(job).kind
        else {
            request = nil
            return
        }
        request = sequence
    }
}

/// Something that was submitted although an earlier submission of the same thing had a result which could be disputed.
struct Resubmission: Sendable {
    let id: String
    let earlier: String
    let customerID: String
    /// The cause of the submission.
    let cause: Cause?
    let username: String

    /// All among the events of submissions; none if no rule is about them.
    fileprivate static func all(
        _ names: AuditResubmission?, _ events: [StoredEvent], _ settings: inout PastSettings, _ job: JobContext
    ) throws -> [Resubmission] {
        guard let names else { return [] }
        /// A submission, as the events until now tell.
        struct Submission {
            let id: String
            /// `nil` before it has one.
            var result: String?
            var isDisputed = false
        }
        var last: [TextKey: Submission] = [:]
        var keys: [TextKey: TextKey] = [:]
        var found: [Resubmission] = []
        let decided = Set(names.decided.map(\.name))
        // Each submission costs the job two look-ups.
        let submissions = events.filter { $0.kind == names.submitted.name && isOfClient($0) }
        let first = submissions.suffix(maxSubmissions).first?.sequence ?? .max
        for event in events where event.sequence >= first {
            if event.kind == names.submitted.name {
                guard isOfClient(event) else { continue }
                let user = try StoredJSON.decode(event.data).members?["username"]?.text ?? ""
                guard let subject = try names.subject(event.subject, settings.before(event.sequence), job) else {
                    continue
                }
                let key = TextKey("\(user)\n\(subject.purpose)\n\(subject.customerID)")
                if let earlier = last[key], !earlier.isDisputed,
                    earlier.result.map(subject.disputable.contains) ?? false
                {
                    found.append(
                        Resubmission(
                            id: event.subject, earlier: earlier.id, customerID: subject.customerID, cause: event.cause,
                            username: user))
                }
                last[key] = Submission(id: event.subject)
                keys[TextKey(event.subject)] = key
            } else if let key = keys[TextKey(event.subject)], last[key]?.id.isIdentical(to: event.subject) == true {
                if decided.contains(event.kind) {
                    last[key]?.result = try StoredJSON.decode(event.data).members?["result"]?.text
                }
                if event.kind == names.disputed.name { last[key]?.isDisputed = true }
            }
        }
        return found
    }

    /// Whether a client's request caused the event, and no call of the control API, as for items that a test makes.
    private static func isOfClient(_ event: StoredEvent) -> Bool {
        if case .request? = event.cause?.kind { true } else { false }
    }

    /// The number of the last submissions that are looked at [D audit].
    static let maxSubmissions = 10_000
}
