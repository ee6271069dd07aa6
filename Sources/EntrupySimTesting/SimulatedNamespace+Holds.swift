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
    /// - Parameters:
    ///   - status: the status to answer with; `nil` for the platform's own answer. With one, a request that was held before is not
    ///     handled.
    ///   - body: the body of that answer; `nil` for the platform's own body.
    ///   - dropConnection: whether to reset the connection instead. A request that was held before is then not handled.
    /// - Throws: ``SimulatorError`` if it is not held any more.
    public func release(
        _ held: HeldInfo, status: Int? = nil, body: JSONValue? = nil, dropConnection: Bool = false
    ) async throws {
        try await control.send(
            "POST", "/_sim/held/\(held.id.segment)/release",
            members: ["status": status, "body": body, "drop_connection": dropConnection ? true : nil])
    }

    /// Lets every held request go on.
    public func release() async throws {
        try await control.send("DELETE", "/_sim/held")
    }
}
