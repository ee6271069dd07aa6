import EntrupyAPI
import EntrupyStorage
import SimulationAPI
import Storage

/// A condition that must hold when a scenario is over [D scenarios].
struct ScenarioExpectation: Sendable {
    /// The line in the scenario.
    var line: Int?
    private let subject: Subject
    /// The minimum number of matches; ``most`` is the maximum.
    private let least: Int
    private let most: Int

    private enum Subject: Sendable {
        case requests(JournalQuery)
        case items(customerItemID: String, result: String?, flag: String?)
        case captures(status: Capture.Status, customerItemID: String?)
        case deliveries(event: String, attempts: Int?, status: String?)
    }

    private static let kinds = ["route", "item", "capture", "webhook"]
    private static let counts = ["times", "at_least", "at_most"]

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    init(_ value: JSONValue) throws {
        let given = (value.members ?? [:]).keys.filter { $0.isOne(of: Self.kinds) }.sorted()
        guard value.members != nil, given.count == 1 else {
            throw PlatformError.invalid(
                field: "",
                "needs one of \(Self.kinds.joined(separator: ", ")), got "
                    + (given.isEmpty ? "none" : given.joined(separator: ", ")))
        }
        let own = given[0] == "route" ? ["method", "status", "username", "test"] : []
        var fields = FieldReader(value, known: given + own + Self.counts)
        switch given[0] {
        case "route": subject = Self.requests(&fields)
        case "item":
            var item = fields.object("item", known: ["customer_item_id", "result", "flag"])
            subject = .items(
                customerItemID: item.requiredText("customer_item_id"), result: item.word("result", ResultID.all),
                flag: item.word("flag", [Flags.State.none, Flags.State.flagged, Flags.State.resolved]))
        case "capture":
            var capture = fields.object("capture", known: ["status", "customer_item_id"])
            let status = capture.requiredWord("status", Capture.Status.allCases.map(\.rawValue))
            subject = .captures(
                status: Capture.Status(rawValue: status) ?? .started, customerItemID: capture.text("customer_item_id"))
        default:
            var webhook = fields.object("webhook", known: ["event", "attempts", "status"])
            subject = .deliveries(
                event: webhook.requiredWord("event", WebhookEvent.allCases.map(\.rawValue)),
                attempts: webhook.number("attempts"),
                status: webhook.word("status", WebhookDeliveryStatus.allCases.map(\.rawValue)))
        }
        let amount = fields.amount()
        try fields.finish()
        least = amount.lowerBound
        most = amount.upperBound
    }

    private static func requests(_ fields: inout FieldReader) -> Subject {
        let query = JournalQuery(&fields)
        if let route = query.route?.pattern {
            if !route.begins(with: "/"), !route.begins(with: "*") {
                fields.report("route", "must begin with / or *, got \(route)")
            }
            if route.begins(with: "/ns/") || route.begins(with: "/_sim") {
                fields.report(
                    "route", "must be a route of the platform, without /ns/{ns}: nothing else is in the journal")
            }
        }
        return .requests(query)
    }

    /// Notes on an expected request that no route answers.
    func notes(_ routes: [(method: String, path: Glob)]) -> [ErrorDetail] {
        guard case .requests(let query) = subject, let route = query.route else { return [] }
        return RouteNotes.notes(route, method: query.method, "", routes)
    }

    /// The result of the check: whether the condition holds, and what was found.
    func check(_ job: JobContext) throws -> ScenarioCheck {
        var problem: String?
        let found: Int
        switch subject {
        case .requests(let query):
            do {
                found = try VerifyRequests(query, least: least, most: most).perform(job).count
            } catch let error as PlatformError {
                guard case .nearMisses(let count, let nearest) = error.payload else { throw error }
                found = count
                problem = ([error.message] + nearest.prefix(2).map(Self.sentence)).joined(separator: "; ")
            }
        case .items(let id, let result, let flag):
            let items = try job.transaction.itemStates(customerItemID: id)
            found = items.count {
                (result?.isIdentical(to: $0.result) ?? true) && (flag?.isIdentical(to: $0.flag) ?? true)
            }
            if !(least...most).contains(found) {
                let states = items.prefix(3).map { "\($0.customerItemID) is \($0.result), \($0.flag)" }
                problem =
                    tally(found) + (states.isEmpty ? "; there is no such item" : "; \(states.joined(separator: "; "))")
            }
        case .captures(let status, let id):
            let statuses = try job.transaction.captureStates(customerItemID: id)
            found = statuses[status.rawValue] ?? 0
            if !(least...most).contains(found) {
                let others = statuses.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                problem =
                    tally(found)
                    + (others.isEmpty ? "; there are none at all" : "; there are \(others.joined(separator: ", "))")
            }
        case .deliveries(let event, let attempts, let status):
            let deliveries = try job.transaction.deliveryStates(event: event)
            found = deliveries.count { (attempts ?? $0.attempts) == $0.attempts && (status ?? $0.status) == $0.status }
            if !(least...most).contains(found) {
                let states = deliveries.prefix(3).map { "one is \($0.status) after \($0.attempts) attempts" }
                problem =
                    tally(found)
                    + (states.isEmpty ? "; there is no delivery of the event" : "; \(states.joined(separator: "; "))")
            }
        }
        return ScenarioCheck(
            expectation: description, line: line, passed: problem == nil, found: found, problem: problem)
    }

    private func tally(_ found: Int) -> String { "expected \(amount), found \(found)" }

    private static func sentence(_ miss: NearMiss) -> String {
        let request = miss.request
        let what = "\(request.method) \(request.path) was \(request.status)"
        return miss.differences.isEmpty ? what : "\(what): \(miss.differences.joined(separator: ", "))"
    }

    private var amount: String {
        least == most
            ? "\(least)" : most == .max ? "at least \(least)" : least == 0 ? "at most \(most)" : "\(least) to \(most)"
    }

    /// The expected number of matches, as text.
    private var often: String {
        func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
        if least == most { return least == 0 ? "never" : times(least) }
        if most == .max { return least == 0 ? "any number of times" : "at least \(times(least))" }
        return least == 0 ? "at most \(times(most))" : "\(least) to \(times(most))"
    }

    /// The expectation as one line of text.
    private var description: String {
        let what: String
        switch subject {
        case .requests(let query):
            let parts = [
                query.method, query.route?.pattern ?? "*", query.status.map { "-> \($0.text)" },
                query.username.map { "by \($0)" },
                query.test.map { "of test \($0)" },
            ]
            what = parts.compactMap(\.self).joined(separator: " ")
        case .items(let id, let result, let flag):
            what = "item \(id)" + (result.map { " is \($0)" } ?? "") + (flag.map { ", flag \($0)" } ?? "")
        case .captures(let status, let id): what = "capture\(id.map { " of \($0)" } ?? "") is \(status.rawValue)"
        case .deliveries(let event, let attempts, let status):
            what =
                "webhook \(event)" + (status.map { " is \($0)" } ?? "")
                + (attempts.map { " after \($0) attempts" } ?? "")
        }
        return "\(what), \(often)"
    }
}
