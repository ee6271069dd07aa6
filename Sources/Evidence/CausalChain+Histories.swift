import Simulation
import SimulationAPI

/// Histories of objects, and the events of the log that they are read from.
extension CausalChain {
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
    mutating func events(
        of subject: String, at moment: Instant, through last: Int64?
    ) throws -> [StoredEvent] {
        let found = try history(of: subject)
        if found.count == Self.maxSteps { hasForgotten = true }
        return found.filter { $0.isBefore(moment, through: last) && $0.kind != EventKind.webhookAttempted.name }
    }

    /// The events of a subject, oldest first. Each is read once.
    mutating func history(of subject: String) throws -> [StoredEvent] {
        if let known = histories[subject] { return known }
        let found = try job.transaction.events(
            of: subject, after: 0, before: .max, recent: Int64(ListEvents.maxExamined), limit: Self.maxSteps)
        let history = Array(found.reversed())
        histories[subject] = history
        return history
    }

    /// The events of some kinds among the last ones, oldest first. Each is read once.
    mutating func recentEvents(_ kinds: [String]) throws -> [StoredEvent] {
        if let known = recent[kinds] { return known }
        let found = try job.transaction.events(kinds: kinds, recent: Int64(ListEvents.maxExamined))
        recent[kinds] = found
        return found
    }
}

extension Int64 {
    /// The sum, or the limit that it passes. A bundle may have any number.
    func adding(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other < 0 ? .min : .max) : sum
    }
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
    func isBefore(_ moment: Instant, through last: Int64?) -> Bool {
        last.map { sequence <= $0 } ?? (at <= moment)
    }

    /// The event in words.
    func text(_ data: JSONValue) -> String {
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
    var isHeld: Bool { outcome.fault?.document?["hold"] != nil }

    /// The error that the answer names; `nil` if it is none, or the journal does not keep it.
    var error: String? {
        guard let status, status >= 400, response.kept == response.length else { return nil }
        // An answer in another form names no error.
        return try? WireJSON.decode(ErrorEnvelope.self, from: response.body.data).error
    }

    /// Whether a component of the path is one of some ids.
    func names(anyOf ids: [String]) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { part in
            ids.contains { $0.utf8.elementsEqual(part) }
        }
    }
}
