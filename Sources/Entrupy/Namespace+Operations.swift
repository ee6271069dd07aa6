import NIOConcurrencyHelpers
import Simulation

extension Namespace {
    /// Performs an operation, at its place in the order of all jobs. Checks the credential first, then the caller's
    /// limits, then the request.
    ///
    /// The routes are in another module, for which the compiler does not specialize this function. So frequent
    /// operations are named here, and avoid the cost of generic code.
    ///
    /// - Parameter input: the operation, or the error in the request that asked for it.
    @specialized(where Op == Login)
    @specialized(where Op == ShowClock)
    @specialized(where Op == ShowPartnerItem)
    @specialized(where Op == LookUpItem)
    @specialized(where Op == SearchPartnerItems)
    @specialized(where Op == ShowResult)
    @specialized(where Op == SearchSubmissions)
    @specialized(where Op == StartCapture)
    @specialized(where Op == UploadImage)
    @specialized(where Op == ByID<SubmitCapture>)
    @specialized(where Op == ShowSession)
    package func answer<Op: Operation>(
        _ input: Result<Op, PlatformError>, _ credential: Credential, _ head: RequestHead
    ) async -> Completed<Op.Output> {
        var username: (@Sendable (JobContext) throws -> String?)?
        if let find = Op.findUsername {
            // A request that cannot be decoded names no user; the job answers its error.
            username = { job in try (try? input.get()).flatMap { try find($0, job) } }
        }
        let output = NIOLockedValueBox<Op.Output?>(nil)
        // The work after an acknowledgement may write.
        let isRead = Op.self != Acknowledge.self
        let job = await runJob(head, Op.access, isRead: isRead, username: username) { job in
            let caller = try Op.Caller.identified(by: credential, job)
            let value = try input.get().perform(job, as: caller)
            output.withLockedValue { $0 = value }
        }
        return Completed(job, output.withLockedValue { $0 })
    }
}
