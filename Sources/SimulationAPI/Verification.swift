/// The answer of `POST /_sim/requests/verify` if the journal holds the expected number of requests [D control-api].
public struct Verification: Codable, Sendable {
    /// Whether the expectation holds. Always true: a failed verification is a 409.
    public var verified: Bool
    /// The number of matching requests.
    public var count: Int

    public init(verified: Bool, count: Int) {
        self.verified = verified
        self.count = count
    }
}

/// The answer of `POST /_sim/requests/verify` if the journal holds the expected sequence of requests [D sequences].
public struct SequenceVerification: Codable, Sendable {
    /// Whether the expectation holds. Always true: a failed verification is a 409.
    public var verified: Bool
    /// A request for each step, in order.
    public var requests: [VerifiedRequest]

    public init(verified: Bool, requests: [VerifiedRequest]) {
        self.verified = verified
        self.requests = requests
    }
}

/// A request that was found, by its names.
public struct VerifiedRequest: Codable, Sendable {
    /// The request's id.
    public var id: String
    /// The request's number in the journal.
    public var sequence: Int64

    public init(id: String, sequence: Int64) {
        self.id = id
        self.sequence = sequence
    }
}

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

/// A request that almost matched an expectation, by its names.
public struct NearRequest: Codable, Sendable {
    /// The request's id.
    public var id: String
    /// The request's number in the journal; null if it is not known.
    @Nullable public var sequence: Int64?
    /// The differences from the expected request; empty if there were too many.
    public var differences: [String]

    public init(id: String, sequence: Int64?, differences: [String]) {
        self.id = id
        self._sequence = Nullable(wrappedValue: sequence)
        self.differences = differences
    }
}
