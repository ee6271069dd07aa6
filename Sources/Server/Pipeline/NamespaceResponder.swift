import HTTPTypes
import Simulation
import SimulationAPI

/// Finds the namespace of a request [D namespaces].
struct NamespaceResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    let namespaces: Namespaces
    let readiness: Readiness
    let access: ControlAccess

    /// The routes that answer before the namespaces are open.
    private var early: [String] { ["/_sim/health", "/_sim/ready"] }

    func respond(to request: IncomingRequest) async throws -> Answer {
        guard readiness.isReady else {
            guard request.target.path.isOne(of: early) else {
                return Answer(.notReady, to: request, namespaces.environment)
            }
            return try await inner.respond(to: request)
        }
        let namespace: Namespace
        do {
            namespace = try await self.namespace(request.target)
        } catch {
            return Answer(await refusal(error, request), to: request, namespaces.environment)
        }
        var request = request
        request.namespace = namespace
        defer { namespace.endUse() }
        return try await inner.respond(to: request)
    }

    /// Begins a use of the namespace.
    ///
    /// The server's own routes answer for any name, so that a client that names a namespace in all its requests can
    /// create it [D namespace-choice].
    private func namespace(_ target: Target) async throws -> Namespace {
        try await namespaces.use(target.namespace, orDefault: target.isServersOwn)
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

extension RequestResponder {
    /// Finds each request's namespace.
    func resolvingNamespaces(
        in namespaces: Namespaces, _ readiness: Readiness, _ access: ControlAccess
    ) -> NamespaceResponder<Self> {
        NamespaceResponder(inner: self, namespaces: namespaces, readiness: readiness, access: access)
    }
}
