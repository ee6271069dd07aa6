import ClientTransport
import Foundation
import SimulationAPI

// Requests that the fault effect `hold` holds.
extension SimulatedNamespace {
    /// The requests that faults hold, oldest first. ``wait(for:within:)`` with ``SimulatedEvent/requestHeld`` waits for one.
    public func held() async throws -> [HeldInfo] {
        try await control.send("GET", "/_sim/held", as: HeldList.self).held
    }

    /// Lets a held request go on: it is handled now, or its kept answer is sent. Its answer comes a moment later.
    ///
    /// - Throws: ``SimulatorError`` if it is not held any more.
    public func release(_ held: HeldInfo) async throws {
        try await release(held, [:])
    }

    /// Answers a held request with a status, and the platform's own body or another one. A request that was held before is not
    /// handled.
    ///
    /// - Throws: ``SimulatorError`` if it is not held any more.
    public func release(_ held: HeldInfo, answering status: Int, body: JSONValue? = nil) async throws {
        try await release(held, FaultEffect.status(status, body: body).value)
    }

    /// Resets the connection of a held request. A request that was held before is not handled.
    ///
    /// - Throws: ``SimulatorError`` if it is not held any more.
    public func dropHeld(_ held: HeldInfo) async throws {
        try await release(held, ["drop_connection": true])
    }

    /// Lets every held request go on.
    public func releaseAll() async throws {
        try await control.send("DELETE", "/_sim/held")
    }

    private func release(_ held: HeldInfo, _ body: JSONValue) async throws {
        try await control.send(
            "POST", "/_sim/held/\(held.id.segment)/release", try WireJSON.encode(body))
    }
}
