import Foundation
import SimulationAPI

/// `GET /_sim/requests`: lists requests, newest first. The job takes a snapshot of the journal; the search runs outside of the
/// namespace's jobs, in pieces.
package struct ListRequests: Operation, Reads {
    package let query: JournalQuery
    /// The kinds whose names may be ones that nobody has.
    package let allowed: Set<QueryName>
    package let limit: Int
    package let cursor: String?

    package init(_ query: JournalQuery, allowing allowed: Set<QueryName> = [], limit: Int, cursor: String?) {
        self.query = query
        self.allowed = allowed
        self.limit = limit
        self.cursor = cursor
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> RequestSearch {
        let query = try query.known(job, allowing: allowed)
        let sealed = [
            "requests", query.route?.pattern ?? "", query.method ?? "", query.status?.text ?? "", query.username ?? "",
            query.since.map { String($0.microseconds) } ?? "", query.test ?? "",
            query.before.map { String($0.microseconds) } ?? "", String(query.sequences.after),
            String(query.sequences.before), query.delivered.map { String($0) } ?? "", query.text?.text ?? "",
            query.trace ?? "",
        ]
        let seal = Cursor.sealer(of: sealed, job)
        return RequestSearch(
            job.journal, query, before: try Cursor.position(cursor, of: sealed, job), limit: limit,
            secrets: try job.state.readSecrets(job.transaction), seal: { seal(String($0.sequence)) })
    }
}

/// `GET /_sim/requests?format=har`: the requests as an HTTP archive, oldest first and complete. The job only takes a
/// snapshot; it is rendered as it is read.
package struct ExportRequests: Operation, Reads {
    package let query: JournalQuery
    /// The kinds whose names may be ones that nobody has.
    package let allowed: Set<QueryName>
    package let format: JournalExport.Format

    package init(
        _ query: JournalQuery, allowing allowed: Set<QueryName> = [], as format: JournalExport.Format = .har
    ) {
        self.query = query
        self.allowed = allowed
        self.format = format
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> JournalExport {
        JournalExport(
            job.journal, matching: try query.known(job, allowing: allowed), as: format, url: job.publicURL,
            secrets: try job.state.readSecrets(job.transaction),
            secretMembers: job.state.environment.platforms.auditedSecrets,
            forgotten: job.state.environment.journals.forgotten(of: job.state.name))
    }
}

/// The name of a request in a path of the control API: its id, `sequence:N`, or its number alone. Where several requests have
/// the id, the number beside it says which one is meant [D request-names].
package struct RequestName: Sendable {
    let id: String
    let sequence: Int64?

    package init(_ id: String, sequence: Int64? = nil) {
        self.id = id
        self.sequence = sequence
    }

    /// The request that the path names by `{id}`, and the query by `sequence`.
    package init(_ input: some RequestInput) throws {
        var query = input.query
        let sequence = query.number("sequence", in: 1...9_007_199_254_740_991)
        try query.finish()
        self.init(input.path("id"), sequence: sequence.map(Int64.init))
    }

    /// The number in a name such as `sequence:12`; `nil` if the name is an id.
    private var number: Int64? {
        id.begins(with: "sequence:") ? Int64(id.dropFirst("sequence:".count)) : nil
    }

    /// The requests that have the name, oldest first; not empty.
    ///
    /// - Throws: ``PlatformError/notFound(_:)``.
    fileprivate func entries(_ job: JobContext) throws -> [JournalEntry] {
        // An id that was shown masked is found in that form.
        let isMasked = Secrets.isMasked(id)
        let secrets = try job.state.readSecrets(job.transaction)
        let named = job.journal.filter {
            $0.requestID.isIdentical(to: id)
                || isMasked && Secrets($0, secrets).masked(text: $0.requestID).isIdentical(to: id)
        }
        // A number is the name of a request unless it is the id of one.
        let found =
            if let sequence {
                named.filter { $0.sequence == sequence }
            } else if named.isEmpty, let number = number ?? Int64(id) {
                job.journal.filter { $0.sequence == number }
            } else { named }
        guard !found.isEmpty else {
            throw PlatformError.notFound("the journal has no such request; it may have forgotten it")
        }
        return found
    }

    /// The request that has the name, the last one if there are several.
    ///
    /// - Throws: ``PlatformError/notFound(_:)``.
    func last(_ job: JobContext) throws -> JournalEntry {
        let entries = try entries(job)
        return entries[entries.count - 1]
    }

    /// The one request that has the name; `nil` if none has.
    ///
    /// - Throws: ``PlatformError/wrongState(_:_:)`` if several requests have it.
    package func found(_ job: JobContext) throws -> JournalEntry? {
        do {
            return try only(job)
        } catch let error as PlatformError where error.kind == .notFound {
            return nil
        }
    }

    /// The one request that has the name.
    ///
    /// - Throws: ``PlatformError/notFound(_:)``, or ``PlatformError/wrongState(_:_:)`` if several requests have it.
    package func only(_ job: JobContext) throws -> JournalEntry {
        let entries = try entries(job)
        guard entries.count == 1 else {
            let secrets = try job.state.readSecrets(job.transaction)
            throw PlatformError.wrongState(
                "\(entries.count) requests have this id; name one with ?sequence=\(entries.last?.sequence ?? 0)",
                entries.reversed().map { entry in
                    let request = JournaledRequest(entry, withMessages: false, Secrets(entry, secrets))
                    return ErrorDetail(
                        "sequence",
                        "\(entry.sequence): \(request.method) \(request.path), \(request.answerText) at \(entry.at.display)"
                    )
                })
        }
        return entries[0]
    }
}

/// `GET /_sim/requests/{id}`.
package enum ShowRequest: RuleByID, Reads {
    package static func perform(_ name: RequestName, _ job: JobContext, as caller: Control) throws -> JournaledRequest {
        let entry = try name.last(job)
        let secrets = Secrets(entry, try job.state.readSecrets(job.transaction))
        return JournaledRequest(entry, withMessages: true, secrets)
    }
}

/// `DELETE /_sim/requests`.
package struct ClearJournal: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws {
        job.state.environment.journals.clear(
            job.state.name, forgetting: Forgotten(at: job.now, sequence: job.state.lastSequence))
    }
}

/// `POST /_sim/requests/verify`: checks that the number of matching requests is as expected [D request-verification].
package struct VerifyRequests: Operation, Reads {
    package static let isLong = true
    private var query: JournalQuery { names.query }
    /// The expected number of matching requests.
    let amount: ScenarioExpectation.Amount
    /// Judges the query's names if no request is found and none is wanted.
    let names: UnknownNames

    /// The maximum number of near misses shown.
    static let maxMisses = 5

    package func perform(_ job: JobContext, as caller: Control) throws -> Verification {
        let journal = job.journal
        let secrets = try job.state.readSecrets(job.transaction)
        let hidden = query.secretProblems(secrets, names.place.prefix)
        if !hidden.isEmpty { throw PlatformError.invalid(hidden) }
        let matching = journal.indices.filter { query.matches(journal[$0]) }
        // An upper limit cannot be checked where requests are forgotten.
        if amount.maxCount != .max, matching.count <= amount.maxCount,
            let forgotten = job.state.environment.journals.forgotten(of: job.state.name), query.covers(forgotten)
        {
            throw PlatformError.forgotten(forgotten, count: matching.count)
        }
        if matching.isEmpty, amount.minCount == 0 {
            try checkBeginning(job)
            let problems = try names.problems(job, ofRouteAlone: amount.maxCount == .max)
            if !problems.isEmpty { throw PlatformError.invalid(problems) }
        }
        if amount.contains(matching.count) { return Verification(verified: true, count: matching.count) }
        let expected = amount.text
        // Too few: shows near misses. Too many: shows the last matches.
        let near =
            matching.count > amount.maxCount
            ? matching.suffix(Self.maxMisses).map { NearMiss(journal[$0], [], secrets) }
            : query.nearestMisses(in: journal, limit: Self.maxMisses).map {
                NearMiss(
                    journal[$0], query.differences(journal[$0], Secrets(journal[$0], secrets)), secrets)
            }
        throw PlatformError.unverified(
            "expected \(expected) such request\(expected.hasSuffix(" 1") || expected == "1" ? "" : "s"), found \(matching.count)",
            count: matching.count, near)
    }
}

extension VerifyRequests {
    /// - Throws: ``PlatformError`` if the query begins after all that has happened: nothing could be found.
    private func checkBeginning(_ job: JobContext) throws {
        var problem: String?
        if let since = query.since, since > job.now {
            problem = "\(since.display) is after the namespace's time, \(job.now.display)"
        } else if query.sequences.after > job.lastRequestSequence {
            problem = "the last request has the number \(job.lastRequestSequence)"
        }
        guard let problem else { return }
        throw PlatformError.invalid(
            field: names.place.prefix + "since", "lies in the future, so that no request can match: \(problem)")
    }
}

extension JobContext {
    /// The request with a number in the journal; `nil` if the journal has forgotten it.
    package func journalEntry(sequence: Int64) -> JournalEntry? {
        state.environment.journals.entry(sequence: sequence, of: state.name)
    }

    /// The number of the last request of the namespace; 0 if it got none. The journal may have forgotten it.
    package var lastRequestSequence: Int64 { state.lastSequence }

    /// The namespace's journal, oldest first.
    package var journal: JournalSnapshot { state.environment.journals.entries(of: state.name) }
}

extension NearMiss {
    init(_ entry: JournalEntry, _ differences: [String], _ secrets: KnownSecrets) {
        self.init(
            request: JournaledRequest(entry, withMessages: false, Secrets(entry, secrets)), differences: differences)
    }
}

extension JournaledRequest {
    /// - Parameter secrets: the secrets of the entry's namespace.
    package init(_ entry: JournalEntry, withMessages: Bool, _ secrets: Secrets) {
        self.init(
            id: secrets.masked(text: entry.requestID), sequence: entry.sequence > 0 ? entry.sequence : nil,
            at: entry.at.epoch, method: entry.method,
            path: secrets.masked(text: entry.path),
            query: entry.query.isEmpty ? nil : secrets.masked(query: String(entry.query.dropFirst())),
            status: entry.status, delivered: entry.isDelivered,
            effect: entry.outcome.fault?.document.map { secrets.masked(members: $0) },
            duration_ms: (entry.milliseconds * 1000).rounded() / 1000,
            started_real: entry.times?.started.epoch, ended_real: entry.times?.ended.epoch,
            username: entry.outcome.username.map { secrets.masked(text: $0) },
            test: entry.test.map { secrets.masked(text: $0) },
            decided_by: DecidedRequest(
                fault: entry.outcome.fault?.id, limits: entry.outcome.limits, outcome: entry.outcome.outcomeID,
                facts: entry.outcome.facts.isEmpty ? nil : entry.outcome.facts.map { secrets.masked($0) },
                state: entry.outcome.state.map { secrets.masked($0) }),
            because: entry.outcome.because.map { secrets.masked(text: $0) }, trace: entry.outcome.trace?.id,
            changes: entry.outcome.changes.map { RequestChanges(after: $0.after, through: $0.through) },
            request: withMessages ? JournaledMessage(entry.request, secrets) : nil,
            response: withMessages ? JournaledMessage(entry.response, secrets) : nil)
    }
}

extension Secrets {
    /// A fact with its secrets masked.
    package func masked(_ fact: DecidingFact) -> DecidingFact {
        var fact = fact
        fact.text = masked(text: fact.text)
        fact.otherwise = fact.otherwise.map { masked(text: $0) }
        return fact
    }

    fileprivate func masked(_ state: RefusingState) -> RefusingState {
        RefusingState(masked(text: state.about), state.kinds, named: state.named.map { masked(text: $0) })
    }
}

extension JournaledMessage {
    init(_ message: JournalEntry.Message, _ secrets: Secrets) {
        self.init(
            headers: message.headers.pairs.map {
                [secrets.masked(text: $0.name), secrets.masked(header: $0.name, $0.value)]
            },
            body: secrets.masked(body: message.body.data, isCut: message.kept < message.length), bytes: message.length,
            truncated: message.kept < message.length)
    }
}
