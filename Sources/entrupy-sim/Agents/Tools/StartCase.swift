import EntrupyAPI
import Foundation
import SimulationAPI

extension AgentTool {
    static let all = [startCase, setResult, breakNext, moveClock, whatHappened, why, diff, check, drop]

    static let namespaceArgument = Argument(
        "namespace", .namespace, "the case's namespace, as start_case named it", isRequired: true)

    static let startCase = AgentTool(
        name: "start_case", title: "Start a case",
        description: """
            Makes a namespace: a simulated platform of its own, with data, limits, time and webhooks that no other case sees. Returns \
            the base URL and the API token for the code under test. Items to authenticate are those that items or a scenario names, \
            and those that an app under test captures and submits. With scenario or scenario_yaml it begins as that scenario says. \
            Destroys nothing, unless replace is true: then a namespace of the same name is deleted first.
            """,
        arguments: [
            Argument("namespace", .namespace, "the name; a new one if absent"),
            Argument("scenario", .text(), "the name of a scenario, for instance late-result"),
            Argument(
                "scenario_yaml", .text(maxBytes: 200_000),
                """
                the text of a scenario, in place of scenario, for instance: \
                {name: late, description: a late result, clock: {freeze: 2026-01-05T09:00:00Z}, \
                items: [{customer_item_id: late-1, result: needs_review}], \
                timeline: [{at: 3h, set_result: {customer_item_id: late-1, result: unknown}}], \
                faults: [{match: {route: /sdk/results/*}, effect: {status: 503}, times: 1}]}
                """),
            Argument(
                "items", .objects(max: 100),
                """
                items that are there from the beginning, for instance [{"customer_item_id": "sku-1", "result": "needs_review"}]: \
                needs_review is pending, until set_result with its entrupy_id. webhook_url is not told of them
                """),
            Argument(
                "freeze_at", .text(),
                "freezes the clock at this time, for instance 2026-01-05T09:00:00Z; absent, it runs"),
            Argument(
                "settings", .object,
                "settings to change, for instance {\"result\": {\"delay\": \"3h\"}, \"capture_timeout\": \"2h\"}"),
            Argument("webhook_url", .text(maxBytes: 2000), "where webhooks are sent"),
            Argument("webhook_secret", .text(maxBytes: 256), "the key that signs webhooks, with webhook_url"),
            Argument("replace", .flag, "deletes a namespace of this name first"),
        ],
        effect: .destroys,
        wayOut: "correct the argument that the error names, and call start_case again; nothing was made",
        argumentsByField: [
            "secret_key": "webhook_secret", "url": "webhook_url", "clock.freeze": "freeze_at",
        ]
    ) { arguments, simulator in
        try await CaseStart(arguments).run(simulator)
    }
}

private struct CaseStart {
    let arguments: ToolArguments
    let name: String

    init(_ arguments: ToolArguments) throws {
        self.arguments = arguments
        name = arguments.text("namespace") ?? Self.newName()
        if arguments.has(anyOf: ["scenario", "scenario_yaml"]), arguments["freeze_at"] != nil {
            throw ToolFailure(
                "a scenario says how its clock begins, so freeze_at cannot be given with it. Nothing was made",
                "write clock: {freeze: …} in scenario_yaml; or leave freeze_at out, and freeze with move_clock, mode frozen"
            )
        }
        if arguments["scenario"] != nil, arguments["scenario_yaml"] != nil {
            throw ToolFailure(
                "scenario and scenario_yaml cannot both be given", "leave one of them out; nothing was made")
        }
        if (arguments["webhook_url"] == nil) != (arguments["webhook_secret"] == nil) {
            throw ToolFailure(
                "webhook_url and webhook_secret belong together", "give both, or neither; nothing was made")
        }
    }

    func run(_ simulator: AgentSimulator) async throws -> JSONObject {
        let server = try await simulator.client("default")
        if arguments.isSet("replace") {
            // What cannot be made must not cost the namespace that is there.
            let rehearsal = Self.newName()
            _ = try await make(rehearsal, replaces: false, server, simulator)
            try await server.send(ControlCall(.DELETE, "/_sim/namespaces/\(rehearsal)"))
        }
        let made = try await make(name, replaces: arguments.isSet("replace"), server, simulator)
        let client = try await simulator.client(name)
        let state = try await CaseState.read(client)
        return [
            "base_url": state.members?["url"] ?? .null,
            "api_token": (try await client.firstAPIToken()).map { .string($0) } ?? .null,
            "next":
                "point the code under test at base_url in place of https://api.entrupy.com, run it, then call what_happened",
            "items": .array(made.items), "notes": .array(made.notes.map { .string($0) }), "state": state,
        ]
    }

