import Storage

/// Whether an operation writes. One that writes runs in a savepoint, checks first and writes last; one that only reads
/// has none.
package enum Access: Sendable {
    case reads, writes
}

/// Something a caller may ask of a namespace that needs no token: login, the control API.
package protocol OpenOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Does it, or throws a ``PlatformError``.
    func perform(_ job: JobContext) throws -> Answer
    /// The user that a request is from, for fault rules; nil if that is not known.
    ///
    /// - Parameter input: the operation, or what was wrong with the request that should have made one.
    static func username(
        of input: Result<Self, PlatformError>, _ credential: Credential, _ job: JobContext
    ) throws -> String?
}

extension OpenOperation {
    /// The user whose session the request carries.
    package static func username(
        of input: Result<Self, PlatformError>, _ credential: Credential, _ job: JobContext
    ) throws -> String? {
        try Callers.username(credential, job)
    }
}

/// Something a customer's backend asks, with its organization's API token.
package protocol PartnerOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Does it for an organization, or throws a ``PlatformError``.
    func perform(_ job: JobContext, for organization: OrganizationRecord) throws -> Answer
}

/// Something the SDK asks, with a user's session token.
package protocol UserOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Does it for a user, or throws a ``PlatformError``.
    func perform(_ job: JobContext, for user: SignedInUser) throws -> Answer
}

/// A user with a living session.
package struct SignedInUser: Sendable {
    let id: Int64
    let username: String
    let organization: OrganizationRecord
    let session: SessionRecord
    /// The limits that hold for the user.
    let limits: Settings.Limits
    /// What the log says of whoever did something, `{"username"}`, encoded once.
    let eventData: String
}

/// What stood in the `Authorization` header.
package enum Credential: Sendable {
    case missing
    /// What is wrong with it.
    case malformed(String)
    case token(String)
}

/// What of a request concerns every job.
package struct RequestHead: Sendable {
    /// The caller's own request id, if it sent a good one.
    package var requestID: String?
    package var language: Language
    /// Whether this is a control request, which neither counts nor limits apply to.
    package var isControl: Bool
    /// What fault rules look at; nil for control requests, which meet none.
    package var facts: RequestMetadata?

    package init(requestID: String? = nil, language: Language = .english, isControl: Bool = false) {
        self.requestID = requestID
        self.language = language
        self.isControl = isControl
    }
}

/// What came of a job.
package struct Completed<Answer: Sendable>: Sendable {
    package let requestID: String
    package let result: Result<Answer, PlatformError>

    package init(requestID: String, result: Result<Answer, PlatformError>) {
        self.requestID = requestID
        self.result = result
    }

    /// The same with another form of the answer. What cannot be brought into it is a bug.
    package func map<Other>(_ transform: (Answer) throws -> Other) -> Completed<Other> {
        Completed<Other>(
            requestID: requestID,
            result: result.flatMap { answer in
                Result { try transform(answer) }.mapError { $0 as? PlatformError ?? .bug("\($0)") }
            })
    }
}

/// Does nothing but take its place in the order and draw a request id.
package struct Acknowledge: OpenOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext) {}
}
