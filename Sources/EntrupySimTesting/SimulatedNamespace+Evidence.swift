import Foundation
import SimulationAPI

// Why something happened.
extension SimulatedNamespace {
    /// The chain of causes of something, and what followed from it.
    ///
    /// - Parameter id: that of a request, an item, a capture, a session or a delivery, or `sequence:N` (a request), `event:N`, `due:N`,
    ///   `control:N`.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or nothing has the id.
    public func explain(_ id: String) async throws -> Explanation {
        try await control.send("GET", "/_sim/explain/\(Self.segment(id))", as: Explanation.self)
    }
}
