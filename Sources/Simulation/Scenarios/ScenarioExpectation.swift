import SimulationAPI

/// A condition that must hold when a scenario is over [D scenarios].
package struct ScenarioExpectation: Sendable {
    /// The line in the scenario.
    package var line: Int?
    private let subject: Subject
    private let amount: Amount
    private let isCounted: Bool

    /// The objects that an expectation counts.
    package struct Subject: Sendable {
        /// The subject in words.
        package let text: String
        /// The number of objects, and what is wrong if it is not as expected. Throws the error with the near misses if expected
        /// requests did not come.
        package let check: @Sendable (_ job: JobContext, _ amount: Amount) throws -> (found: Int, problem: String?)
        /// Notes on a subject that can never exist.
        package let notes: @Sendable (ScenarioSurroundings) -> [ErrorDetail]
        fileprivate var areRequests = false
        /// The number of steps of a sequence; 0 for others.
        fileprivate var steps = 0

        package init(
            text: String,
            check: @escaping @Sendable (_ job: JobContext, _ amount: Amount) throws -> (found: Int, problem: String?),
            notes: @escaping @Sendable (ScenarioSurroundings) -> [ErrorDetail] = { _ in [] }
        ) {
            self.text = text
            self.check = check
            self.notes = notes
        }
    }

    /// A kind of expectation.
    package struct Kind: Sendable {
        /// The name of the member that has the subject.
        package let name: String
        /// The names of further members.
        package let members: [String]
        /// Whether a number of objects is expected.
        package let isCounted: Bool
        /// Reads the subject. Problems go to the fields.
        package let read: @Sendable (_ fields: inout FieldReader, _ platforms: Platforms) throws -> Subject

        package init(
            name: String, members: [String] = [], isCounted: Bool = true,
            read: @escaping @Sendable (_ fields: inout FieldReader, _ platforms: Platforms) throws -> Subject
        ) {
            self.name = name
            self.members = members
            self.isCounted = isCounted
            self.read = read
        }
    }

    /// The expected number of objects.
    package struct Amount: Sendable {
        package let minCount: Int
        package let maxCount: Int

        package func contains(_ count: Int) -> Bool { (minCount...maxCount).contains(count) }

        /// A sentence for a number that is not as expected.
        package func tally(_ found: Int) -> String { "expected \(text), found \(found)" }

        /// The numbers in words, for instance `at least 2`.
        var text: String {
            minCount == maxCount
                ? "\(minCount)"
                : maxCount == .max
                    ? "at least \(minCount)" : minCount == 0 ? "at most \(maxCount)" : "\(minCount) to \(maxCount)"
        }

        /// The expected number as an adverb.
        package var often: String {
            func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
            if minCount == maxCount { return minCount == 0 ? "never" : times(minCount) }
            if maxCount == .max { return minCount == 0 ? "any number of times" : "at least \(times(minCount))" }
            return minCount == 0 ? "at most \(times(maxCount))" : "\(minCount) to \(times(maxCount))"
        }
    }

    private static let counts = ["times", "at_least", "at_most"]

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    package init(_ value: JSONValue, _ platforms: Platforms) throws {
        let kinds = platforms.scenarioExpectations
        let given = kinds.filter { value.members?[$0.name] != nil }
        guard value.members != nil, given.count == 1, let kind = given.first else {
            throw PlatformError.invalid(
                field: "",
                "needs one of \(kinds.map(\.name).joined(separator: ", ")), got "
                    + (given.isEmpty ? "none" : given.map(\.name).sorted().joined(separator: ", ")))
        }
        var fields = FieldReader(value, known: [kind.name] + kind.members + (kind.isCounted ? Self.counts : []))
        subject = try kind.read(&fields, platforms)
        isCounted = kind.isCounted
        amount = kind.isCounted ? fields.amount() : Amount(minCount: 1, maxCount: 1)
        try fields.finish()
    }

    /// The number of steps, if it is a sequence; else 0.
    var steps: Int { subject.steps }

    /// Whether it is about requests of the journal.
    package var isAboutRequests: Bool { subject.areRequests }

    /// Notes on an expected subject that can never exist.
    package func notes(_ surroundings: ScenarioSurroundings) -> [ErrorDetail] { subject.notes(surroundings) }

    /// The result of the check: whether the condition holds, and what was found.
    package func check(_ job: JobContext) throws -> ScenarioCheck {
        let expectation = isCounted ? "\(subject.text), \(amount.often)" : subject.text
        do {
            let (found, problem) = try subject.check(job, amount)
            return ScenarioCheck(
                expectation: expectation, line: line, passed: problem == nil, found: found, problem: problem,
                unknown: problem != nil && isCounted && amount.contains(found) ? true : nil)
        } catch let error as PlatformError {
            if subject.areRequests, error.kind == .invalid {
                return ScenarioCheck(
                    expectation: expectation, line: line, passed: false, found: 0, problem: error.message,
                    unknown: true)
            }
            guard let (found, nearest) = error.misses else { throw error }
            return ScenarioCheck(
                expectation: expectation, line: line, passed: false, found: found,
                problem: ([error.message] + nearest.prefix(2).map(\.sentence)).joined(separator: "\n"),
                nearest: nearest.map {
                    NearRequest(id: $0.request.id, sequence: $0.request.sequence, differences: $0.differences)
                }, unknown: error.isForgotten ? true : nil)
        }
    }
}

