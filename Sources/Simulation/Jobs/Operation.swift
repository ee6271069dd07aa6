/// Whether an operation writes. A writing operation runs in a savepoint: it checks first and writes last. A reading
/// one has no savepoint.
package enum Access: Sendable {
    case reads, writes
}

/// A rule that ``Reads`` or ``Writes``.
package protocol Accessing { static var access: Access { get } }
package protocol Reads: Accessing {}
package protocol Writes: Accessing {}
extension Reads { package static var access: Access { .reads } }
extension Writes { package static var access: Access { .writes } }

/// One rule of the platform. A namespace runs it as one job.
package protocol Operation: Accessing, Sendable {
    associatedtype Caller: Authenticated
    associatedtype Output: Sendable
    /// Whether it may take seconds with a full journal. It then runs on threads for which no other namespace waits.
    static var isLong: Bool { get }
    /// Finds the user of a request without a session, for fault rules. `nil` if the session names the user.
    static var findUsername: (@Sendable (Self, JobContext) throws -> String?)? { get }
    /// Performs the operation, or throws a ``PlatformError``.
    func perform(_ job: JobContext, as caller: Caller) throws -> Output
}

extension Operation {
    package static var isLong: Bool { false }
    package static var findUsername: (@Sendable (Self, JobContext) throws -> String?)? { nil }
}

/// A rule about one object, whose id is all that a request says.
package protocol RuleByID: Accessing {
    associatedtype Caller: Authenticated
    associatedtype Output: Sendable
    /// How a request names the object: by its id, or by what the id is read into.
    associatedtype Subject: Sendable = String
    /// Performs the rule, or throws a ``PlatformError``.
    static func perform(_ subject: Subject, _ job: JobContext, as caller: Caller) throws -> Output
}

/// The operation of a rule about the object with an id.
package struct ByID<Rule: RuleByID>: Operation {
    package static var access: Access { Rule.access }
    private let subject: Rule.Subject

    package init(_ subject: Rule.Subject) {
        self.subject = subject
    }

    package func perform(_ job: JobContext, as caller: Rule.Caller) throws -> Rule.Output {
        try Rule.perform(subject, job, as: caller)
    }
}

extension Operation where Caller == Control {
    /// Performs the operation as a part of another one.
    package func perform(_ job: JobContext) throws -> Output { try perform(job, as: Control()) }
}

/// A caller of operations.
package protocol Authenticated: Sendable {
    /// Identifies the caller by its credential and applies its rate limits. Runs in the job, before the request's own
    /// errors are reported.
    ///
    /// - Throws: ``PlatformError`` if the credential is not valid, or a limit is exceeded.
    static func identified(by credential: Credential, _ job: JobContext) throws -> Self
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
    /// The address that the caller asked; `nil` if the request names none.
    package var address: AskedAddress?
    /// Whether this is a control request. Counters and limits do not apply to these.
    package var isControl: Bool
    /// The call of the control API that the job belongs to; `nil` for requests of the platforms, and for jobs of the simulator.
    package var call: NumberedCall?
    /// The trace that the request belongs to; `nil` if it names none.
    package var trace: TraceContext?
    /// The metadata that fault rules match; `nil` for control requests, which have no faults.
    package var metadata: RequestMetadata?
    /// The caller; `nil` if the jobs run whether or not somebody waits for the answer.
    package var caller: (any CallerPresence)?
    /// Whether a fault can hold the request: it came from a client, who waits for it [D hold].
    package var isHoldable = false
    /// The size of the request's body; `nil` if it is not known.
    package var size: (any RequestSize)?
    /// Whether the request's method only reads (RFC 9110, section 9.2.1). The method of an operation that reads may be another.
    package var isSafe: Bool
    /// The group of equal reads that this request leads; `nil` if none may join it.
    package var group: ReadGroup?
    /// Whether the request is one of the journal that is sent again.
    package var isResent = false
    /// Whether its job may take seconds: ``Operation/isLong``.
    package var isLong = false

    package init(
        requestID: String? = nil, language: Language = .english, isControl: Bool = false, isSafe: Bool = false
    ) {
        self.requestID = requestID
        self.language = language
        self.isControl = isControl
        self.isSafe = isSafe
    }

    /// Whether nobody waits for the answer any more. Closes the group of the request: from now on nobody may join it.
    var isAbandoned: Bool {
        if let group { return !group.begin() }
        return caller?.isGone ?? false
    }

    /// The head of a job that is not the first of a request: later jobs of a long operation, due work, delivery
    /// attempts. It takes no request id, because the number of such jobs may depend on real time [D request-ids].
    package static let background = RequestHead(requestID: "", isControl: true)

    /// The head of a later job of the same call.
    package var later: RequestHead {
        var head = Self.background
        head.call = call
        head.trace = trace
        head.address = address
        return head
    }
}

/// The result of a job.
///
/// The initializers are inlinable, so that the platforms' modules specialize them.
@usableFromInline
package struct Completed<Output: Sendable>: Sendable {
    @usableFromInline
    package let requestID: String
    @usableFromInline
    package let result: Result<Output, PlatformError>
    /// The outcome for the journal and for faults; `nil` if no job ran, and for control requests.
    @usableFromInline
    package let outcome: RequestOutcome?

    /// - Parameters:
    ///   - job: the result of the job, whose body kept its output outside.
    ///   - output: the output of the job's body. It does not count if the job failed: the body may have ended before the commit
    ///     failed.
    @inlinable
    package init(_ job: Completed<Void>, _ output: Output?) {
        let result: Result<Output, PlatformError> =
            if let output, case .success = job.result { .success(output) } else { .failure(job.failure) }
        self.init(requestID: job.requestID, result: result, outcome: job.outcome)
    }

    @inlinable
    package init(requestID: String, result: Result<Output, PlatformError>, outcome: RequestOutcome? = nil) {
        self.requestID = requestID
        self.result = result
        self.outcome = outcome
    }

    /// Transforms the output. An error thrown by `transform` that is not a ``PlatformError`` counts as an internal
    /// error.
    package func map<Other>(_ transform: (Output) throws -> Other) -> Completed<Other> {
        Completed<Other>(
            requestID: requestID,
            result: result.flatMap { output in
                Result { try transform(output) }.mapError { $0 as? PlatformError ?? .bug("\($0)") }
            },
            outcome: outcome)
    }
}

extension Completed where Output == Void {
    /// The error of a job that has no output.
    @usableFromInline
    var failure: PlatformError {
        if case .failure(let error) = result { error } else { .bug("the job has no output") }
    }
}

/// Only takes its place in the order of jobs and gets a request id.
package struct Acknowledge: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as caller: Control) {}
}

/// A caller that needs no credential.
package struct Anyone: Authenticated {
    package static func identified(by credential: Credential, _ job: JobContext) -> Self { Self() }
}

/// A test that uses the control API, or the simulator itself. The server checks the control token before any job.
package struct Control: Authenticated {
    package static func identified(by credential: Credential, _ job: JobContext) -> Self { Self() }
}
