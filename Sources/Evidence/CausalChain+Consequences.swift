import Simulation
import SimulationAPI

/// The consequences of a step: events, work, deliveries, attempts and released requests.
extension CausalChain {
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
            after: changes.after, limit: Int(min(changes.through - changes.after, Int64(Self.maxSteps)))
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

    // MARK: Holds

    /// Adds the hold of a request that was held before it was handled, and what let it go on.
    ///
    /// - Returns: the ids of the steps from which the request follows.
    mutating func addHold(of entry: JournalEntry) throws -> [String] {
        guard entry.isHeld else { return [] }
        if holds == nil {
            var found: [Int64: StoredEvent] = [:]
            for event in try recentEvents([EventKind.requestHeld.name]) {
                let data = try StoredJSON.decode(event.data).members
                guard let sequence = data?["sequence"]?.number?.integer, data?["when"]?.text == "before" else {
                    continue
                }
                found[Int64(sequence)] = event
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
        let sequence = try StoredJSON.decode(event.data).members?["sequence"]?.number?.integer
        guard let sequence, let entry = job.journalEntry(sequence: Int64(sequence)), entry.isHeld else { return }
        _ = try add(entry)
    }
}
