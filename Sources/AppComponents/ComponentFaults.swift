import Simulation

extension RequestEffect {
    static let componentError = Self(
        "component_error", "Answers with this error of App Components. Only their routes have it.",
        words: WorkflowFailure.names
    ) { triggering, name in
        guard let failure = WorkflowFailure(rawValue: name), triggering.request.path.utf8.starts(with: routes.utf8)
        else { return nil }
        return try failure.unexpected(
            because: "the fault rule \(triggering.ruleID) decides \(failure.rawValue)", triggering.job)
    } note: { route, known in
        known.contains { $0.path.pattern.utf8.starts(with: routes.utf8) && route.overlaps($0.path) }
            ? nil : "no route of App Components matches \(route.pattern)"
    }

    /// The beginning of all routes of App Components.
    private static let routes = "/components/"
}
