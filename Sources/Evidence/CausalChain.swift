import Simulation
import SimulationAPI

/// The steps of an explanation while they are collected: each with what it follows from.
struct CausalChain {
    private struct Node {
        let step: Explanation.Step
        /// `nil` if it follows from that of the causes, or of what was caused.
        let place: Place?
        /// The place among steps of the same place.
        let order: Int
    }

    /// A place in the order in which things happened: behind an event of the log, then by the number of the request. An event has the
    /// number 0.
    private struct Place: Comparable {
        let event: Int64
        var request: Int64 = 0

        static let end = Place(event: .max)

        static func < (one: Place, other: Place) -> Bool {
            (one.event, one.request) < (other.event, other.request)
        }
    }

    private let job: JobContext
    private let secrets: KnownSecrets
    private var nodes: [String: Node] = [:]
    private var differences: [Explanation.Alternative] = []
    private var hasForgotten = false
    /// The steps that were begun, so that causes which lead back to a step end there. Only a damaged file has such.
    private var begun: Set<String> = []
    private var depth = 0
    /// The events that were read, oldest first, by their subject and by their kinds.
    private var histories: [String: [StoredEvent]] = [:]
    private var recent: [[String]: [StoredEvent]] = [:]
    /// The events that changed settings, with the paths of these, and those that began to hold a request before it was handled, by its
    /// number; `nil` until they are wanted.
    private var settingChanges: [(event: StoredEvent, paths: [String])]?
    private var holds: [Int64: StoredEvent]?

    /// The maximum number of steps of an explanation, and of the steps that one query adds [D explain].
    static let maxSteps = 1000
    /// The maximum length of an answer's error in a step, in Unicode scalars.
    private static let maxError = 300
    /// The maximum number of refused requests that the explanation of an object names.
    static let maxRefusals = 200
    /// The maximum number of causes, each of the one before.
    private static let maxDepth = 64

    init(_ job: JobContext, secrets: KnownSecrets) {
        self.job = job
        self.secrets = secrets
    }

    /// The collected steps, oldest first: by time, then by the order in which they happened, since a frozen clock gives many steps one
    /// time. A step comes after those that it follows from.
    func explanation(of subject: Explanation.Subject) -> Explanation {
        var steps: [Explanation.Step] = []
        var isDone: Set<String> = []
        func emit(_ node: Node) {
            guard isDone.insert(node.step.id).inserted else { return }
            for cause in node.step.causes { nodes[cause].map(emit) }
            steps.append(node.step)
        }
        let places = self.places()
        let sorted = nodes.values.map { (node: $0, place: places[$0.step.id] ?? .end) }.sorted { one, other in
            (one.node.step.at, one.place, one.node.order) < (other.node.step.at, other.place, other.node.order)
        }
        for (node, _) in sorted { emit(node) }
        let alternatives = differences.sorted { $0.step < $1.step }
        return Explanation(subject: subject, steps: steps, would_differ: alternatives, forgotten: hasForgotten)
    }

    /// The places of the steps. A step without one has that of the first step that it caused, or else of its last cause.
    private func places() -> [String: Place] {
        var places = nodes.compactMapValues(\.place)
        // A step is collected after its causes.
        let collected = nodes.values.sorted { $0.order < $1.order }
        for node in collected.reversed() {
            guard let place = places[node.step.id] else { continue }
            for cause in node.step.causes where nodes[cause]?.place == nil && nodes[cause]?.step.kind != .delivery {
                places[cause] = min(places[cause] ?? place, place)
            }
        }
        for node in collected where places[node.step.id] == nil {
            places[node.step.id] = node.step.causes.compactMap { places[$0] }.max()
        }
        return places
    }

    // MARK: Steps and their causes

    /// Begins a step.
    ///
    /// - Returns: whether it is new, and there is room.
    private mutating func begin(_ id: String) -> Bool {
        guard begun.count < Self.maxSteps else {
            if !begun.contains(id) { hasForgotten = true }
            return false
        }
        return begun.insert(id).inserted
    }

