import SimulationAPI

/// The scenarios that can be started.
enum ScenariosPage {
    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let list = try await api.get("scenarios", as: ScenarioList.self).scenarios
        let view: View = [
            "scenarios": list.map { scenario -> View in
                [
                    "name": scenario.name, "link": "\(request.console)/scenarios/\(Link.escaped(scenario.name))",
                    "about": scenario.description.split(separator: "\n").first.map(String.init) ?? "",
                    "isOwn": scenario.source != "shipped", "source": scenario.source,
                    "actions": scenario.actions, "expectations": scenario.expectations,
                ]
            }
        ]
        return PagePart(section: "scenarios", title: "Scenarios", template: "scenarios", view: view)
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
