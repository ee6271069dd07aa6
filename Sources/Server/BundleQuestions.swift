import Simulation
import SimulationAPI

// Questions that commands ask about a bundle that they opened in their own process.
extension SimServer {
    /// Checks the expectations of a scenario about requests against the journal of the namespace `default`.
    ///
    /// - Returns: the checks, and the number of expectations about other things, which were not checked.
    /// - Throws: `PlatformError` if the text is not a valid scenario.
    package func checkRequests(ofScenario text: String) async throws -> (checks: [ScenarioCheck], others: Int) {
        guard let namespace = namespaces.find(Namespaces.defaultName) else { return ([], 0) }
        return try await namespaces.checkRequests(ofScenario: text, in: namespace)
    }

    /// The text of the scenario that the namespace `default` was started from; `nil` if it was none. The control API shows it only where
    /// the scenario is stored, and a bundle has no stored scenarios.
    package func startedScenario() async throws -> String? {
        guard let namespace = namespaces.find(Namespaces.defaultName) else { return nil }
        return try await namespace.answer(.success(ShowScenarioRun(countsFaults: false)), .background).result.get()?
            .text
    }

    /// A value with the secrets of the namespace `default` masked, also those that only the names of their members show.
    package func masked(_ value: JSONValue) async throws -> JSONValue {
        guard let namespace = namespaces.find(Namespaces.defaultName) else { return value }
        let known = try await namespace.run(.background, .reads) { try $0.state.readSecrets($0.transaction) }.result
            .get()
        let secrets = Secrets(known)
        return secrets.masked(members: JSONObject([("value", value)]))["value"] ?? .null
    }
}
