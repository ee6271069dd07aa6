import Hummingbird
import Logging
import Simulation

/// Counts and times requests by route, and logs one line per request: paths and ids, no body. A token in a path is masked.
struct LoggingResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    let logger: Logger
    let namespaces: Namespaces
    let metrics: ServerMetrics

    func respond(to request: IncomingRequest) async throws -> Answer {
        let started = ContinuousClock.now
        let answer = try await inner.respond(to: request)
        let duration = ContinuousClock.now - started
        metrics.answered(
            method: request.method.rawValue, route: request.context.coreContext.endpointPath.value ?? "none",
            status: answer.status, after: duration)
        guard logger.logLevel <= .info else { return answer }
        let target = request.target
        let namespace = namespaces.find(target.namespace) ?? namespaces.find(Namespaces.defaultName)
        let secrets = Secrets(
            namespace?.secrets ?? KnownSecrets([], tokensOf: namespaces.environment.platforms))
        var metadata: Logger.Metadata = [
            "method": "\(request.method.rawValue)",
            "namespace": "\(secrets.masked(text: target.namespace))",
            "path": "\(secrets.masked(text: target.path))",
            "status": "\(answer.status.map { "\($0)" } ?? "none")",
            "request_id": "\(secrets.masked(text: answer.response.headers[.requestID] ?? ""))",
            "milliseconds": "\((duration / .microseconds(1)).rounded(.down) / 1000)",
        ]
        // The status is the one before the loss.
        if answer.isDropped { metadata["delivered"] = "false" }
        logger.info("request", metadata: metadata)
        return answer
    }
}
