import SimulationAPI
import Storage

/// `GET /_sim/event-log`: the entries of the event log, newest first [D event-log].
package struct ListEvents: Operation, Reads {
    /// Only events of this subject; `nil` for all.
    let subject: String?
    /// Only events of a matching kind; `nil` for all.
    let kind: Glob?
    let sequences: (after: Int64, before: Int64)
    let limit: Int
    let cursor: String?

    /// The maximum number of events that one page examines. A page that found less than its limit among them has a cursor.
    package static let maxExamined = 20_000
    private static let batch = 1000

    package func perform(_ job: JobContext, as caller: Control) throws -> EventList {
        if let kind, !job.state.environment.platforms.eventKinds.contains(where: { kind.matches($0.name) }) {
            let names = job.state.environment.platforms.eventKinds.map(\.name)
            // `flga.*` means all of `flag`.
            let groups = Set(names.map { "\($0.prefix { $0 != "." }).*" }).sorted()
            throw PlatformError.invalid(
                field: "kind",
                "is no kind of event, got \"\(kind.pattern.excerpt)\"; "
                    + "\(FieldReader.guess(kind.pattern, kind.pattern.utf8.contains(0x2A) ? groups : names))"
                    + "kinds are \(names.joined(separator: ", "))")
        }
        let query = [
            "event log", subject ?? "", kind?.pattern ?? "", String(sequences.after), String(sequences.before),
        ]
        var before = try min(Cursor.position(cursor, of: query, job), sequences.before)
        var found: [EventRecord] = []
        var examined = 0
        var isOver = false
        while found.count <= limit, examined < Self.maxExamined, !isOver {
            let batch = try events(before: before, job)
            examined += batch.count
            found += kind.map { kind in batch.filter { kind.matches($0.kind) } } ?? batch
            isOver = batch.count < Self.batch
            before = batch.last?.sequence ?? before
        }
        let page = found.prefix(limit)
        // The place at which the next page begins: after the last entry, or after the last one that was examined.
        let next = found.count > limit ? page.last?.sequence : isOver ? nil : before
        let secrets = Secrets(try job.state.readSecrets(job.transaction))
        return EventList(
            events: try page.map { try StateChange(secrets.masked($0)) },
            next_cursor: next.map { Cursor.seal(String($0), of: query, job) })
    }

    private func events(before: Int64, _ job: JobContext) throws -> [EventRecord] {
        guard let subject else {
            return try job.transaction.events(after: sequences.after, before: before, limit: Self.batch)
        }
        return try job.transaction.events(
            of: subject, after: sequences.after, before: before, recent: Int64(Self.maxExamined), limit: Self.batch)
    }
}

extension ListEvents {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        subject = query.text("subject")
        kind = query.text("kind", maxBytes: Glob.maxBytes).map { Glob($0) }
        sequences = query.sequences()
        (limit, cursor) = query.page()
        try query.finish()
    }
}
