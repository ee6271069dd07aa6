import EntrupyAPI
import Storage

/// A list of a scenario that sets up its namespace, such as its items.
struct ScenarioSection: Sendable {
    /// The name of the list.
    let key: String
    /// Whether its parts are rules. Rules come before everything else, so that they apply to it.
    let hasRules: Bool
    /// Reads and checks an element. Throws ``PlatformError/invalid(_:_:)``.
    let read: @Sendable (_ value: JSONValue, _ surroundings: ScenarioSurroundings) throws -> Part

    /// An element of the list.
    struct Part: Sendable {
        /// Sets it up in a new namespace. Writes.
        let begin: @Sendable (JobContext) throws -> Void
        /// Notes on parts that can never match.
        var notes: @Sendable (ScenarioSurroundings) throws -> [ErrorDetail] = { _ in [] }
    }

    /// The fault rules, in the format of `POST /_sim/faults`.
    static let faults = Self(key: "faults", hasRules: true) { value, surroundings in
        let rule = try FaultRule(value, id: "", surroundings.platforms)
        return Part {
            _ = try AddFault(value).perform($0)
        } notes: {
            rule.notes($0.routes)
        }
    }
}