    /// Adds a step, unless the chain has it already, or has no room.
    ///
    /// - Returns: whether it is new.
    private mutating func insert(
        _ id: String, _ kind: Explanation.Step.Kind, at moment: Instant, place: Place? = nil, _ text: String,
        causes: [String] = [], href: String? = nil
    ) -> Bool {
        guard nodes[id] == nil else { return false }
        guard nodes.count < Self.maxSteps else {
            hasForgotten = true
            return false
        }
        let masked = Secrets(secrets).masked(text: text)
        let step = Explanation.Step(
            id: id, kind: kind, at: moment.epoch, text: masked, causes: causes.filter { nodes[$0] != nil },
            href: href.map { "/ns/\(job.state.name)/_sim/\($0)" })
        nodes[id] = Node(step: step, place: place, order: nodes.count)
        return true
    }

    /// Adds what caused something.
    ///
    /// - Parameter moment: the time of what it caused.
    /// - Returns: the ids of the steps; empty if the cause is not known.
    private mutating func causes(_ cause: Cause?, at moment: Instant) throws -> [String] {
        depth += 1
        defer { depth -= 1 }
        guard let cause, depth <= Self.maxDepth, let step = try add(cause, at: moment) else {
            hasForgotten = true
            return []
        }
        return [step]
    }

    /// Adds a cause.
    ///
    /// - Parameter moment: the time of what it caused.
    /// - Returns: the id of its step; `nil` if it is not known, or is work that changed nothing.
    mutating func add(_ cause: Cause, at moment: Instant) throws -> String? {
        switch cause.kind {
        case .request(let sequence):
            // A snapshot of another namespace may have the number of another request. A held one may be handled later.
            if let entry = job.journalEntry(sequence: sequence),
                entry.at == moment || entry.isHeld && entry.at <= moment
            {
                return try add(entry)
            }
            hasForgotten = true
            _ = insert(cause.id, .request, at: moment, "a request that the journal has forgotten")
            return cause.id
        case .dueWork(let id):
            if let past = try job.transaction.pastWork(id: id) { return try add(past) }
            return try job.transaction.due(id: id).map { try add($0) }
        case .control(let number):
            guard let call = try job.transaction.controlCall(number: number) else { return nil }
            _ = insert(cause.id, .control, at: call.at, call.line)
            return cause.id
        case .delivery(let id):
            guard let delivery = try job.transaction.delivery(id: id) else { return nil }
            return try add(delivery)
        }
    }

    /// Adds a request of the journal, with what decided it.
    mutating func add(_ entry: JournalEntry) throws -> String {
        let id = Cause.request(entry.sequence).id
        guard begin(id) else { return id }
        let secrets = Secrets(entry, secrets)
        let shown = JournaledRequest(entry, withMessages: false, secrets)
        // The events of a request stand in the log behind those from before it.
        let last = entry.outcome.changes?.after
        var decided = try addHold(of: entry)
        for var fact in shown.decided_by.facts ?? [] {
            if fact.kind == .rule, entry.outcome.fault?.id.isIdentical(to: fact.name) == true, let effect = shown.effect
            {
                fact.text += ": \(try StoredJSON.encode(effect))"
            }
            decided.append(try add(fact, of: id, at: entry.at, through: last))
        }
        let state = entry.outcome.state
        let made = try state.flatMap { try newestEvent(of: $0, at: entry.at, through: last) }
        if let made { decided.append(try add(made)) }
        var text = "\(shown.method) \(shown.path) -> \(shown.answerText)"
        if let username = shown.username { text += ", \(username)" }
        if let because = shown.because {
            text += ": \(because)"
        } else if shown.decided_by.facts == nil, let error = entry.error {
            // Masked whole: the beginning of a secret would not be recognized.
            text += ": \(String(secrets.masked(text: error).unicodeScalars.prefix(Self.maxError)))"
        }
        if let state, state.kinds.isEmpty, made == nil { text += "; no event of the log is about it" }
        _ = insert(
            id, .request, at: entry.at, place: last.map { Place(event: $0, request: entry.sequence) }, text,
            causes: decided,
            href: "requests/sequence:\(entry.sequence)")
        return id
    }

