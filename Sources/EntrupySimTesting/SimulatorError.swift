/// A problem with a simulator and the way out, in one sentence.
public struct SimulatorError: Error, CustomStringConvertible, Sendable {
    public let description: String
    /// The status of the server's answer; `nil` if there was none.
    public let status: Int?

    init(_ description: String, status: Int? = nil) {
        self.description = description
        self.status = status
    }
}

#if canImport(Foundation)
    import Foundation

    extension SimulatorError: LocalizedError {
        public var errorDescription: String? { description }
    }
#endif
