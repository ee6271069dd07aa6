import EntrupyAPI
import Foundation
import Server
import SimulationAPI

extension AgentTool {
    static let setResult = AgentTool(
        name: "set_result", title: "Decide a result",
        description: """
            Decides the authentication result. With entrupy_id: of that item, now, as if the platform had decided it; webhooks follow. \
            Without: of items that are submitted later and match. The first rule that matches decides, so earlier rules go first; clear \
            removes all of them before.
            """,
        arguments: [
            namespaceArgument,
            Argument("result", .text(), "the result: \(ResultID.list); needs_review is pending, the others are final"),
            Argument("reason", .text(), "the reason of an invalid result, for instance blurry_images"),
            Argument("entrupy_id", .text(), "an item that is there; the rest but reason and flag is then left out"),
            Argument("flag", .text(), "with entrupy_id: the item's flag, for instance resolved_authentic"),
            Argument("customer_item_id", .text(), "a glob, for instance late-*"),
            Argument("brand", .text(), "the brand of the items"),
            Argument("username", .text(), "the user of the items"),
            Argument("product_category", .text(), "sneakers, luxury or apparel"),
            Argument("after", .text(), "the time from the submission to the result, for instance 3h"),
            Argument("times", .integer(1...1_000_000), "how many items it decides; absent, all"),
            Argument("clear", .flag, "removes the rules that are there"),
        ],
        effect: .destroys,
        wayOut: "correct what the error names: what_happened shows the ids of the items, and state.results the rules"
    ) { arguments, simulator in
        let client = try await simulator.client(arguments.namespace)
        let parts = ["customer_item_id", "brand", "username", "product_category"]
        if let item = arguments.text("entrupy_id") {
            let wrong = (parts + ["after", "times", "clear"]).filter { arguments[$0] != nil }
            guard wrong.isEmpty else {
                throw ToolFailure(
                    "\(wrong.joined(separator: ", ")) cannot be given with entrupy_id. Nothing was changed",
                    "with entrupy_id only result, reason and flag are read")
            }
            let body = ControlCall.Body.json(.members(arguments.members(["result", "reason", "flag"])))
            try await client.send(ControlCall(.PATCH, "/_sim/authentications/\(item)", body: body))
            return ["state": try await CaseState.read(client)]
        }
        let describesRule = arguments.has(anyOf: parts + ["reason", "after", "times"])
        guard arguments["result"] != nil || arguments.isSet("clear") && !describesRule, arguments["flag"] == nil else {
            throw ToolFailure(
                arguments["flag"] == nil
                    ? "result is missing" : "flag belongs to entrupy_id, which is missing",
                "say which result, of which item (entrupy_id) or of which items to come (customer_item_id, brand, …)")
        }
        let match = JSONValue.members(arguments.members(parts))
        let rule = JSONValue.members(
            [("match", match)] + arguments.members(["result", "reason", "after", "times"]))
        return try await CaseRules.outcomes.change(
            adding: arguments["result"] == nil ? nil : rule, clearing: arguments.isSet("clear"), client,
            note: "the rule waits for items that are submitted from now on; those that are there keep their results")
    }

    static let breakNext = AgentTool(
        name: "break_next", title: "Break what comes next",
        description: """
            Makes the next requests (route) or webhooks (webhook) fail as said: a status, a delay, or another effect (of requests \
            \(SimulatedEffects.ofRequests); of webhooks \(SimulatedEffects.ofWebhooks)). Once, unless times says otherwise. \
            clear removes the faults that are there; alone, it only does that.
            """,
        arguments: [
            namespaceArgument,
            Argument("route", .text(), "a glob over the path, for instance /sdk/captures/*/submit"),
            Argument("method", .text(), "the method, for instance POST"),
            Argument("username", .text(), "the user"),
            Argument("webhook", .text(), "a glob over the event, for instance session.completed"),
            Argument("status", .integer(200...599), "the status to answer"),
            Argument("delay", .text(), "the time to wait, for instance 2s"),
            Argument(
                "effect", .object,
                "another effect, for instance {\"drop_connection\": true} or {\"hold\": {\"when\": \"after\", \"for\": \"30s\"}}"
            ),
            Argument("times", .integer(1...1_000_000), "how often; 1 if absent"),
            Argument("after_requests", .integer(0...1_000_000), "how many to let pass first"),
            Argument("clear", .flag, "removes the faults that are there"),
        ],
        effect: .destroys, wayOut: "correct what the error names; state.faults shows the faults"
    ) { arguments, simulator in
        let client = try await simulator.client(arguments.namespace)
        let effects = ["status", "delay", "effect"]
        let adds = arguments.has(
            anyOf: effects + ["route", "webhook", "method", "username", "times", "after_requests"])
        guard adds || arguments.isSet("clear") else {
            throw ToolFailure(
                "neither a fault nor clear was given", "for instance route: /sdk/results/*, status: 503; or clear: true"
            )
        }
        if adds {
            guard effects.count(where: { arguments[$0] != nil }) == 1 else {
                throw ToolFailure(
                    "exactly one of status, delay and effect must be given. Nothing was changed",
                    "say how it breaks with one of them")
            }
            guard arguments.has(anyOf: ["route", "webhook"]) else {
                throw ToolFailure(
                    "neither route nor webhook was given. Nothing was changed",
                    "say what breaks; route: * is every request, and ** any parts of a path")
            }
            guard !["route", "webhook"].allSatisfy({ arguments[$0] != nil }) else {
                throw ToolFailure(
                    "route and webhook cannot both be given. Nothing was changed",
                    "call break_next once for the requests, and once for the webhooks")
            }
        }
        let effect = arguments["effect"] ?? .members(arguments.members(["status", "delay"]))
        let match = JSONValue.members(arguments.members(["route", "method", "username", "webhook"]))
        let rule = JSONValue.members([
            ("match", match), ("effect", effect), ("times", arguments.integer("times") ?? 1),
            ("after_requests", arguments.integer("after_requests")),
        ])
        return try await CaseRules.faults.change(adding: adds ? rule : nil, clearing: arguments.isSet("clear"), client)
    }

