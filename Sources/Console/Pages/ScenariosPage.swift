import SimulationAPI

/// The scenarios that can be started, by product. The one that was started in the namespace comes first.
enum ScenariosPage {
    /// The products, with their groups' ids and titles.
    private static let products = [
        ("namespace", "Of this namespace"), ("entrupy", "Entrupy"), ("components", "App Components"),
    ]

    private struct View: Encodable, Sendable {
        let groups: [Group]

        struct Group: Encodable, Sendable {
            let groupID, group: String
            let scenarios: [Card]
        }

        struct Card: Encodable, Sendable {
            let name, about, counts: String
            /// The progress of the run, as words; `nil` if the scenario does not run.
            let run: String?
            let runStyle: String
        }
    }

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
        let view = View(
            groups: ordered.filter { !$0.scenarios.isEmpty }.map { group in
                View.Group(
                    groupID: "group-\(group.id)", group: group.title,
                    scenarios: group.scenarios.map { card($0, run) })
            })
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
        let started = try? await api.events([("kind", "scenario.started"), ("limit", "1")])
        guard let name = started?.first?.subject else { return nil }
        // A deleted scenario has no details.
        return try? await api.get("scenarios/\(URLPart.escaped(name))", as: ScenarioDetails.self).run
    }

    private static func card(_ scenario: ScenarioInfo, _ run: ScenarioRun?) -> View.Card {
        let own = isRunning(scenario, run) ? run : nil
        let met = own?.expectations.count(where: \.passed) ?? 0
        return View.Card(
            name: scenario.name, about: purpose(scenario.description).showingInvisible,
            counts: [(scenario.actions, "action"), (scenario.expectations, "expectation")].filter { $0.0 != 0 }
                .map { Counted.text($0.0, $0.1) }.joined(separator: ", "),
            run: own.map { "running: \(met) of \($0.expectations.count) met" },
            runStyle: own?.verified ?? false ? "good" : "accent")
    }

    /// The purpose of a scenario: what its description says before it says what the client does.
    private static func purpose(_ description: String) -> String {
        let paragraph = description.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }
            .joined(separator: " ")
        return paragraph.split(separator: " Client:").first.map(String.init) ?? ""
    }
}

/// One scenario: its text, its timeline and its expectations while it runs.
enum ScenarioPage {
    private struct View: Encodable, Sendable {
        let details: ScenarioDetails
        let actions: Rows<Action>?
    }

    private struct Action: Encodable, Sendable {
        let action: ScenarioRun.Action
        let age, stateStyle: String
        /// `nil` if the action is over.
        let wait: Countdown?
    }

    static func part(_ name: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        var details = try await api.get("scenarios/\(URLPart.escaped(name))", as: ScenarioDetails.self)
        details.text = details.text.showingInvisible
        details.scenario.description = details.scenario.description.showingInvisible
        let now = try await api.get("clock", as: ClockState.self).epoch
        let view = View(
            details: details, actions: Rows((details.run?.timeline ?? []).map { Self.action($0, now: now) }))
        return PagePart(section: "scenarios", title: details.scenario.name, template: "scenario", view: view)
    }

    private static func action(_ action: ScenarioRun.Action, now: Double) -> Action {
        Action(
            action: action, age: Moment.age(action.at, now: now),
            stateStyle: action.state == "done" ? "good" : action.state == "failed" ? "bad" : "accent",
            wait: ["waiting", "pending"].contains(action.state) ? Countdown(to: action.at, left: action.at - now) : nil)
    }
}
