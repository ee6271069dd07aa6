import Foundation
import SimulationAPI

extension AgentTool {
    static let whatHappened = AgentTool(
        name: "what_happened", title: "See what happened",
        description: """
            Lists what happened in the namespace since a mark, a line each: requests of the code under test with their answers, events, \
            and the last deliveries of webhooks. Changes nothing. Every state has a mark: give it the next time to see only what is new.
            """,
        arguments: [
            namespaceArgument,
            Argument("since", .text(maxBytes: 40), "a mark, as state.mark of an earlier answer; absent, all"),
            Argument("limit", .integer(1...50), "the number of requests, and of events; 15 if absent"),
        ],
        effect: .reads, wayOut: "correct the argument that the error names"
    ) { arguments, simulator in
        let client = try await simulator.client(arguments.namespace)
        var mark = CaseMark()
        if let since = arguments.text("since") {
            guard let given = CaseMark(since) else {
                throw ToolFailure(
                    "since must be a mark such as r12e30, got \(ToolAnswer.short(since))", "take it from state.mark")
            }
            let now = try await CaseMark.now(client)
            guard given.request <= now.request, given.event <= now.event else {
                throw ToolFailure(
                    "since is \(given.text), and the namespace has only come to \(now.text)",
                    "take it from state.mark of an answer about this namespace")
            }
            mark = given
        }
        return try await CaseHistory.read(client, since: mark, limit: arguments.integer("limit") ?? 15)
    }

    static let why = AgentTool(
        name: "why", title: "Explain",
        description: """
            Explains a request (req_… or sequence:N), item, capture, session, webhook delivery, event (event:N) or control call \
            (control:N): the chain of causes, oldest first, and what would have changed it. Changes nothing.
            """,
        arguments: [
            namespaceArgument,
            Argument("id", .text(), "what to explain; #12 in what_happened is sequence:12", isRequired: true),
        ],
        effect: .reads, wayOut: "what_happened lists the ids"
    ) { arguments, simulator in
        let client = try await simulator.client(arguments.namespace)
        // As what_happened names requests.
        let given = arguments.text("id") ?? ""
        let id = given.hasPrefix("#") ? "sequence:\(given.dropFirst())" : given
        let explained: Explanation = try await client.get("/_sim/explain/\(id)")
        let steps = explained.steps.map { step in
            let causes = step.causes.isEmpty ? "" : " (from \(step.causes.joined(separator: ", ")))"
            return JSONValue.string(
                ToolAnswer.short("\(Readable.time(step.at)) \(step.id): \(step.text)\(causes)", 300))
        }
        return [
            "subject": .string("\(explained.subject.kind) \(explained.subject.id)"), "steps": .array(steps),
            "would_differ": .array(
                explained.would_differ.map { .string(ToolAnswer.short("\($0.step): \($0.text)", 300)) }),
            "forgotten": .bool(explained.forgotten), "state": try await CaseState.read(client),
        ]
    }

    static let check = AgentTool(
        name: "check", title: "Check the case",
        description: """
            Judges what the code under test did: the expectations that are given, what a scenario expects that was started here, and \
            the audit (retries too soon, tokens in URLs, polling, refused webhooks and more). Changes nothing. passed is false where \
            an expectation is not met or the audit has an error. refused counts the last 200 requests that were refused without a fault, \
            which may be right.
            """,
        arguments: [
            namespaceArgument,
            Argument(
                "expect", .objects(max: 20),
                """
                expectations about requests, for instance {"match": {"method": "POST", "route": "/sdk/captures", "status": 201}, \
                "times": 1}; also at_least, at_most; or {"sequence": [match, match], "min_gap": "2s"}
                """),
            Argument("audit", .flag, "false leaves the audit out"),
        ],
        effect: .reads,
        wayOut: """
            an expectation is {"match": {…}} with times, at_least or at_most, or {"sequence": [{…}, {…}]} with min_gap and max_gap; a match \
            has method, route, path, status, username, header or test. Webhooks are in what_happened
            """
    ) { arguments, simulator in
        let client = try await simulator.client(arguments.namespace)
        var verdict = CaseVerdict()
        for (index, expectation) in (arguments["expect"]?.elements ?? []).enumerated() {
            try await verdict.verify(expectation, at: index, client)
        }
        try await verdict.verifyScenario(client)
        if arguments["audit"] != false { try await verdict.audit(client) }
        try await verdict.countRefusals(client)
        return verdict.answer.merging(["state": try await CaseState.read(client)]) { own, _ in own }
    }
}

