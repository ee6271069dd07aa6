import EntrupyAPI
import Foundation
import Hummingbird
import Platform

/// The control routes of the server itself (`/_sim`): health, metrics and namespaces.
struct ServerController {
    let bodies: BodyReader
    let namespaces: Namespaces
    let readiness: Readiness
    let facts: ServerDescription
    let metrics: ServerMetrics

    /// The path that the router answers directly, without a namespace.
    static let pingPath = "/_sim/ping"

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("_sim/ping") { _, _ in "pong" }
            .get("_sim/health", use: health)
            .get("_sim/ready", use: ready)
            .get("_sim/info", use: info)
            .get("_sim/metrics", use: showMetrics)
            .get("_sim/namespaces", use: list)
            .post("_sim/namespaces", use: makeFresh)
            .delete("_sim/namespaces", use: deleteAll)
            .put("_sim/namespaces/{name}", use: make)
            .delete("_sim/namespaces/{name}", use: delete)
    }

    @Sendable private func health(_ request: Request, _ context: SimContext) async -> Response {
        await withoutQuery(request) { JSONAnswer.response(Health(status: "ok"), status: .ok, requestID: $0) }
    }

    @Sendable private func ready(_ request: Request, _ context: SimContext) async -> Response {
        await withoutQuery(request) { requestID in
            guard readiness.isReady else { return ErrorAnswer.response(.notReady, requestID: requestID) }
            if let problem = await namespaces.storageProblem() {
                return ErrorAnswer.response(.unavailable(problem), requestID: requestID)
            }
            return JSONAnswer.response(Health(status: "ready"), status: .ok, requestID: requestID)
        }
    }

    @Sendable private func showMetrics(_ request: Request, _ context: SimContext) async -> Response {
        await withoutQuery(request) { requestID in
            Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .requestID: requestID],
                body: .init(byteBuffer: ByteBuffer(string: metrics.text(of: namespaces))))
        }
    }

    /// Answers with `body` unless the query has parameters. For routes that need no namespace.
    private func withoutQuery(_ request: Request, _ body: (String) async -> Response) async -> Response {
        let requestID = requestID(request)
        let input = RequestInput(body: [:], version: .v2, path: request.head.path, isControl: true)
        do {
            try input.checkNoQuery()
            return await body(requestID)
        } catch {
            return ErrorAnswer.response(error as? PlatformError ?? .bug("\(error)"), requestID: requestID)
        }
    }

    /// The request id of routes that need no namespace.
    private func requestID(_ request: Request) -> String {
        HeaderReader(request.headers).requestID ?? namespaces.environment.nextServerRequestID()
    }

    @Sendable private func info(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        let settings = await reader.answer { _ in ShowSettings() }
        let shown = await reader.namespace.answer(.success(ShowNamespace()), reader.head)
        return settings.response { document in
            shown.response { namespace in
                JSONAnswer.response(
                    ServerInfo(
                        version: facts.version, url: namespaces.environment.publicURL, uptime: facts.uptime,
                        random_seed: namespaces.environment.randomSeed, data_dir: facts.dataDirectory,
                        namespaces: namespaces.all().count, namespace: namespace, settings: document),
                    status: .ok, requestID: settings.requestID)
            }
        }
    }

    @Sendable private func list(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        let acknowledged = await reader.answer { _ in Acknowledge() }
        guard case .success = acknowledged.result else { return acknowledged.emptyResponse() }
        var infos: [NamespaceInfo] = []
        for namespace in namespaces.all() {
            // A namespace that is deleted in the meantime is not listed.
            if let info = namespace.idleInfo {
                infos.append(info)
            } else if let info = try? await namespace.answer(.success(ShowNamespace()), reader.head).result.get() {
                infos.append(info)
            }
        }
        return JSONAnswer.response(NamespaceList(namespaces: infos), status: .ok, requestID: acknowledged.requestID)
    }

    @Sendable private func makeFresh(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        let input = await reader.input(.optionalJSON) { try NamespaceOptions.fresh($0.body) }
        do {
            let wanted = try input.get()
            let made = try await namespaces.makeFresh(wanted.prefix, wanted.options)
            return await made.answer(.success(ShowNamespace()), reader.head).response(.created)
        } catch {
            return await reader.refuse(error)
        }
    }

    @Sendable private func deleteAll(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        let input = await reader.input(.ignored) { input in
            var query = input.query
            let prefix = query.name("prefix")
            try query.finish()
            guard let prefix else {
                throw PlatformError.invalid([ErrorDetail("prefix", "is missing; give the beginning of the names")])
            }
            return prefix
        }
        let acknowledged = await reader.namespace.answer(input.map { _ in Acknowledge() }, reader.head)
        do {
            try await namespaces.deleteAll(prefix: input.get())
            return acknowledged.emptyResponse()
        } catch {
            return await reader.refuse(error)
        }
    }

    @Sendable private func make(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        let input = await reader.input(.optionalJSON) { try NamespaceOptions($0.body) }
        do {
            let made = try await namespaces.make(reader.path("name"), input.get())
            return await made.answer(.success(ShowNamespace()), reader.head).response(.created)
        } catch {
            return await reader.refuse(error)
        }
    }

    @Sendable private func delete(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies, isControl: true)
        // The request's own namespace may be the one that is deleted, so the answer's id is generated first.
        let acknowledged = await reader.answer { _ in Acknowledge() }
        guard case .success = acknowledged.result else { return acknowledged.emptyResponse() }
        do {
            try await namespaces.delete(reader.path("name"))
            return acknowledged.emptyResponse()
        } catch {
            return await reader.refuse(error)
        }
    }
}

extension RequestReader {
    /// Answers an error as one job of the namespace.
    func refuse(_ error: any Error) async -> Response {
        let refusal = error as? PlatformError ?? .unavailable("\(error)")
        return await namespace.refuse(refusal, head).refusal()
    }
}
