import Storage

/// Whether an operation writes. A writing operation runs in a savepoint: it checks first and writes last. A reading
/// one has no savepoint.
package enum Access: Sendable {
    case reads, writes
}

/// An operation that needs no API or session token: login and the control API.
package protocol OpenOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Performs the operation, or throws a ``PlatformError``.
    func perform(_ job: JobContext) throws -> Answer
    /// The user of a request, for fault rules; `nil` if it is not known.
    ///
    /// - Parameter input: the operation, or the error in the request that asked for it.
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

/// An operation of a customer's backend, which sends its organization's API token.
package protocol PartnerOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Performs the operation for an organization, or throws a ``PlatformError``.
    func perform(_ job: JobContext, for organization: OrganizationRecord) throws -> Answer
}

/// An operation of the SDK, which sends a user's session token.
package protocol UserOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Performs the operation for a user, or throws a ``PlatformError``.
    func perform(_ job: JobContext, for user: SignedInUser) throws -> Answer
}

/// A user with a live session.
package struct SignedInUser: Sendable {
    let id: Int64
    let username: String
    let organization: OrganizationRecord
    let session: SessionRecord
    /// The limits that apply to the user.
    let limits: Settings.Limits
    /// The event data that names the user, `{"username"}`, encoded once.
    let eventData: String
}

/// The credential of the `Authorization` header.
package enum Credential: Sendable {
    case missing
    /// A malformed header, with the problem.
    case malformed(String)
    case token(String)
}

/// The part of a request that every job needs.
package struct RequestHead: Sendable {
    /// The caller's own request id, if it sent a valid one.
    package var requestID: String?
    package var language: Language
    /// Whether this is a control request. Counters and limits do not apply to these.
    package var isControl: Bool
    /// The metadata that fault rules match; `nil` for control requests, which have no faults.
    package var metadata: RequestMetadata?

    package init(requestID: String? = nil, language: Language = .english, isControl: Bool = false) {
        self.requestID = requestID
        self.language = language
        self.isControl = isControl
    }
}

/// The result of a job.
package struct Completed<Answer: Sendable>: Sendable {
    package let requestID: String
    package let result: Result<Answer, PlatformError>
    /// What else the job decided; `nil` if no job ran, and for control requests.
    package let outcome: RequestOutcome?

    package init(requestID: String, result: Result<Answer, PlatformError>, outcome: RequestOutcome? = nil) {
        self.requestID = requestID
        self.result = result
        self.outcome = outcome
    }

    /// Transforms the answer. An error thrown by `transform` that is not a ``PlatformError`` counts as an internal
    /// error.
    package func map<Other>(_ transform: (Answer) throws -> Other) -> Completed<Other> {
        Completed<Other>(
            requestID: requestID,
            result: result.flatMap { answer in
                Result { try transform(answer) }.mapError { $0 as? PlatformError ?? .bug("\($0)") }
            },
            outcome: outcome)
    }
}

/// Only takes its place in the order of jobs and gets a request id.
package struct Acknowledge: OpenOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext) {}
}
