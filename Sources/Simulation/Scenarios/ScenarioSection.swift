import SimulationAPI

/// A list of a scenario that sets up its namespace, such as its fault rules.
package struct ScenarioSection: Sendable {
    /// The name of the list.
    package let key: String
    /// Whether its parts are rules. Rules come before everything else, so that they apply to it.
    package let hasRules: Bool
    /// Reads and checks an element. Throws ``PlatformError/invalid(_:_:)``.
    package let read: @Sendable (_ value: JSONValue, _ surroundings: ScenarioSurroundings) throws -> Part

    package init(
        key: String, hasRules: Bool,
        read: @escaping @Sendable (_ value: JSONValue, _ surroundings: ScenarioSurroundings) throws -> Part
    ) {
        self.key = key
        self.hasRules = hasRules
        self.read = read
    }

    /// An element of the list.
    package struct Part: Sendable {
        /// Sets it up in a new namespace. Writes.
        package let begin: @Sendable (JobContext) throws -> Void
        /// Notes on parts that can never match.
        package let notes: @Sendable (ScenarioSurroundings) throws -> [ErrorDetail]

        package init(
            begin: @escaping @Sendable (JobContext) throws -> Void,
            notes: @escaping @Sendable (ScenarioSurroundings) throws -> [ErrorDetail] = { _ in [] }
        ) {
            self.begin = begin
            self.notes = notes
        }
    }

    /// The fault rules, in the format of `POST /_sim/faults`.
    package static let faults = Self(key: "faults", hasRules: true) { value, surroundings in
        let rule = try FaultRule(value, id: "", surroundings.platforms)
        return Part {
            _ = try AddFault(value).perform($0)
        } notes: {
            rule.notes($0.routes)
        }
    }
}
