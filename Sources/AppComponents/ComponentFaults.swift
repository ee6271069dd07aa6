import Simulation

extension PlatformEffect {
    /// Answers with one of the documented errors.
    static let componentError = Self(name: "component_error", words: WorkflowFailure.names) {
        request, name, ruleID, job in
        guard let failure = WorkflowFailure(rawValue: name), request.path.utf8.starts(with: routes.utf8) else {
            return nil
        }
        return try failure.unexpected(because: "the fault rule \(ruleID) decides \(failure.rawValue)", job)
    } note: { route, known in
        known.contains { $0.path.pattern.utf8.starts(with: routes.utf8) && route.overlaps($0.path) }
            ? nil : "no route of App Components matches \(route.pattern)"
    }

    /// The beginning of all routes of App Components.
    private static let routes = "/components/"
}
