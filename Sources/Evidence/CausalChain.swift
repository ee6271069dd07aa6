import Simulation
import SimulationAPI

/// The steps of an explanation while they are collected: each with what it follows from.
struct CausalChain {
    private struct Node {
        var step: Explanation.Step
        /// The place among steps of the same time.
        let order: Int
    }

    private let job: JobContext
    private let secrets: KnownSecrets
    private var nodes: [String: Node] = [:]
    private var differences: [Explanation.Alternative] = []
    private var hasForgotten = false

    /// The maximum number of steps of an explanation, and of the steps that one query adds [D explain].
    static let maxSteps = 1000
    /// The maximum length of an answer's error in a step, in Unicode scalars.
    private static let maxError = 300
    /// The maximum number of refused requests that the explanation of an object names.
    static let maxRefusals = 200

    init(_ job: JobContext, secrets: KnownSecrets) {
        self.job = job
        self.secrets = secrets
    }

    /// The collected steps, oldest first. A step comes after those that it follows from.
    func explanation(of subject: Explanation.Subject) -> Explanation {
        var steps: [Explanation.Step] = []
        var isDone: Set<String> = []
        func emit(_ node: Node) {
            guard isDone.insert(node.step.id).inserted else { return }
            for cause in node.step.causes { nodes[cause].map(emit) }
            steps.append(node.step)
        }
        for node in nodes.values.sorted(by: { ($0.step.at, $0.order) < ($1.step.at, $1.order) }) { emit(node) }
        let alternatives = differences.sorted { $0.step < $1.step }
        return Explanation(subject: subject, steps: steps, would_differ: alternatives, forgotten: hasForgotten)
    }

    // MARK: Steps and their causes

    /// Adds a step, unless the chain has it already, or has no room.
    ///
    /// - Returns: whether it is new.
    private mutating func insert(
        _ id: String, _ kind: Explanation.Step.Kind, at moment: Instant, _ text: String, causes: [String] = [],
        href: String? = nil
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
        nodes[id] = Node(step: step, order: nodes.count)
        return true
    }

