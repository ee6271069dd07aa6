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
    static let maxBytes = 4_000_000_000
    private static let uploadTimeout = Duration.seconds(600)
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

    private func reader(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    @Sendable private func list(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.withoutQuery { await reader.namespace.listSnapshots(reader.head).response() }
    }

    /// Saves a snapshot of the namespace, or stores an uploaded archive.
    @Sendable private func save(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        if HeaderReader(request.headers).isArchive {
            return await reader.withoutQuery(.streamed) { await upload(reader) }
        }
        let input = await reader.input(.optionalJSON) { input in
            if let unknown = input.body.keys.min() {
                throw PlatformError.invalid([ErrorDetail(unknown, "is unknown; a snapshot is saved without a body")])
            }
        }
        if case .failure(let error) = input { return await reader.namespace.refuse(error, reader.head).refusal() }
        return await reader.namespace.saveSnapshot(reader.path("name"), reader.head).savedResponse()
    }

    private func upload(_ reader: RequestReader) async -> Response {
        let environment = reader.namespace.environment
        let path: String
        do {
            path = try environment.temporaryPath()
        } catch {
            return await reader.refuse(error)
        }
        let received = await bodies.save(
            reader.request, to: path, upTo: Self.maxBytes, within: Self.uploadTimeout, on: environment.threads,
            into: reader.received)
        let response: Response
        switch received {
        case .success:
            response = await reader.namespace.uploadSnapshot(reader.path("name"), file: path, reader.head)
                .savedResponse()
        case .failure(let error): response = await reader.refuse(error)
        }
        unlink(path)
        return response
    }

    @Sendable private func download(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        let name = reader.path("name")
        return await reader.withoutQuery {
            await reader.namespace.downloadSnapshot(name, version: version, reader.head)
                .archiveResponse("\(name).snapshot.tar", reader.namespace.environment.threads)
        }
    }

    @Sendable private func bundle(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.withoutQuery {
            await reader.namespace.bundle(version: version, reader.head)
                .archiveResponse("\(reader.namespace.name).bundle.tar", reader.namespace.environment.threads)
        }
    }

    @Sendable private func delete(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.withoutQuery {
            await reader.namespace.deleteSnapshot(reader.path("name"), reader.head).emptyResponse()
        }
    }

    @Sendable private func restore(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        return await reader.withoutQuery {
            await reader.namespace.restoreSnapshot(reader.path("name"), reader.head).response()
        }
    }

    @Sendable private func fork(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        let input = await reader.input(.json) { try ForkRequest($0.body) }
        do {
            let wanted = try input.get()
            let made = try await namespaces.fork(
                reader.namespace, snapshot: reader.path("name"), as: wanted.namespace, ttl: wanted.ttl)
            return await made.answer(.success(ShowNamespace()), reader.head).response(.created)
        } catch {
            return await reader.refuse(error)
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