    /// The event that made the state which refused a request: the newest one before it. `nil` if the log has none.
    private mutating func newestEvent(
        of state: RefusingState, at moment: Instant, through last: Int64?
    ) throws -> StoredEvent? {
        let kinds = Array(state.kinds.prefix(Self.maxKinds))
        func isMeant(_ event: StoredEvent) -> Bool {
            event.isBefore(moment, through: last) && (kinds.isEmpty || kinds.contains(event.kind))
                && state.named.map { event.data.contains("\"\($0)\"") } ?? true
        }
        if let found = try history(of: state.about).last(where: isMeant) { return found }
        // Some events name the object in their data.
        guard !kinds.isEmpty else { return nil }
        return try recentEvents(kinds).last { isMeant($0) && $0.data.contains("\"\(state.about)\"") }
    }

    /// Adds a fact that decided a step, with what made the rule or the setting, and the history that led to it.
    ///
    /// - Parameter last: the last event of the log before the step; `nil` if it is not known.
    private mutating func add(
        _ fact: DecidingFact, of step: String, at moment: Instant, through last: Int64?
    ) throws -> String {
        let kind: Explanation.Step.Kind =
            switch fact.kind {
            case .rule: .rule
            case .limit: .limit
            case .setting: .setting
            }
        let id = "\(fact.kind.rawValue):\(fact.name):\(step)"
        guard begin(id) else { return id }
        var causes: [String] = []
        if let made = try maker(of: fact, at: moment, through: last) { causes.append(try add(made)) }
        if let object = fact.about {
            for event in try events(of: object, at: moment, through: last) { causes.append(try add(event)) }
        }
        guard insert(id, kind, at: moment, fact.text, causes: causes) else { return id }
        if let otherwise = fact.otherwise {
            differences.append(.init(step: id, text: Secrets(secrets).masked(text: otherwise)))
        }
        return id
    }

    /// The event that made the rule of a fact, or gave its limit or setting the value; `nil` if the log has none.
    private mutating func maker(of fact: DecidingFact, at moment: Instant, through last: Int64?) throws -> StoredEvent?
    {
        switch fact.kind {
        case .rule:
            let kinds = [EventKind.faultAdded.name, EventKind.outcomeAdded.name]
            return try history(of: fact.name).last { $0.isBefore(moment, through: last) && kinds.contains($0.kind) }
        case .limit, .setting:
            let changes =
                try settingChanges
                ?? history(of: "settings").filter { $0.kind == EventKind.settingsChanged.name }.map { event in
                    (event, (try StoredJSON.decode(event.data).members?["changed"]?.elements ?? []).compactMap(\.text))
                }
            settingChanges = changes
            return changes.last { event, paths in
                event.isBefore(moment, through: last)
                    && paths.contains { path in
                        "\(path).".hasPrefix("\(fact.name).") || "\(fact.name).".hasPrefix("\(path).")
                    }
            }?.event
        }
    }

    /// Adds an event of the log, with its cause.
    mutating func add(_ event: StoredEvent) throws -> String {
        let id = "event:\(event.sequence)"
        guard begin(id) else { return id }
        let data = try StoredJSON.decode(event.data)
        var causes = try causes(of: event, data)
        if let fact = DecidingFact(data.members?["decision"]), !hasFact(fact, causes) {
            causes.append(try add(fact, of: id, at: event.at, through: event.sequence))
        }
        let (before, after) = (event.sequence.adding(-1), event.sequence.adding(1))
        _ = insert(
            id, .event, at: event.at, place: Place(event: event.sequence), event.text(data), causes: causes,
            href: "event-log?after_sequence=\(before)&before_sequence=\(after)")
        return id
    }

    private mutating func causes(of event: StoredEvent, _ data: JSONValue) throws -> [String] {
        // A request that was held before it was handled follows from its hold, and not the other way.
        if event.kind == EventKind.requestHeld.name, data.members?["when"]?.text == "before" { return [] }
        guard event.kind == EventKind.requestReleased.name else { return try causes(event.cause, at: event.at) }
        let held = try history(of: event.subject).first { $0.kind == EventKind.requestHeld.name }.map { try add($0) }
        // Where its time was over, nobody has released it.
        return [held].compactMap(\.self) + (event.cause == nil ? [] : try causes(event.cause, at: event.at))
    }

