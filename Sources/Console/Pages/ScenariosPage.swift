import SimulationAPI

/// The scenarios that can be started, by product. The one that was started in the namespace comes first.
enum ScenariosPage {
    /// The products, with their groups' ids and titles.
    private static let products = [
        ("namespace", "Of this namespace"), ("entrupy", "Entrupy"), ("components", "App Components"),
    ]

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let list = try await api.get("scenarios", as: ScenarioList.self).scenarios
        let run = await running(api)
        let groups = products.map { id, title -> (id: String, title: String, scenarios: [ScenarioInfo]) in
            let own = list.filter { product(of: $0).isIdentical(to: id) }
            // The running one is first in its group, and its group is first.
            return (id, title, own.filter { isRunning($0, run) } + own.filter { !isRunning($0, run) })
        }
        let hasRun = { (scenarios: [ScenarioInfo]) in scenarios.first.map { isRunning($0, run) } ?? false }
        let ordered = groups.filter { hasRun($0.scenarios) } + groups.filter { !hasRun($0.scenarios) }
        let view: View = [
            "groups": ordered.filter { !$0.scenarios.isEmpty }.map { group in
                [
                    "groupID": "group-\(group.id)", "group": group.title,
                    "scenarios": group.scenarios.map { scenario($0, run, request) },
                ] as View
            }
        ]
        return PagePart(section: "scenarios", title: "Scenarios", template: "scenarios", view: view)
    }

    private static func product(of scenario: ScenarioInfo) -> String {
        guard scenario.source == "shipped" else { return "namespace" }
        return scenario.name.begins(with: "component-") ? "components" : "entrupy"
    }

    private static func isRunning(_ scenario: ScenarioInfo, _ run: ScenarioRun?) -> Bool {
        run?.name.isIdentical(to: scenario.name) ?? false
    }

    /// The scenario that the namespace was started from; `nil` if there is none.
    private static func running(_ api: ControlReader) async -> ScenarioRun? {
        // Without it the scenarios are still of use.
        let log = try? await api.get(
            "event-log", [("kind", "scenario.started"), ("limit", "1")], as: EventList.self)
        guard let name = log?.events.first?.subject else { return nil }
        // A deleted scenario has no details.
        return try? await api.get("scenarios/\(Link.escaped(name))", as: ScenarioDetails.self).run
    }

    private static func scenario(_ scenario: ScenarioInfo, _ run: ScenarioRun?, _ request: ConsoleRequest) -> View {
        let own = isRunning(scenario, run) ? run : nil
        let met = own?.expectations.count(where: \.passed) ?? 0
        return [
            "name": scenario.name, "link": "\(request.console)/scenarios/\(Link.escaped(scenario.name))",
            "about": purpose(scenario.description),
            "counts": [counted(scenario.actions, "action"), counted(scenario.expectations, "expectation")]
                .compactMap { $0 }.joined(separator: ", "),
            "isRunning": own != nil, "runStyle": own?.verified ?? false ? "good" : "accent",
            "run": own.map { "running: \(met) of \($0.expectations.count) met" } ?? "",
        ]
    }

    /// The purpose of a scenario: what its description says before it says what the client does.
    private static func purpose(_ description: String) -> String {
        let paragraph = description.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }
            .joined(separator: " ")
        return paragraph.split(separator: " Client:").first.map(String.init) ?? ""
    }

    /// A number of things; `nil` if there are none.
    private static func counted(_ count: Int, _ thing: String) -> String? {
        count == 0 ? nil : "\(count) \(thing)\(count == 1 ? "" : "s")"
    }
}

/// One scenario: its text, its timeline and its expectations while it runs.
enum ScenarioPage {
    static func part(_ name: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let details = try await api.get("scenarios/\(Link.escaped(name))", as: ScenarioDetails.self)
        let run = details.run
        let now = try await api.get("clock", as: ClockState.self).epoch
        let view: View = [
            "name": details.scenario.name, "about": details.scenario.description, "text": details.text,
            "startPath": "\(request.base)/_sim/scenarios/\(Link.escaped(details.scenario.name))/start",
            "hasRun": run != nil, "noRun": run == nil, "isVerified": run?.verified ?? false,
            "isUnverified": run.map { !$0.verified } ?? false,
            "startedAt": run.map { Moment.text($0.started_at) } ?? "",
            "timeline": (run?.timeline ?? []).map { action in
                [
                    "action": action.action, "at": Moment.text(action.at), "atISO": Moment.iso(action.at),
                    "in": Moment.age(action.at, now: now), "state": action.state,
                    "left": Moment.span(action.at - now), "leftSeconds": "\(max(0, action.at - now))",
                    "isWaiting": action.state == "waiting" || action.state == "pending",
                    "stateStyle": action.state == "done" ? "good" : action.state == "failed" ? "bad" : "accent",
                    "problem": action.problem ?? "", "hasProblem": action.problem != nil,
                ] as View
            },
            "hasTimeline": !(run?.timeline ?? []).isEmpty,
            "checks": (run?.expectations ?? []).map { check in
                [
                    "check": check.expectation, "isPassed": check.passed, "isFailed": !check.passed,
                    "found": check.found, "problem": check.problem ?? "", "hasProblem": check.problem != nil,
                    "line": check.line.map { "line \($0)" } ?? "",
                ] as View
            },
            "notes": (run?.notes ?? []).map {
                ["field": $0.field, "problem": $0.problem, "mayChange": $0.may_change] as View
            },
            "hasNotes": !(run?.notes ?? []).isEmpty,
        ]
        return PagePart(section: "scenarios", title: details.scenario.name, template: "scenario", view: view)
    }
}