    static let moveClock = AgentTool(
        name: "move_clock", title: "Move the clock",
        description: """
            Moves the namespace's clock forward and does all work that falls due on the way: results, time-outs, ends of sessions, \
            attempts of webhooks. Returns what happened meanwhile. A clock never goes back. mode freezes it, or lets it run.
            """,
        arguments: [
            namespaceArgument,
            Argument("by", .text(), "how far, for instance 2h or 90s"),
            Argument(
                "to", .text(),
                "\"next\" for the next time at which work is due, or a time such as 2026-01-05T09:00:00Z"),
            Argument("mode", .choice(["frozen", "running"]), "how it goes on after that; unchanged if absent"),
        ],
        effect: .changes,
        wayOut:
            "by is a span such as 90s, 2h or 3d; to is next, or a time that is not past; state.next_due says what is due next"
    ) { arguments, simulator in
        let client = try await simulator.client(arguments.namespace)
        guard arguments.has(anyOf: ["by", "to", "mode"]), arguments["by"] == nil || arguments["to"] == nil else {
            throw ToolFailure(
                arguments["by"] == nil
                    ? "one of by and to must be given, or mode. The clock did not move"
                    : "by and to cannot both be given; one of by and to says how far. The clock did not move",
                "for instance by: 2h, or to: next")
        }
        let mark = try await CaseMark.now(client)
        var answer = JSONObject()
        if arguments.has(anyOf: ["by", "to"]) {
            let body = ControlCall.Body.json(.members(arguments.members(["by", "to"])))
            let clock: ClockState = try await client.post("/_sim/clock/advance", body: body, takesLong: true)
            if clock.nothing_due == true { answer["note"] = "nothing is due, so the clock did not move" }
            if clock.reached == false, clock.nothing_due != true {
                answer["note"] = .string(
                    "the clock stopped before its target: \(clock.pending ?? 0) pieces of work are left; call move_clock again"
                )
            }
        }
        switch arguments.text("mode") {
        case "frozen": try await client.send(ControlCall(.POST, "/_sim/clock/freeze"))
        case "running": try await client.send(ControlCall(.POST, "/_sim/clock/resume"))
        default: break
        }
        let happened = try await CaseHistory.read(client, since: mark, limit: 20)
        return answer.merging(happened) { own, _ in own }
    }

    static let drop = AgentTool(
        name: "drop", title: "End a case",
        description: """
            Deletes a namespace with all its data, for ever. Scenarios and snapshots that are stored in it go with it. Returns the \
            namespaces that remain.
            """,
        arguments: [namespaceArgument], effect: .destroys,
        wayOut: "the namespace default cannot be deleted; leave it as it is, and drop those that start_case made"
    ) { arguments, simulator in
        let server = try await simulator.client("default")
        try await server.send(ControlCall(.DELETE, "/_sim/namespaces/\(arguments.namespace)"))
        let list: NamespaceList = try await server.get("/_sim/namespaces")
        return [
            "dropped": .string(arguments.namespace), "namespaces": .array(list.namespaces.map { .string($0.name) }),
        ]
    }
}

/// The fault rules or the outcome rules of a namespace.
private enum CaseRules: String {
    case faults, outcomes

    private struct Rule: Decodable {
        let id: String
        let notes: [String]
    }

    /// Adds a rule, then removes those that were there before: a rule that is refused leaves them as they are.
    ///
    /// - Parameter note: a note about a rule that is added.
    func change(
        adding rule: JSONValue?, clearing: Bool, _ client: ControlClient, note: String? = nil
    ) async throws -> JSONObject {
        let path: ControlPath = "/_sim/\(rawValue)"
        let earlier: [String: [Rule]] = clearing ? try await client.get(path) : [:]
        var notes: [String] = []
        if let rule {
            let added: Rule = try await client.send(ControlCall(.POST, path, body: .json(rule))).decoded()
            notes = added.notes + [note].compactMap(\.self)
        }
        for old in earlier[rawValue] ?? [] {
            do {
                try await client.send(ControlCall(.DELETE, "/_sim/\(rawValue)/\(old.id)"))
            } catch let refusal as Refusal where refusal.isNotFound {}
        }
        return ["notes": .array(notes.map { .string($0) }), "state": try await CaseState.read(client)]
    }
}