    // MARK: Holds

    /// Adds the hold of a request that was held before it was handled, and what let it go on.
    ///
    /// - Returns: the ids of the steps from which the request follows.
    private mutating func addHold(of entry: JournalEntry) throws -> [String] {
        guard entry.isHeld else { return [] }
        if holds == nil {
            var found: [Int64: StoredEvent] = [:]
            for event in try recentEvents([EventKind.requestHeld.name]) {
                let data = try StoredJSON.decode(event.data).members
                guard let sequence = data?["sequence"]?.integer, data?["when"]?.text == "before" else { continue }
                found[sequence] = event
            }
            holds = found
        }
        guard let held = holds?[entry.sequence] else { return [] }
        let released = try releases(of: held)
        return try (released.isEmpty ? [held] : released).map { try add($0) }
    }

    private mutating func releases(of held: StoredEvent) throws -> [StoredEvent] {
        try history(of: held.subject).filter { $0.kind == EventKind.requestReleased.name }
    }

    /// Adds what follows from a hold or its end: the release, and the request that went on.
    private mutating func followHold(_ event: StoredEvent) throws {
        guard [EventKind.requestHeld, .requestReleased].map(\.name).contains(event.kind) else { return }
        for released in try releases(of: event) { _ = try add(released) }
        let sequence = try StoredJSON.decode(event.data).members?["sequence"]?.integer
        guard let sequence, let entry = job.journalEntry(sequence: sequence), entry.isHeld else { return }
        _ = try add(entry)
    }

    /// Whether the request that caused an event has the fact already.
    private func hasFact(_ fact: DecidingFact, _ causes: [String]) -> Bool {
        causes.contains { nodes["\(fact.kind.rawValue):\(fact.name):\($0)"] != nil }
    }

    private mutating func add(_ work: StoredPastWork) throws -> String {
        try add(work.id, work.kind, of: work.subject, at: work.at, work.cause, isPast: true)
    }

    private mutating func add(_ work: StoredWork) throws -> String {
        try add(work.id, work.kind, of: job.shownSubject(of: work), at: work.dueAt, work.cause, isPast: false)
    }

    /// - Parameter subject: the subject as it may be shown.
    private mutating func add(
        _ number: Int64, _ kind: String, of subject: String, at moment: Instant, _ cause: Cause?, isPast: Bool
    ) throws -> String {
        let id = Cause.dueWork(number).id
        guard begin(id) else { return id }
        let causes = try causes(cause, at: scheduled(by: cause, before: moment))
        let isAction = kind == DueKind.scenarioAction.name
        let text =
            isAction
            ? "the scenario's timeline[\(subject)] \(isPast ? "ran" : "is due")"
            : "\(kind) of \(subject) \(isPast ? "fell due" : "is due")"
        _ = insert(
            id, isAction ? .scenario : .dueWork, at: moment, text, causes: causes, href: isPast ? nil : "due")
        return id
    }

    /// The time of the cause of scheduled work, which does not say when it was scheduled.
    private func scheduled(by cause: Cause?, before moment: Instant) throws -> Instant {
        guard case .request(let sequence)? = cause?.kind else { return moment }
        return job.journalEntry(sequence: sequence).map(\.at).flatMap { $0 <= moment ? $0 : nil } ?? moment
    }

    /// Adds a delivery, with its cause.
    private mutating func add(_ delivery: StoredDelivery) throws -> String {
        guard begin(delivery.id) else { return delivery.id }
        let causes = try causes(delivery.cause, at: delivery.createdAt)
        // The delivery was made in the job of a request, behind its events.
        let last: Int64? =
            if case .request(let sequence)? = delivery.cause?.kind {
                job.journalEntry(sequence: sequence)?.outcome.changes?.through
            } else { nil }
        let url = try job.transaction.subscription(id: delivery.subscriptionID)?.url
        _ = insert(
            delivery.id, .delivery, at: delivery.createdAt, place: last.map { Place(event: $0) },
            "the webhook \(delivery.event)\(url.map { " to \($0)" } ?? ""): \(delivery.status.rawValue)",
            causes: causes, href: "webhook-deliveries/\(delivery.id)")
        return delivery.id
    }