extension ScenarioExpectation.Subject {
    /// Requests of the journal.
    fileprivate init(
        requests text: String,
        check: @escaping @Sendable (_ job: JobContext, _ amount: ScenarioExpectation.Amount) throws -> Int,
        notes: @escaping @Sendable (ScenarioSurroundings) -> [ErrorDetail]
    ) {
        self.init(text: text, check: { (try check($0, $1), nil) }, notes: notes)
        areRequests = true
    }
}

extension ScenarioExpectation.Kind {
    private static let requests = Self(
        name: "route", members: ["method", "status", "delivered", "username", "test"] + QueryName.members
    ) { fields, _ in
        let query = JournalQuery(&fields, isJudgement: true)
        let names = UnknownNames(query: query, allowed: fields.anyNames(), place: ("", "route"))
        checkRoute(query, &fields)
        return .init(requests: query.summary) { job, amount in
            try VerifyRequests(amount: amount, names: names).perform(job).count
        } notes: {
            notes(query, "", $0)
        }
    }

    private static let sequences = Self(name: "sequence", members: ["min_gap", "max_gap"], isCounted: false) {
        fields, _ in
        let sequence = RequestSequence(
            &fields, members: ["route", "method", "status", "delivered", "username", "test"], check: checkRoute)
        var subject = ScenarioExpectation.Subject(requests: sequence.summary) { job, _ in
            _ = try VerifySequence(sequence: sequence).perform(job)
            return sequence.steps.count
        } notes: { surroundings in
            sequence.steps.enumerated().flatMap { notes($1, "sequence[\($0)].", surroundings) }
        }
        subject.steps = sequence.steps.count
        return subject
    }

    /// Reports a route that no request can have.
    @Sendable private static func checkRoute(_ query: JournalQuery, _ fields: inout FieldReader) {
        guard let route = query.route?.pattern else { return }
        if !route.begins(with: "/"), !route.begins(with: "*") {
            fields.report("route", "must begin with / or *, got \(route)")
        }
        if route.begins(with: "/ns/") {
            fields.report("route", "must be a route of the platform, without /ns/{ns}")
        }
    }

    /// Notes on requests that can never come.
    ///
    /// - Parameter prefix: precedes `route` and `method` in the notes' field names.
    private static func notes(
        _ query: JournalQuery, _ prefix: String, _ surroundings: ScenarioSurroundings
    ) -> [ErrorDetail] {
        guard let route = query.route else { return [] }
        if route.pattern.begins(with: "/_sim") {
            return [ErrorDetail("\(prefix)route", "requests to the control API are not in the journal")]
        }
        return RouteNotes.notes(
            route, method: query.method, prefix, surroundings.routes,
            unsimulated: surroundings.platforms.unsimulatedPaths)
    }

