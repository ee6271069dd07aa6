import SimulationAPI

/// The page sizes of the control API's lists.
package enum ControlPage {
    /// The allowed sizes, and the size if the caller gives none [D control-pages].
    package static let limits = 1...1000
    package static let defaultLimit = 100
}

extension FieldReader {
    /// The page of a list: the query's `limit` and `cursor`.
    package mutating func page(
        of sizes: ClosedRange<Int> = ControlPage.limits, default size: Int = ControlPage.defaultLimit
    ) -> (limit: Int, cursor: String?) {
        (number("limit", in: sizes) ?? size, given("cursor"))
    }
}

/// `GET /_sim/due`: lists scheduled work, the next first.
package struct ListDue: Operation, Reads {
    let limit: Int

    package func perform(_ job: JobContext, as caller: Control) throws -> DueList {
        DueList(
            due: try job.transaction.due(limit: limit).map { due in
                let kind = job.state.environment.platforms.dueKind(due.kind)
                return DueEntry(
                    kind: due.kind, subject: job.shownSubject(of: due),
                    since: try kind?.start(due.subject, job)?.epoch, at: due.dueAt.epoch,
                    seconds_left: Double(due.dueAt.microseconds - job.now.microseconds) / 1e6, cause: due.cause?.id)
            },
            total: try job.transaction.countDue(upTo: .end))
    }
}

extension ListDue {
    package init(_ input: some RequestInput) throws {
        var query = input.query
        self.init(limit: query.number("limit", in: ControlPage.limits) ?? ControlPage.defaultLimit)
        try query.finish()
    }
}

/// Finds unsettled work of a namespace: pending results and webhook attempts. Timeouts and expiries do not count,
/// because they are not consequences of a request [D settle].
package struct FindUnsettled: Operation, Reads {
    package let inFlight: Int

    /// - Parameter inFlight: the number of webhook attempts in flight.
    package init(inFlight: Int) {
        self.inFlight = inFlight
    }

    /// The unsettled work, and the real time until the next of it runs; `nil` if it does not run by itself.
    package struct Answer: Sendable {
        package let settlement: Settlement
        /// The first ``listed`` pieces of pending work, the soonest first.
        package let pending: [ErrorDetail]
        package let wait: Span?
    }

    /// The number of pieces of work that an answer names.
    private static let listed = 10

    package func perform(_ job: JobContext, as caller: Control) throws -> Answer {
        let kinds = job.state.environment.platforms.dueKinds.filter(\.isConsequence).map(\.name)
        let due = try job.transaction.unsettled(kinds: kinds)
        let pending = due.count + inFlight
        let wait = due.next.flatMap {
            job.state.clock.isFrozen ? nil : max($0.microseconds - job.now.microseconds, 0)
        }
        return Answer(
            settlement: Settlement(
                settled: pending == 0, pending: pending, clock: ClockState(job.state.clock, job.now),
                next_due_at: due.next?.epoch),
            pending: try details(kinds, job),
            wait: wait.map { Span(microseconds: min($0, Span.limit.microseconds)) })
    }

    private func details(_ kinds: [String], _ job: JobContext) throws -> [ErrorDetail] {
        let due = try job.transaction.due(kinds: kinds, limit: Self.listed).map { due in
            let wait = DurationText.text(microseconds: max(0, due.dueAt.microseconds - job.now.microseconds))
            return ErrorDetail("pending", "\(due.kind) of \(job.shownSubject(of: due)), due in \(wait)")
        }
        let attempts = inFlight == 1 ? "1 webhook attempt is" : "\(inFlight) webhook attempts are"
        return due + (inFlight > 0 ? [ErrorDetail("pending", "\(attempts) on the way")] : [])
    }
}
