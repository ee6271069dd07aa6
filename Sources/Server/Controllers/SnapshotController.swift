import EntrupyAPI
import Foundation
import Hummingbird
import NIOPosix
import Platform

/// Snapshots and bundles (`/_sim/snapshots` and `/_sim/bundle`): copies of a whole namespace.
struct SnapshotController {
    let bodies: BodyReader
    let namespaces: Namespaces
    /// The program's version, which is written into archives.
    let version: String

    /// The maximum size of an uploaded archive, in bytes, and the maximum time for the upload [D snapshots].
    static let largest = 4_000_000_000
    private static let patience = Duration.seconds(600)
    /// The part of a path that identifies an upload.
    static let path = "/_sim/snapshots/"

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("_sim/bundle", use: bundle)
            .get("_sim/snapshots", use: list)
            .put("_sim/snapshots/{name}", use: save)
            .get("_sim/snapshots/{name}", use: download)
            .delete("_sim/snapshots/{name}", use: delete)
            .post("_sim/snapshots/{name}/restore", use: restore)
            .post("_sim/snapshots/{name}/fork", use: fork)
    }

    private func exchange(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    @Sendable private func list(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        return await exchange.withoutQuery { await exchange.namespace.listSnapshots(exchange.head).response() }
    }

    /// Saves a snapshot of the namespace, or stores an uploaded archive.
    @Sendable private func save(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        if HeaderReader(request.headers).isArchive {
            return await exchange.withoutQuery(.streamed) { await upload(exchange) }
        }
        let input = await exchange.input(.optionalJSON) { input in
            if let unknown = input.body.keys.min() {
                throw PlatformError.invalid([ErrorDetail(unknown, "is unknown; a snapshot is saved without a body")])
            }
        }
        if case .failure(let error) = input { return await exchange.namespace.refuse(error, exchange.head).refusal() }
        return await exchange.namespace.saveSnapshot(exchange.path("name"), exchange.head).savedResponse()
    }

    private func upload(_ exchange: RequestReader) async -> Response {
        let environment = exchange.namespace.environment
        let path: String
        do {
            path = try environment.temporaryPath()
        } catch {
            return await exchange.refuse(error)
        }
        let received = await bodies.save(
            exchange.request, to: path, upTo: Self.largest, within: Self.patience, on: environment.threads)
        let response: Response
        switch received {
        case .success:
            response = await exchange.namespace.uploadSnapshot(exchange.path("name"), file: path, exchange.head)
                .savedResponse()
        case .failure(let error): response = await exchange.refuse(error)
        }
        unlink(path)
        return response
    }

    @Sendable private func download(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        let name = exchange.path("name")
        return await exchange.withoutQuery {
            await exchange.namespace.downloadSnapshot(name, version: version, exchange.head)
                .archiveResponse("\(name).snapshot.tar", exchange.namespace.environment.threads)
        }
    }

    @Sendable private func bundle(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        return await exchange.withoutQuery {
            await exchange.namespace.bundle(version: version, exchange.head)
                .archiveResponse("\(exchange.namespace.name).bundle.tar", exchange.namespace.environment.threads)
        }
    }

    @Sendable private func delete(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        return await exchange.withoutQuery {
            await exchange.namespace.deleteSnapshot(exchange.path("name"), exchange.head).emptyResponse()
        }
    }

    @Sendable private func restore(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        return await exchange.withoutQuery {
            await exchange.namespace.restoreSnapshot(exchange.path("name"), exchange.head).response()
        }
    }

    @Sendable private func fork(_ request: Request, _ context: SimContext) async -> Response {
        let exchange = exchange(request, context)
        let input = await exchange.input(.json) { try ForkRequest($0.body) }
        do {
            let wanted = try input.get()
            let made = try await namespaces.fork(
                exchange.namespace, snapshot: exchange.path("name"), as: wanted.namespace, ttl: wanted.ttl)
            return await made.answer(.success(ShowNamespace()), exchange.head).response(.created)
        } catch {
            return await exchange.refuse(error)
        }
    }
}

extension RequestReader {
    /// Answers with `body` unless the query has parameters. For routes that have none.
    ///
    /// - Parameter rule: the route's rule for the request body.
    func withoutQuery(_ rule: BodyRule = .ignored, _ body: () async -> Response) async -> Response {
        switch await input(rule, { _ in }) {
        case .success: await body()
        case .failure(let error): await refuse(error)
        }
    }
}

extension Completed<SavedSnapshot> {
    /// 201 if the snapshot is new, 200 if it replaced one of the same name.
    fileprivate func savedResponse() -> Response {
        response { saved in
            JSONAnswer.response(saved.info, status: saved.isNew ? .created : .ok, requestID: requestID)
        }
    }
}

extension Completed<SnapshotDownload> {
    /// The archive, in pieces.
    func archiveResponse(_ fileName: String, _ threads: NIOThreadPool) -> Response {
        response { download in
            Response(
                status: .ok,
                headers: [
                    .contentType: "application/octet-stream", .requestID: requestID,
                    .contentDisposition: "attachment; filename=\"\(fileName)\"",
                ],
                body: ResponseBody(contentLength: download.size) { writer in
                    while let piece = try await threads.runIfActive({ try download.next() }) {
                        try await writer.write(ByteBuffer(bytes: piece))
                    }
                    try await writer.finish(nil)
                })
        }
    }
}