    // MARK: Consequences

    /// Adds what followed from a cause, and what followed from that.
    mutating func follow(_ cause: Cause) throws {
        var waiting: [Cause] = [cause]
        while let next = waiting.popLast(), nodes.count < Self.maxSteps {
            for event in try events(of: next) {
                _ = try add(event)
                try followHold(event)
            }
            for delivery in try job.transaction.deliveries(cause: next, limit: Self.maxSteps) { try follow(delivery) }
            for work in try job.transaction.due(cause: next, limit: Self.maxSteps) { _ = try add(work) }
            for work in try job.transaction.pastWork(cause: next, limit: Self.maxSteps)
            where nodes["due:\(work.id)"] == nil {
                waiting.append(.dueWork(work.id))
                _ = try add(work)
            }
        }
    }

    /// Adds what followed from the cause of an event for the same subject.
    mutating func follow(_ event: StoredEvent) throws {
        try followHold(event)
        guard let cause = event.cause else { return }
        for delivery in try job.transaction.deliveries(cause: cause, limit: Self.maxSteps)
        where delivery.subject.isIdentical(to: event.subject) { try follow(delivery) }
        for work in try job.transaction.due(cause: cause, limit: Self.maxSteps)
        where job.shownSubject(of: work).isIdentical(to: event.subject) { _ = try add(work) }
    }

    /// The events of a cause. Those of a request stand together in the log.
    private func events(of cause: Cause) throws -> [StoredEvent] {
        guard case .request(let sequence) = cause.kind else {
            return try job.transaction.events(cause: cause, limit: Self.maxSteps)
        }
        guard let changes = job.journalEntry(sequence: sequence)?.outcome.changes, changes.after < changes.through
        else {
            return []
        }
        return try job.transaction.events(
            after: changes.after, limit: Int(min(changes.through.adding(-changes.after.clamped), Int64(Self.maxSteps)))
        ).filter { $0.cause == cause }
    }

    /// Adds a delivery with its attempts.
    mutating func follow(_ delivery: StoredDelivery) throws {
        var last = try add(delivery)
        let attempted = try job.transaction.events(cause: .delivery(delivery.id), limit: Self.maxSteps)
            .filter { $0.kind == EventKind.webhookAttempted.name }
        for attempt in try job.transaction.attempts(deliveryID: delivery.id) {
            let id = "\(delivery.id)#\(attempt.number)"
            let answer = attempt.status.map { "the receiver answered \($0)" } ?? "no answer"
            let problem = attempt.error.map { ": \($0)" } ?? ""
            var causes = [last]
            let event = attempted.indices.contains(attempt.number - 1) ? attempted[attempt.number - 1] : nil
            if attempt.faultID != nil, let event,
                let fact = DecidingFact(try StoredJSON.decode(event.data).members?["decision"])
            {
                causes.append(try add(fact, of: id, at: attempt.at, through: event.sequence))
            }
            // Its event stands in the log where the receiver answered, which two runs of one test need not have in common.
            _ = insert(
                id, .attempt, at: attempt.at, "attempt \(attempt.number): \(answer)\(problem)", causes: causes,
                href: "webhook-deliveries/\(delivery.id)")
            last = id
        }
        for work in try job.transaction.due(cause: .delivery(delivery.id), limit: Self.maxSteps) { _ = try add(work) }
    }

    // MARK: Histories

    /// Adds the history of an object of a platform: its events, with their causes, and what followed for it.
    ///
    /// - Returns: the number of events.
    @discardableResult
    mutating func add(history: ExplainedObject) throws -> Int {
        var count = 0
        for subject in history.subjects {
            for event in try events(of: subject, at: .end, through: nil) where history.isMeant(event) {
                count += 1
                _ = try add(event)
                try follow(event)
            }
        }
        return count
    }

