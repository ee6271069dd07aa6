import Foundation
import Simulation
import SimulationAPI

/// The expectations of a scenario about requests, checked against the journal of a namespace that was not started from it.
package struct RequestChecks: Sendable {
    package let checks: [ScenarioCheck]
    /// The number of expectations about other things, which were not checked.
    package let others: Int
}

// Questions that commands ask about a bundle that they opened in their own process.
extension SimServer {
    /// Checks the expectations of a scenario about requests against the journal of the namespace `default`.
    ///
    /// - Throws: `PlatformError` if the text is not a valid scenario.
    package func checkRequests(ofScenario text: String) async throws -> RequestChecks {
        guard let namespace = namespaces.find(Namespaces.defaultName) else {
            return RequestChecks(checks: [], others: 0)
        }
        let (checks, others) = try await namespaces.checkRequests(ofScenario: text, in: namespace)
        return RequestChecks(checks: checks, others: others)
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
