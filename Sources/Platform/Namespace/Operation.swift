import Storage

/// Whether an operation writes. One that writes runs in a savepoint, checks first and writes last; one that only reads
/// has none.
public enum Access: Sendable {
    case reads, writes
}

/// Something a caller may ask of a namespace that needs no token: login, the control API.
public protocol OpenOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Does it, or throws a ``PlatformError``.
    func perform(_ visit: Visit) throws -> Answer
}

/// Something a customer's backend asks, with its organization's API token.
public protocol PartnerOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Does it for an organization, or throws a ``PlatformError``.
    func perform(_ visit: Visit, for organization: OrganizationRecord) throws -> Answer
}

/// Something the SDK asks, with a user's session token.
public protocol UserOperation: Sendable {
    associatedtype Answer: Sendable
    static var access: Access { get }
    /// Does it for a user, or throws a ``PlatformError``.
    func perform(_ visit: Visit, for user: SignedInUser) throws -> Answer
}

/// A user with a living session.
public struct SignedInUser: Sendable {
    let id: Int64
    let username: String
    let organization: OrganizationRecord
    let session: SessionRecord
}

/// What stood in the `Authorization` header.
public enum Credential: Sendable {
    case missing
    /// What is wrong with it.
    case malformed(String)
    case token(String)
}

/// What of a request concerns every job.
public struct RequestHead: Sendable {
    /// The caller's own request id, if it sent a good one.
    public var requestID: String?
    public var language: Language
    /// Whether this is a control request, which neither counts nor limits apply to.
    public var isControl: Bool

    public init(requestID: String? = nil, language: Language = .english, isControl: Bool = false) {
        self.requestID = requestID
        self.language = language
        self.isControl = isControl
    }
}

/// What came of a job.
public struct Completed<Answer: Sendable>: Sendable {
    public let requestID: String
    public let result: Result<Answer, PlatformError>
}

/// Does nothing but take its place in the order and draw a request id.
public struct Acknowledge: OpenOperation {
    public static let access = Access.reads

    public init() {}

    public func perform(_ visit: Visit) {}
}
