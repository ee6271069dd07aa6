import SimulationAPI

/// A list of a scenario that sets up its namespace, such as its fault rules.
package struct ScenarioSection: Sendable {
    /// The name of the list.
    package let key: String
    /// Whether its parts are rules. Rules come before everything else, so that they apply to it.
    package let hasRules: Bool
    /// Reads an element, whose action sets up a new namespace.
    package let read: ScenarioAction.Reader

    package init(key: String, hasRules: Bool, read: @escaping ScenarioAction.Reader) {
        self.key = key
        self.hasRules = hasRules
        self.read = read
    }

    /// The fault rules, in the format of `POST /_sim/faults`.
    package static let faults = Self(key: "faults", hasRules: true) { value, surroundings in
        let rule = try FaultRule(value, id: "", surroundings.platforms)
        return ScenarioAction {
            _ = try AddFault(value).perform($0)
        } notes: {
            rule.notes($0.routes)
        }
    }
}