    private static let deliveries = Self(name: "webhook") { fields, platforms in
        var webhook = fields.object("webhook", known: ["event", "attempts", "status"])
        let given = webhook.value("event")?.text.flatMap { platforms.isFutureWebhookEvent($0) ? $0 : nil }
        let event = given ?? webhook.requiredWord("event", platforms.webhookEvents)
        let attempts = webhook.number("attempts")
        let status = webhook.word("status", DeliveryStatus.self)
        let text =
            "webhook \(event)" + (status.map { " is \($0.rawValue)" } ?? "")
            + (attempts.map { " after \(Counted.text(Int($0), "attempt"))" } ?? "")
        return .init(text: text) { job, amount in
            let deliveries = try job.transaction.deliveryStates(event: event)
            let found = deliveries.count {
                (attempts ?? $0.attempts) == $0.attempts && (status ?? $0.status) == $0.status
            }
            if let unknown = amount.unknownSinceRestore(found, job.hasForgottenDeliveries) { return (found, unknown) }
            if amount.contains(found) { return (found, nil) }
            let states = deliveries.prefix(3).map {
                "one is \($0.status.rawValue) after \(Counted.text(Int($0.attempts), "attempt"))"
            }
            return (
                found,
                amount.tally(found)
                    + (states.isEmpty ? "; there is no delivery of the event" : "; \(states.joined(separator: "; "))")
            )
        }
    }

    /// The engine's own kinds: before and after those of the platforms.
    package static let ofEngine = (first: [requests, sequences], last: [deliveries, faults])
}

extension ScenarioExpectation.Amount {
    /// The reason why an upper limit of a count that belongs to the state cannot be checked; `nil` if it can: a restore takes what
    /// happened before it out of the count.
    ///
    /// - Parameter hasForgotten: whether a restore may have taken some away.
    func unknownSinceRestore(_ found: Int, _ hasForgotten: Bool) -> String? {
        guard maxCount != .max, found <= maxCount, hasForgotten else { return nil }
        return
            "the namespace was restored, and what happened before is not counted, so an upper limit cannot be checked"
    }
}

extension JobContext {
    /// Whether the namespace was restored since it was made, reset or a scenario began in it.
    package var wasRestored: Bool { state.restoredAt != nil }

    /// Whether one of these restores took deliveries of webhooks away.
    fileprivate var hasForgottenDeliveries: Bool { state.deliveriesForgottenBefore != nil }
}

extension PlatformError {
    fileprivate var isForgotten: Bool { if case .forgotten = payload { true } else { false } }

    /// How many requests or steps a failed verification has found, and its near misses; `nil` for other errors.
    fileprivate var misses: (found: Int, nearest: [NearMiss])? {
        switch payload {
        case .nearMisses(let found, let nearest), .sequenceMisses(let found, let nearest): (found, nearest)
        case .forgotten(let found, _): (found, [])
        default: nil
        }
    }
}

extension NearMiss {
    /// The near miss in words: the request, its answer, the fact behind a refusal, and what differs beside the answer.
    fileprivate var sentence: String {
        let because = request.because.map { " (because \($0))" } ?? ""
        let what = "\(request.method) \(request.path) was \(request.answerText)\(because)"
        let loss = request.lossText.map { "was not delivered: \($0)" }
        let others = differences.compactMap { difference -> String? in
            if difference.begins(with: "status is ") { return nil }
            guard let loss, difference.begins(with: loss) else { return difference }
            let rest = difference.dropFirst(loss.count)
            return rest.isEmpty ? nil : String(rest.drop { $0 == ";" || $0 == " " })
        }
        return others.isEmpty ? what : "\(what): \(others.joined(separator: ", "))"
    }
}