private struct CaseVerdict {
    private var hasPassed = true
    private var expectations: [JSONValue] = []
    private var scenario: JSONValue?
    private var findings: [JSONValue]?
    private var notJudged: [JSONValue] = []
    private var refused: [JSONValue] = []

    var answer: JSONObject {
        var answer: JSONObject = ["passed": .bool(hasPassed), "expectations": .array(expectations)]
        answer["scenario"] = scenario
        answer["findings"] = findings.map { .array($0) }
        if !notJudged.isEmpty { answer["not_judged"] = .array(notJudged) }
        if !refused.isEmpty { answer["refused"] = .array(refused) }
        return answer
    }

    mutating func verify(_ expectation: JSONValue, at index: Int, _ client: ControlClient) async throws {
        do {
            try await client.send(ControlCall(.POST, "/_sim/requests/verify", body: .json(expectation)))
            expectations.append(.string("\(index): met"))
        } catch let refusal as Refusal where refusal.code == .no && !refusal.isNotFound {
            hasPassed = false
            expectations.append(.string(ToolAnswer.short("\(index): not met: \(refusal.message)", 400)))
        } catch let refusal as Refusal where refusal.code == .usage {
            throw ToolFailure("expect[\(index)]: \(refusal.message)", AgentTool.check.wayOut)
        }
    }

    /// Verifies the scenario that was started last in the namespace, if one was.
    mutating func verifyScenario(_ client: ControlClient) async throws {
        guard let name = try await client.startedScenario() else { return }
        do {
            try await client.send(ControlCall(.POST, "/_sim/scenarios/\(name)/verify"))
            scenario = .string("\(name): met")
        } catch let refusal as Refusal where refusal.code == .no && !refusal.isNotFound {
            hasPassed = false
            let problems = refusal.details.prefix(10).map {
                JSONValue.string(ToolAnswer.short("\($0.field): \($0.problem)", 300))
            }
            scenario = ["name": .string(name), "not_met": .array(Array(problems))]
        } catch let refusal as Refusal where refusal.isNotFound {
            hasPassed = false
            notJudged.append(.string("the scenario \(name), which this case began with, is not stored any more"))
        }
    }

    /// Counts the last requests that were refused, and by no fault. A client that asks for routes which do not exist breaks no rule.
    mutating func countRefusals(_ client: ControlClient) async throws {
        let list: RequestList = try await client.get("/_sim/requests", [("limit", "200")])
        var counts: [Int: Int] = [:]
        for request in list.requests where request.decided_by.fault == nil {
            if let status = request.status, status >= 400 { counts[status, default: 0] += 1 }
        }
        refused = counts.sorted { $0.key < $1.key }.map { .string("\($0.key): \($0.value)") }
    }

    mutating func audit(_ client: ControlClient) async throws {
        let report: AuditReport = try await client.get("/_sim/audit")
        if report.findings.contains(where: { $0.level == .error }) { hasPassed = false }
        findings = report.findings.map { finding in
            let requests = finding.requests.prefix(8).map { "#\($0.sequence)" }.joined(separator: ", ")
            let place = requests.isEmpty ? "" : " (\(requests))"
            return .string(
                ToolAnswer.short(
                    "\(finding.level.rawValue) \(finding.rule), \(Readable.count(finding.count, "time")): \(finding.text)\(place)",
                    400))
        }
        notJudged = report.rules.compactMap { rule in rule.not_judged.map { .string("\(rule.id): \($0)") } }
    }
}
