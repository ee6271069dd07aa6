import SimulationAPI

/// `GET /_sim/held`: the oldest first.
package struct ListHeld: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> HeldList {
        HeldList(held: job.state.environment.held.list(of: job.state.name).map(\.info))
    }
}

/// The way in which a held request goes on: `POST /_sim/held/{id}/release`.
package struct HeldRelease: Sendable {
    package let id: String
    let end: HoldEnd

    package static let members = ["status", "body", "drop_connection"]

    /// Reads the body of a release. Problems go to `fields`.
    package init(_ id: String, _ fields: inout FieldReader) {
        self.id = id
        let hasStatus = fields.value("status") != nil
        let status = fields.number("status", in: 200...599)
        let body = fields.value("body")
        let drops = fields.optionalBool("drop_connection")
        if drops == false { fields.report("drop_connection", "must be true, or left out") }
        if drops != nil, hasStatus || body != nil {
            fields.report("drop_connection", "cannot be combined with status and body")
        }
        if body != nil, !hasStatus { fields.report("body", "belongs to status, which is missing") }
        if body != nil, let status, [204, 205, 304].contains(status) {
            fields.report("body", "must be left out: a \(status) has no body (RFC 9110)")
        }
        end = drops == true ? .dropped : status.map { .answered(status: $0, body: body) } ?? .released
    }
}

extension Namespace {
    /// Lets a held request go on, be answered otherwise, or lose its connection.
    package func release(_ release: HeldRelease, _ head: RequestHead) async -> Completed<HeldInfo> {
        // Outside a transaction, which would run again if it is lost.
        await runLongOperation(head) { [self] in
            try await runExclusively { [self] state in
                let held = try environment.held.release(release.id, of: name, as: release.end)
                note([held], head, state)
                return held.info
            }
        }
    }

    /// Lets all held requests go on.
    package func releaseAllHeld(_ head: RequestHead) async -> Completed<Void> {
        await runLongOperation(head) { [self] in
            try await runExclusively { [self] state in note(environment.held.releaseAll(of: name), head, state) }
        }
    }

    /// Adds to the event log that requests were released, before they go on. Nothing happens if storage fails: they are released.
    ///
    /// - Parameter head: the call that released them; `nil` if their time was over.
    func note(_ released: [HeldRequest], _ head: RequestHead?, _ state: NamespaceState?) {
        guard let state, !released.isEmpty else { return }
        do {
            try state.database.transaction { transaction in
                let now = state.clock.now(real: environment.realTime())
                try state.runDue(upTo: now, transaction)
                state.cause = JobCause(ofCall: head)
                let job = JobContext(state: state, transaction: transaction, now: now, language: .english)
                for held in released { try held.recordRelease(job) }
                try state.counters.store(transaction)
            }
        } catch {
            state.dropChanges()
        }
    }
}

extension HeldRequest {
    /// Adds to the event log that the hold has ended and the request goes on. Writes.
    func recordRelease(_ job: JobContext) throws {
        try job.record(
            .requestReleased, info.id,
            [
                "request": .string(info.request.id), "sequence": .number(JSONNumber(Int(info.request.sequence))),
                "method": .string(info.request.method), "path": .string(info.request.path),
                "reason": .string(end.map(\.reason) ?? ""),
            ])
    }
}
