import Hummingbird
import Simulation
import SimulationAPI

/// The control routes of the server itself (`/_sim`): health, metrics and namespaces.
struct ServerRoutes: Sendable {
    let namespaces: Namespaces
    let readiness: Readiness
    let configuration: ServerConfiguration
    let metrics: ServerMetrics
    /// The certificate of the HTTPS port's authority, in PEM; `nil` if there is none.
    let authority: String?
    let refused: RefusedRequests

    /// The path that the router answers directly, without a namespace.
    static let pingPath = "/_sim/ping"
    static let authorityPath = "/_sim/authority.pem"

    func add(to routes: Routes, _ router: Router<SimContext>) {
        router.get("_sim/ping") { _, _ in "pong" }
        router.get("_sim/health", use: health)
        router.get("_sim/ready", use: ready)
        router.get("_sim/metrics", use: showMetrics)
        router.get("_sim/authority.pem", use: showAuthority)
        routes.on(.get, "info", info)
        routes.on(.get, "namespaces", list)
        routes.on(.post, "namespaces", makeFresh)
        routes.on(.delete, "namespaces", deleteAll)
        routes.on(.put, "namespaces/{name}", make)
        routes.on(.delete, "namespaces/{name}", delete)
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

    @Sendable private func showAuthority(_ request: Request, _ context: SimContext) async -> Response {
        await withoutQuery(request) { requestID in
            guard let pem = authority else {
                return ErrorAnswer.response(
                    .notFound("this server has no local authority: --tls-port without --tls-cert makes one"),
                    requestID: requestID)
            }
            // Phones offer to install a file of this type.
            return Response(
                status: .ok,
                headers: [
                    .contentType: "application/x-x509-ca-cert", .requestID: requestID,
                    .contentDisposition: "attachment; filename=\"entrupy-sim.pem\"",
                ], body: .init(byteBuffer: ByteBuffer(string: pem)))
        }
    }

    /// Answers with `body` unless the query has parameters. For routes that need no namespace.
    private func withoutQuery(_ request: Request, _ body: (String) async -> Response) async -> Response {
        let requestID = HeaderReader(request.headers).requestID ?? namespaces.environment.nextServerRequestID()
        do {
            try RequestReader.checkNoQuery(request)
            return await body(requestID)
        } catch {
            return ErrorAnswer.response(error as? PlatformError ?? .bug("\(error)"), requestID: requestID)
        }
    }

    @Sendable private func info(_ request: RequestReader) async -> Answer {
        let settings = await request.answer { _ in ShowSettings() }
        let shown = await request.namespace.answer(.success(ShowNamespace(hasNotes: true)), request.head)
        let count: Int
        do { count = try await namespaces.allInOrder().count } catch { return await request.refuse(error) }
        let saving = namespaces.environment.snapshots.progress(of: request.namespace.name).map {
            SaveProgress(bytes: $0.done, total_bytes: $0.total)
        }
        return settings.response { document in
            shown.response { namespace in
                JSONAnswer.response(
                    ServerInfo(
                        version: configuration.version,
                        url: namespaces.environment.address.url(askedAt: request.head.address),
                        uptime: metrics.uptime / .seconds(1),
                        random_seed: namespaces.environment.configuration.randomSeed,
                        data_dir: configuration.namespaces.dataDirectory,
                        webhook_targets: configuration.namespaces.allowsAnyTarget ? .any : .local, namespaces: count,
                        namespace: namespace, settings: document, refused: refused.summary, saving: saving,
                        damaged: namespaces.environment.damaged.list,
                        machine_clock_step: SystemTime.step.map { Double($0.microseconds) / 1_000_000 }),
                    status: .ok, requestID: settings.requestID)
            }.response
        }
    }

    @Sendable private func list(_ request: RequestReader) async -> Answer {
        await request.acknowledge { _ in
        } then: {
            var infos: [NamespaceInfo] = []
            for namespace in try await namespaces.allInOrder() {
                if let info = namespace.idleInfo(askedAt: request.head.address) {
                    infos.append(info)
                    continue
                }
                // A namespace that is deleted in the meantime is not listed.
                let info = try? await namespace.answer(.success(ShowNamespace()), request.head).result.get()
                if let info { infos.append(info) }
            }
            return NamespaceList(namespaces: infos, damaged: namespaces.environment.damaged.list)
        } render: {
            $0.response()
        }
    }

    @Sendable private func makeFresh(_ request: RequestReader) async -> Answer {
        await request.reading(.optionalJSON, { try NamespaceOptions.fresh($0) }) { wanted in
            let made = try await namespaces.makeFresh(wanted.prefix, wanted.options, isInUse: true)
            defer { made.endUse() }
            return await made.answer(.success(ShowNamespace(hasNotes: true)), request.head).response(.created)
        }
    }

    @Sendable private func make(_ request: RequestReader) async -> Answer {
        await request.reading(.optionalJSON, { try NamespaceOptions($0) }) { options in
            let made = try await namespaces.make(request.path("name"), options, isInUse: true)
            defer { made.endUse() }
            return await made.answer(.success(ShowNamespace(hasNotes: true)), request.head).response(.created)
        }
    }

    @Sendable private func deleteAll(_ request: RequestReader) async -> Answer {
        await request.acknowledge { request in
            var query = request.query
            query.require("prefix")
            let prefix = query.text("prefix") ?? ""
            try query.finish()
            return prefix
        } then: {
            try await namespaces.deleteAll(prefix: $0)
        } render: {
            $0.emptyResponse()
        }
    }

    @Sendable private func delete(_ request: RequestReader) async -> Answer {
        // The request's own namespace may be the one that is deleted, so the answer's id is generated first.
        await request.acknowledge {
            $0.path("name")
        } then: {
            try await namespaces.delete($0)
        } render: {
            $0.emptyResponse()
        }
    }
}