    /// Adds the requests whose path has one of some ids and were refused, or lost: the log has nothing of them. Only the newest, if there
    /// are very many, and among as many entries of the journal as of the log.
    mutating func add(refusalsOf ids: [String]) throws {
        var newest: [JournalEntry] = []
        let journal = job.journal
        for entry in journal.suffix(ListEvents.maxExamined).reversed()
        where entry.status.map({ $0 >= 400 }) ?? true && entry.names(anyOf: ids) {
            guard newest.count < Self.maxRefusals else {
                hasForgotten = true
                break
            }
            newest.append(entry)
        }
        if journal.count > ListEvents.maxExamined { hasForgotten = true }
        for entry in newest.reversed() { _ = try add(entry) }
    }

    /// The events of a subject up to an event of the log, or else up to a time, oldest first.
    private mutating func events(
        of subject: String, at moment: Instant, through last: Int64?
    ) throws -> [StoredEvent] {
        let found = try history(of: subject)
        if found.count == Self.maxSteps { hasForgotten = true }
        return found.filter { $0.isBefore(moment, through: last) && $0.kind != EventKind.webhookAttempted.name }
    }

    /// The events of a subject, oldest first. Each is read once.
    private mutating func history(of subject: String) throws -> [StoredEvent] {
        if let known = histories[subject] { return known }
        let found = try job.transaction.events(
            of: subject, after: 0, before: .max, recent: Int64(ListEvents.maxExamined), limit: Self.maxSteps)
        let history = Array(found.reversed())
        histories[subject] = history
        return history
    }

    /// The events of some kinds among the last ones, oldest first. Each is read once.
    private mutating func recentEvents(_ kinds: [String]) throws -> [StoredEvent] {
        if let known = recent[kinds] { return known }
        let found = try job.transaction.events(kinds: kinds, recent: Int64(ListEvents.maxExamined))
        recent[kinds] = found
        return found
    }

    /// The maximum number of kinds of events that a bundle's request may name.
    private static let maxKinds = 10
}

extension JSONValue {
    fileprivate var integer: Int64? {
        if case .number(let number) = self { number.integer.map { Int64($0) } } else { nil }
    }
}

extension Int64 {
    /// The sum, or the limit that it passes. A bundle may have any number.
    fileprivate func adding(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other < 0 ? .min : .max) : sum
    }

    /// The number, or the least one whose negation is a number.
    fileprivate var clamped: Int64 { Swift.max(self, -.max) }
}

extension StoredEvent {
    /// The members of an event's data that are shown, the first ones first.
    private static let shown = [
        "reason", "changed", "from", "to", "result", "flag", "status", "entrupy_id", "capture_id", "outcome_id",
        "fault_id", "username",
        "region_id", "action", "problem", "event", "attempt", "error",
    ]

    /// The maximum number of members that are shown.
    private static let maxMembers = 4

    /// Whether it is one of the events up to another one, by its number; if that is not known, up to a time.
    fileprivate func isBefore(_ moment: Instant, through last: Int64?) -> Bool {
        last.map { sequence <= $0 } ?? (at <= moment)
    }

    /// The event in words.
    fileprivate func text(_ data: JSONValue) -> String {
        let parts = Self.shown.compactMap { name -> String? in
            guard let value = data.members?[name], value != .null else { return nil }
            if let list = value.elements {
                let texts = list.prefix(Self.maxMembers).map { $0.text ?? $0.quoted }
                return "\(name) \(texts.joined(separator: ", "))\(list.count > texts.count ? ", …" : "")"
            }
            return "\(name) \(value.text ?? value.quoted)"
        }
        let list = parts.prefix(Self.maxMembers).joined(separator: ", ")
        return "\(kind) of \(subject)" + (list.isEmpty ? "" : ": \(list)")
    }
}

extension JournalEntry {
    /// Whether a fault held it.
    fileprivate var isHeld: Bool { outcome.fault?.document?["hold"] != nil }

    /// The error that the answer names; `nil` if it is none, or the journal does not keep it.
    fileprivate var error: String? {
        guard let status, status >= 400, response.kept == response.length else { return nil }
        // An answer in another form names no error.
        return try? WireJSON.decode(ErrorEnvelope.self, from: response.body.data).error
    }

    /// Whether a component of the path is one of some ids.
    fileprivate func names(anyOf ids: [String]) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { part in
            ids.contains { $0.utf8.elementsEqual(part) }
        }
    }
}
