import Foundation

/// A problem with a simulator and the way out, in one sentence.
public struct SimulatorError: LocalizedError, CustomStringConvertible, Sendable {
    public let description: String
    /// The status of the server's answer; `nil` if there was none.
    public let status: Int?

    public var errorDescription: String? { description }

    init(_ description: String, status: Int? = nil) {
        self.description = description
        self.status = status
    }
}
