import Simulation
import SimulationAPI

/// The steps of an explanation while they are collected: each with what it follows from.
struct CausalChain {
    struct Node {
        let step: Explanation.Step
        /// `nil` if it follows from that of the causes, or of what was caused.
        let place: Place?
        /// The place among steps of the same place.
        let order: Int
    }

    /// A place in the order in which things happened: behind an event of the log, then by the number of the request. An event has the
    /// number 0.
    struct Place: Comparable {
        let event: Int64
        var request: Int64 = 0

        static let end = Place(event: .max)

        static func < (one: Place, other: Place) -> Bool {
            (one.event, one.request) < (other.event, other.request)
        }
    }

    let job: JobContext
    private let secrets: KnownSecrets
    var nodes: [String: Node] = [:]
    private var differences: [Explanation.Alternative] = []
    var hasForgotten = false
    /// The steps that were begun, so that causes which lead back to a step end there. Only a damaged file has such.
    private var begun: Set<String> = []
    private var depth = 0
    /// The events that were read, oldest first, by their subject and by their kinds.
    var histories: [String: [StoredEvent]] = [:]
    var recent: [[String]: [StoredEvent]] = [:]
    /// The events that changed settings, with the paths of these, and those that began to hold a request before it was handled, by its
    /// number; `nil` until they are wanted.
    private var settingChanges: [(event: StoredEvent, paths: [String])]?
    var holds: [Int64: StoredEvent]?

    /// The maximum number of steps of an explanation, and of the steps that one query adds [D explain].
    static let maxSteps = 1000
    /// The maximum length of an answer's error in a step, in Unicode scalars.
    private static let maxError = 300
    /// The maximum number of refused requests that the explanation of an object names.
    static let maxRefusals = 200
    /// The maximum number of causes, each of the one before.
    private static let maxDepth = 64

    /// The maximum number of kinds of events that a bundle's request may name.
    private static let maxKinds = 10

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
        // A step is collected after its causes.
        let collected = nodes.values.sorted { $0.order < $1.order }
        let (places, times) = (places(collected), times(collected))
        let sorted = nodes.values.map {
            (node: $0, time: times[$0.step.id] ?? $0.step.at, place: places[$0.step.id] ?? .end)
        }.sorted { one, other in
            (one.time, one.place, one.node.order) < (other.time, other.place, other.node.order)
        }
        for (node, _, _) in sorted { emit(node) }
        let alternatives = differences.sorted { $0.step < $1.step }
        return Explanation(subject: subject, steps: steps, would_differ: alternatives, forgotten: hasForgotten)
    }

    /// The times by which the steps are ordered: a request that was held came before its release, and follows from it.
    private func times(_ collected: [Node]) -> [String: Double] {
        var times: [String: Double] = [:]
        for node in collected {
            times[node.step.id] = node.step.causes.compactMap { times[$0] }.reduce(node.step.at, max)
        }
        return times
    }

    /// The places of the steps. A step without one has that of the first step that it caused, or else of its last cause.
    private func places(_ collected: [Node]) -> [String: Place] {
        var places = nodes.compactMapValues(\.place)
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
    mutating func insert(
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
    mutating func causes(_ cause: Cause?, at moment: Instant) throws -> [String] {
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
        if let state, state.kinds.isEmpty, made == nil {
            text += "; no event of the log is about it"
            if job.wasRestored { text += ": the namespace was restored, which may have taken it away" }
        } else if state == nil, entry.status == 401, job.wasRestored, entry.request.value(of: "authorization") != nil {
            text += "; the namespace was restored, which may have taken the session away"
        }
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
    mutating func add(
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
        // The request that caused the event may have the fact already.
        if let fact = DecidingFact(data.members?["decision"]),
            !causes.contains(where: { nodes["\(fact.kind.rawValue):\(fact.name):\($0)"] != nil })
        {
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

    mutating func add(_ work: StoredPastWork) throws -> String {
        try add(work.id, work.kind, of: work.subject, at: work.at, work.cause, isPast: true)
    }

    mutating func add(_ work: StoredWork) throws -> String {
        try add(work.id, work.kind, of: job.shownSubject(of: work), at: work.dueAt, work.cause, isPast: false)
    }

    /// - Parameter subject: the subject as it may be shown.
    mutating func add(
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
    mutating func add(_ delivery: StoredDelivery) throws -> String {
        guard begin(delivery.id) else { return delivery.id }
        let causes = try causes(delivery.cause, at: delivery.createdAt)
        // The delivery was made in the job of a request, behind its events.
        let last: Int64? =
            if case .request(let sequence)? = delivery.cause?.kind {
                job.journalEntry(sequence: sequence)?.outcome.changes?.through
            } else { nil }
        let url = try job.transaction.subscription(id: delivery.subscriptionID)?.url.maskingQuery
        _ = insert(
            delivery.id, .delivery, at: delivery.createdAt, place: last.map { Place(event: $0) },
            "the webhook \(delivery.event)\(url.map { " to \($0)" } ?? ""): \(delivery.status.rawValue)",
            causes: causes, href: "webhook-deliveries/\(delivery.id)")
        return delivery.id
    }
}
