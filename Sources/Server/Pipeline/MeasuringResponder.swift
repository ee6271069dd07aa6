/// Counts and times requests by route.
struct MeasuringResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    let metrics: ServerMetrics

    func respond(to request: IncomingRequest) async throws -> Answer {
        let started = ContinuousClock.now
        let answer = try await inner.respond(to: request)
        metrics.answered(
            method: request.method.rawValue, route: request.context.coreContext.endpointPath.value ?? "none",
            status: answer.status, after: ContinuousClock.now - started)
        return answer
    }
}
