extension Namespace {
    /// Performs an operation of the control API, at its place in the order of all jobs.
    ///
    /// - Parameter input: the operation, or the error in the request that asked for it.
    package func answer<Wanted: Operation>(
        _ input: Result<Wanted, PlatformError>, _ head: RequestHead
    ) async -> Completed<Wanted.Output> where Wanted.Caller == Control {
        var head = head
        head.isLong = Wanted.isLong
        return await run(head, Wanted.access) { try input.get().perform($0, as: Control()) }
    }

    /// Refuses a request that matches no operation, at its place in the order of all jobs.
    package func refuse(_ error: PlatformError, _ head: RequestHead) async -> Completed<Never> {
        await run(head, .reads) { _ in throw error }
    }
}
