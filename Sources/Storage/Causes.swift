/// The cause of an event, of scheduled work or of a delivery.
package struct Cause: StoredWord, Hashable {
    /// The id: `sequence:12`, `due:7`, `control:3`, or a delivery's id. One that says nothing to this version is kept as it is.
    package let rawValue: String
    /// The same as the raw value.
    package var id: String { rawValue }

    /// Any text is a cause.
    package init(rawValue id: String) { rawValue = id }

    /// A request of a platform, by its number in the journal.
    package static func request(_ sequence: Int64) -> Cause { Cause(rawValue: "sequence:\(sequence)") }

    /// Work that was due: see ``PastWorkRecord``.
    package static func dueWork(_ id: Int64) -> Cause { Cause(rawValue: "due:\(id)") }

    /// A call of the control API: see ``ControlCallRecord``.
    package static func control(_ number: Int64) -> Cause { Cause(rawValue: "control:\(number)") }

    /// An attempt to deliver a webhook.
    package static func delivery(_ id: String) -> Cause { Cause(rawValue: id) }

    /// The thing that ``id`` names.
    package enum Kind: Sendable, Hashable {
        case request(Int64)
        case dueWork(Int64)
        case control(Int64)
        case delivery(String)
    }

    package var kind: Kind {
        let parts = id.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let number = Int64(parts[1]) else { return .delivery(id) }
        return switch parts[0] {
        case "sequence": .request(number)
        case "due": .dueWork(number)
        case "control": .control(number)
        default: .delivery(id)
        }
    }

    /// The maximum length of ``id`` in an uploaded database, in bytes.
    fileprivate static let maxBytes = 100
}

extension ColumnDomain {
    /// The id of a cause, or null if it is not known.
    static let cause = text(1...Cause.maxBytes).orNull

    /// A trace as ``TraceContext`` stores it, or null.
    static let trace = text(TraceContext.length...TraceContext.length) {
        TraceContext(stored: String(decoding: $0, as: UTF8.self)) == nil ? "must be a trace id, a dash and flags" : nil
    }.orNull
}

/// Work that was due, has run, and changed something.
package struct PastWorkRecord: Sendable, Hashable {
    /// The id that the work had while it was due.
    package var id: Int64
    /// The time at which it was due, and ran.
    package var at: Instant
    package var kind: String
    /// The id of the object the work was for, as it may be shown: never a token.
    package var subject: String
    /// What scheduled it; `nil` if that is not known.
    package var cause: Cause?

    package init(id: Int64, at: Instant, kind: String, subject: String, cause: Cause?) {
        self.id = id
        self.at = at
        self.kind = kind
        self.subject = subject
        self.cause = cause
    }
}

/// A call of the control API that changed something.
package struct ControlCallRecord: Sendable, Hashable {
    package var number: Int64
    package var at: Instant
    /// The method and the path, for instance `POST /_sim/outcomes`.
    package var line: String

    package init(number: Int64, at: Instant, line: String) {
        self.number = number
        self.at = at
        self.line = line
    }

    /// The maximum length of ``line``, in bytes.
    package static let maxLine = 500
}

extension PastWorkRecord: StoredRecord {
    package static let table = Table(
        "past_work", blank: PastWorkRecord(id: 0, at: .epoch, kind: "", subject: "", cause: nil)
    ) {
        $0.column("id", \.id, .row)
        $0.column("at", \.at, .time)
        $0.column("kind", \.kind, .named("due_kind"))
        $0.column("subject", \.subject, .text(1...1000))
        $0.column("cause", \.cause, .cause)
    }
}

extension ControlCallRecord: StoredRecord {
    package static let table = Table(
        "control_calls", key: .counted, blank: ControlCallRecord(number: 0, at: .epoch, line: "")
    ) {
        $0.column("number", \.number, .row, isAssigned: true)
        $0.column("at", \.at, .time)
        $0.column("line", \.line, .text(1...maxLine))
    }
}

extension Transaction {
    /// The work that was due under an id and has run; `nil` if there is none, or if it changed nothing.
    package func pastWork(id: Int64) throws -> PastWorkRecord? { try record("WHERE id = ?", [id]) }

    /// The work that a cause scheduled and that has run, oldest first.
    package func pastWork(cause: Cause, limit: Int) throws -> [PastWorkRecord] {
        try records("WHERE cause = ? ORDER BY id LIMIT ?", [cause, limit])
    }

    package func controlCall(number: Int64) throws -> ControlCallRecord? { try record("WHERE number = ?", [number]) }

    /// The work under an id that is still due; `nil` if there is none.
    package func due(id: Int64) throws -> DueRecord? { try record("WHERE id = ?", [id]) }

    /// The work that a cause scheduled and that is still due, soonest first.
    package func due(cause: Cause, limit: Int) throws -> [DueRecord] {
        try records("WHERE cause = ? ORDER BY due_at, id LIMIT ?", [cause, limit])
    }

    package func event(sequence: Int64) throws -> EventRecord? { try record("WHERE sequence = ?", [sequence]) }

    /// The events of scheduled work, of a control call or of a delivery, oldest first. The events of a request stand together:
    /// the journal knows where.
    package func events(cause: Cause, limit: Int) throws -> [EventRecord] {
        try records("WHERE cause = ? AND \(Schema.isNotOfRequest) ORDER BY sequence LIMIT ?", [cause, limit])
    }

    /// The deliveries of a cause, oldest first.
    package func deliveries(cause: Cause, limit: Int) throws -> [DeliveryRecord] {
        try records("WHERE cause = ? ORDER BY position LIMIT ?", [cause, limit])
    }
}