    /// Adds what caused something.
    ///
    /// - Parameter moment: the time of what it caused.
    /// - Returns: the ids of the steps; empty if the cause is not known.
    private mutating func causes(_ cause: Cause?, at moment: Instant) throws -> [String] {
        guard let cause, let step = try add(cause, at: moment) else {
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
            // A snapshot of another namespace may have the number of another request.
            if let entry = job.journalEntry(sequence: sequence), entry.at == moment { return try add(entry) }
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
        guard nodes[id] == nil else { return id }
        let secrets = Secrets(entry, secrets)
        let shown = JournaledRequest(entry, withMessages: false, secrets)
        var decided: [String] = []
        if let fault = entry.outcome.fault {
            let effect = try shown.effect.map { ": \(try StoredJSON.encode($0))" } ?? ""
            let fact = DecidingFact(
                .rule, fault.id, "the fault rule \(fault.id) was triggered\(effect)",
                otherwise: "without it the request is handled as usual")
            decided.append(try add(fact, of: id, at: entry.at))
        }
        for fact in shown.decided_by.facts ?? [] { decided.append(try add(fact, of: id, at: entry.at)) }
        var text = "\(shown.method) \(shown.path) -> \(shown.answerText)"
        if let username = shown.username { text += ", \(username)" }
        if let because = shown.because {
            text += ": \(because)"
        } else if decided.isEmpty, let error = entry.error {
            // Masked whole: the beginning of a secret would not be recognized.
            text += ": \(String(secrets.masked(text: error).unicodeScalars.prefix(Self.maxError)))"
        }
        _ = insert(
            id, .request, at: entry.at, text, causes: decided, href: "requests/sequence:\(entry.sequence)")
        return id
    }

    /// Adds a fact that decided a step, with the history that led to it.
    private mutating func add(_ fact: DecidingFact, of step: String, at moment: Instant) throws -> String {
        let kind: Explanation.Step.Kind =
            switch fact.kind {
            case .rule: .rule
            case .limit: .limit
            case .setting: .setting
            }
        let id = "\(fact.kind.rawValue):\(fact.name):\(step)"
        var causes: [String] = []
        if let object = fact.about {
            for event in try events(of: object, through: moment) { causes.append(try add(event)) }
        }
        guard insert(id, kind, at: moment, fact.text, causes: causes) else { return id }
        if let otherwise = fact.otherwise {
            differences.append(.init(step: id, text: Secrets(secrets).masked(text: otherwise)))
        }
        return id
    }

    /// Adds an event of the log, with its cause.
    mutating func add(_ event: StoredEvent) throws -> String {
        let id = "event:\(event.sequence)"
        guard nodes[id] == nil else { return id }
        var causes = try causes(event.cause, at: event.at)
        let data = try StoredJSON.decode(event.data)
        if let fact = DecidingFact(data.members?["decision"]), !hasFact(fact, causes) {
            causes.append(try add(fact, of: id, at: event.at))
        }
        _ = insert(
            id, .event, at: event.at, event.text(data), causes: causes,
            href: "event-log?after_sequence=\(event.sequence - 1)&before_sequence=\(event.sequence + 1)")
        return id
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
        guard nodes[id] == nil else { return id }
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
        guard nodes[delivery.id] == nil else { return delivery.id }
        let causes = try causes(delivery.cause, at: delivery.createdAt)
        let url = try job.transaction.subscription(id: delivery.subscriptionID)?.url
        _ = insert(
            delivery.id, .delivery, at: delivery.createdAt,
            "the webhook \(delivery.event)\(url.map { " to \($0)" } ?? ""): \(delivery.status.rawValue)",
            causes: causes, href: "webhook-deliveries/\(delivery.id)")
        return delivery.id
    }

    // MARK: Consequences

    /// Adds what followed from a cause, and what followed from that.
    mutating func follow(_ cause: Cause) throws {
        var waiting: [Cause] = [cause]
        while let next = waiting.popLast(), nodes.count < Self.maxSteps {
            for event in try events(of: next) { _ = try add(event) }
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
            after: changes.after, limit: Int(min(changes.through - changes.after, Int64(Self.maxSteps)))
        ).filter { $0.cause == cause }
    }

    /// Adds a delivery with its attempts.
    mutating func follow(_ delivery: StoredDelivery) throws {
        var last = try add(delivery)
        for attempt in try job.transaction.attempts(deliveryID: delivery.id) {
            let id = "\(delivery.id)#\(attempt.number)"
            let answer = attempt.status.map { "the receiver answered \($0)" } ?? "no answer"
            let problem = attempt.error.map { ": \($0)" } ?? ""
            var causes = [last]
            if let fault = attempt.faultID {
                let fact = DecidingFact(
                    .rule, fault, "the fault rule \(fault) was triggered",
                    otherwise: "without it the attempt is made as usual")
                causes.append(try add(fact, of: id, at: attempt.at))
            }
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
            for event in try events(of: subject, through: .end) where history.isMeant(event) {
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

    /// The events of a subject up to a time, oldest first.
    private mutating func events(of subject: String, through moment: Instant) throws -> [StoredEvent] {
        let recent = ListEvents.maxExamined
        let found = try job.transaction.events(
            of: subject, after: 0, before: .max, recent: Int64(recent), limit: Self.maxSteps)
        if found.count == Self.maxSteps { hasForgotten = true }
        return found.reversed().filter { $0.at <= moment && $0.kind != EventKind.webhookAttempted.name }
    }
}

extension StoredEvent {
    /// The members of an event's data that are shown, the first ones first.
    private static let shown = [
        "from", "to", "result", "flag", "status", "entrupy_id", "capture_id", "outcome_id", "fault_id", "username",
        "region_id", "action", "problem", "event", "attempt", "error",
    ]

    /// The maximum number of members that are shown.
    private static let maxMembers = 4

    /// The event in words.
    fileprivate func text(_ data: JSONValue) -> String {
        let parts = Self.shown.compactMap { name -> String? in
            guard let value = data.members?[name], value != .null else { return nil }
            return "\(name) \(value.text ?? value.quoted)"
        }
        let list = parts.prefix(Self.maxMembers).joined(separator: ", ")
        return "\(kind) of \(subject)" + (list.isEmpty ? "" : ": \(list)")
    }
}

extension JournalEntry {
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
