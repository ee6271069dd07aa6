extension Namespace {
    /// Performs an operation of the control API, at its place in the order of all jobs.
    ///
    /// - Parameter input: the operation, or the error in the request that asked for it.
    package func answer<Op: Operation>(
        _ input: Result<Op, PlatformError>, _ head: RequestHead
    ) async -> Completed<Op.Output> where Op.Caller == Control {
        var head = head
        head.isLong = Op.isLong
        return await run(head, Op.access) { try input.get().perform($0, as: Control()) }
    }

    /// Refuses a request that matches no operation, at its place in the order of all jobs.
    package func refuse(_ error: PlatformError, _ head: RequestHead) async -> Completed<Never> {
        await run(head, .reads) { _ in throw error }
    }
}
