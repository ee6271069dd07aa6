import NIOConcurrencyHelpers
import Simulation

/// A rule about one object, whose id is all that a request says.
package protocol RuleByID {
    associatedtype Caller: Authenticated
    associatedtype Output: Sendable
    static var access: Access { get }
    /// Performs the rule, or throws a ``PlatformError``.
    static func perform(_ id: String, _ job: JobContext, as caller: Caller) throws -> Output
}

/// The operation of a rule about the object with an id.
package struct ByID<Rule: RuleByID>: Operation {
    package static var access: Access { Rule.access }
    private let id: String

    package init(_ id: String) {
        self.id = id
    }

    package func perform(_ job: JobContext, as caller: Rule.Caller) throws -> Rule.Output {
        try Rule.perform(id, job, as: caller)
    }
}

extension Namespace {
    /// Performs an operation, at its place in the order of all jobs. Checks the credential first, then the caller's
    /// limits, then the request.
    ///
    /// The routes are in another module, for which the compiler does not specialize this function. So frequent
    /// operations are named here, and avoid the cost of generic code.
    ///
    /// - Parameter input: the operation, or the error in the request that asked for it.
    @specialized(where Wanted == Login)
    @specialized(where Wanted == ShowClock)
    @specialized(where Wanted == ShowPartnerItem)
    @specialized(where Wanted == LookUpItem)
    @specialized(where Wanted == SearchPartnerItems)
    @specialized(where Wanted == ByID<ShowResult>)
    @specialized(where Wanted == SearchSubmissions)
    @specialized(where Wanted == StartCapture)
    @specialized(where Wanted == UploadImage)
    @specialized(where Wanted == ByID<SubmitCapture>)
    @specialized(where Wanted == ShowSession)
    package func answer<Wanted: Operation>(
        _ input: Result<Wanted, PlatformError>, _ credential: Credential, _ head: RequestHead
    ) async -> Completed<Wanted.Output> {
        var username: (@Sendable (JobContext) throws -> String?)?
        if let find = Wanted.findUsername {
            // A request that cannot be decoded names no user; the job answers its error.
            username = { job in try (try? input.get()).flatMap { try find($0, job) } }
        }
        let output = NIOLockedValueBox<Wanted.Output?>(nil)
        // The work after an acknowledgement may write.
        let isRead = Wanted.self != Acknowledge.self
        let job = await runJob(head, Wanted.access, isRead: isRead, username: username) { job in
            let caller = try Wanted.Caller.identified(by: credential, job)
            let value = try input.get().perform(job, as: caller)
            output.withLockedValue { $0 = value }
        }
        return Completed(job, output.withLockedValue { $0 })
    }
}
