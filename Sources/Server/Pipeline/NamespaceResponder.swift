import Simulation
import SimulationAPI

/// Finds the namespace of a request [D namespaces].
struct NamespaceResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    let namespaces: Namespaces
    let readiness: Readiness
    let access: ControlAccess

    func respond(to request: IncomingRequest) async throws -> Answer {
        guard readiness.isReady else {
            // Two routes answer before the namespaces are open.
            guard request.target.path.isOne(of: ["/_sim/health", "/_sim/ready"]) else {
                return Answer(.notReady, to: request, namespaces.environment)
            }
            return try await inner.respond(to: request)
        }
        let namespace: Namespace
        do {
            // The server's own routes answer for any name, so that a client that names a namespace in all its requests
            // can create it [D namespace-choice].
            namespace = try await namespaces.use(
                request.target.namespace, orDefault: request.target.isServersOwn)
        } catch {
            return Answer(await refusal(error, request), to: request, namespaces.environment)
        }
        var request = request
        request.namespace = namespace
        defer { namespace.endUse() }
        return try await inner.respond(to: request)
    }

    /// The error for a missing namespace. Only clients that may use the control API learn the nearest
    /// name [D unknown-routes].
    private func refusal(_ error: any Error, _ request: IncomingRequest) async -> PlatformError {
        guard let error = error as? PlatformError else { return .unavailable("\(error)") }
        guard error.kind == .unknownNamespace else { return error }
        let name = request.target.namespace
        var problem = "names the namespace \"\(name.excerpt)\", which does not exist"
        if access.refusal(request.http.head, "/_sim/namespaces") == nil,
            // Only a replay that ends here has no list; it compares no answer then.
            let names = try? await namespaces.allInOrder().map(\.name),
            let nearest = NearestName.nearest(to: name, among: names)
        {
            problem += "; the nearest is \"\(nearest)\""
        }
        return .unknownNamespace(error.message, [ErrorDetail("path", problem)])
    }
}
