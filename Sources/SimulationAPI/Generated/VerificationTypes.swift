// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

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

/// A request for each step, in order.
public struct VerifiedRequest: Codable, Sendable {
    /// The id in `X-Request-Id`.
    public var id: String
    /// The request's own number in the journal.
    public var sequence: Int64

    public init(id: String, sequence: Int64) {
        self.id = id
        self.sequence = sequence
    }
}
