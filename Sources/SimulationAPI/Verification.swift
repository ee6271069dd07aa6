/// A request that almost matched, or one that matched too many times.
public struct NearMiss: Codable, Sendable {
    public var request: JournaledRequest
    /// The differences from the expected request; empty if there were too many.
    public var differences: [String]

    public init(request: JournaledRequest, differences: [String]) {
        self.request = request
        self.differences = differences
    }
}
