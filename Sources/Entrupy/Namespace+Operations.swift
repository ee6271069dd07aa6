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
    @specialized(where Wanted == Login)
    @specialized(where Wanted == ShowClock)
    @specialized(where Wanted == ShowPartnerItem)
    @specialized(where Wanted == LookUpItem)
    @specialized(where Wanted == SearchPartnerItems)
    @specialized(where Wanted == ShowResult)
    @specialized(where Wanted == SearchSubmissions)
    @specialized(where Wanted == StartCapture)
    @specialized(where Wanted == UploadImage)
    @specialized(where Wanted == SubmitCapture)
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