    private static func newName() -> String {
        "case-" + String(UInt64.random(in: 36_000_000..<2_000_000_000), radix: 36)
    }

    /// Makes a namespace with its settings and its subscription, or none.
    ///
    /// - Returns: the notes on parts of a scenario that nothing can match and on members of items, and the items that were made.
    private func make(
        _ name: String, replaces: Bool, _ server: ControlClient, _ simulator: AgentSimulator
    ) async throws -> (notes: [String], items: [JSONValue]) {
        var notes = try await begin(name, replaces: replaces, server)
        let client = try await simulator.client(name)
        var items: [JSONValue] = []
        do {
            if let settings = arguments["settings"] {
                try await client.send(ControlCall(.PATCH, "/_sim/settings", body: .json(settings)))
            }
            // Before the subscription, which would be told of them.
            for (index, item) in (arguments["items"]?.elements ?? []).enumerated() {
                let made = try await insert(item, at: index, client)
                items.append(
                    .members([
                        ("customer_item_id", item.members?["customer_item_id"]), ("entrupy_id", made.entrupy_ids.first),
                    ]))
                notes += (made.notes ?? []).map { "items[\(index)].\($0.field): \($0.problem)" }
            }
            if let url = arguments.text("webhook_url") {
                try await client.send(
                    ControlCall(
                        .POST, "/_sim/webhooks", body: ["url": url, "secret_key": arguments.text("webhook_secret")]))
            }
        } catch {
            // The first error is the one to report.
            _ = try? await server.send(ControlCall(.DELETE, "/_sim/namespaces/\(name)"))
            throw error
        }
        return (notes, items)
    }

    private func insert(_ item: JSONValue, at index: Int, _ client: ControlClient) async throws -> GeneratedItems {
        let wrong = ["after", "delay", "count", "template"].filter { item.members?[$0] != nil }
        guard wrong.isEmpty else {
            throw ToolFailure(
                "items[\(index)] has \(wrong.joined(separator: ", ")): it is one item, with its result at once. Nothing was made",
                "give it the result needs_review, and decide later: set_result with its entrupy_id; or items and a timeline in scenario_yaml"
            )
        }
        do {
            return try await client.send(ControlCall(.POST, "/_sim/authentications", body: .json(item))).decoded()
        } catch let refusal as Refusal where refusal.code == .usage {
            throw ToolFailure("items[\(index)]: \(refusal.fullText)", AgentTool.startCase.wayOut)
        }
    }

    /// Makes the namespace, or starts the scenario in it.
    private func begin(_ name: String, replaces: Bool, _ server: ControlClient) async throws -> [String] {
        if arguments.has(anyOf: ["scenario", "scenario_yaml"]) {
            let path: ControlPath =
                arguments.text("scenario").map { "/_sim/scenarios/\($0)/start" } ?? "/_sim/scenarios/start"
            let run: ScenarioRun
            do {
                run = try await server.post(
                    path, body: ["namespace": name, "replace": replaces, "scenario": arguments.text("scenario_yaml")],
                    takesLong: true)
            } catch let refusal as Refusal where refusal.isNotFound {
                let list: ScenarioList = try await server.get("/_sim/scenarios")
                throw ToolFailure(
                    "\(refusal.message). Nothing was made",
                    "\(AgentSimulator.guess(refusal))the scenarios are \(list.scenarios.map(\.name).joined(separator: ", ")); or write one in scenario_yaml"
                )
            }
            return run.notes.map { "\($0.field): \($0.problem)" }
        }
        if replaces {
            do {
                try await server.send(ControlCall(.DELETE, "/_sim/namespaces/\(name)"))
            } catch let refusal as Refusal where refusal.isNotFound {}
        }
        let clock = arguments.text("freeze_at").map { JSONValue.members([("freeze", $0)]) }
        do {
            try await server.send(ControlCall(.PUT, "/_sim/namespaces/\(name)", body: ["clock": clock]))
        } catch let refusal as Refusal where refusal.message.contains("exists already") {
            throw ToolFailure(
                refusal.message,
                "give another name; replace: true deletes that one, with all its data, and makes it anew")
        }
        return []
    }
}
