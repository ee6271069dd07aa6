import Foundation
import SimulationAPI

extension Simulator {
    /// Which documented answers, errors, states and limits were met, over all namespaces of the server since counting began.
    ///
    /// - Parameter prefix: only the living namespaces whose names begin with it; `nil` for the whole server.
    /// - Throws: ``SimulatorError`` if the server cannot be asked, or the prefix is not one.
    public func coverage(prefix: String? = nil) async throws -> Coverage {
        let query = prefix.map { "?prefix=\(SimulatedNamespace.segment($0))" } ?? ""
        return try await connection.send("GET", "/_sim/coverage\(query)", as: Coverage.self)
    }
}
