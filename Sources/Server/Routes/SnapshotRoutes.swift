import Foundation
import Hummingbird
import NIOPosix
import Simulation

/// Snapshots and bundles (`/_sim/snapshots` and `/_sim/bundle`): copies of a whole namespace; and the difference of two states (`/_sim/diff`).
struct SnapshotRoutes: Sendable {
    let namespaces: Namespaces
    /// The program's version, which is written into archives.
    let version: String

    /// The maximum size of an uploaded archive, in bytes, and the maximum time for the upload [D snapshots].
    static let maxBytes = 4_000_000_000
    private static let uploadTimeout = Duration.seconds(600)
    /// The part of a path that identifies an upload.
    static let path = "/_sim/snapshots/"

    func add(to routes: Routes) {
        routes.reading("bundle", .pieces, bundle)
        routes.longOperation(.get, "snapshots") { await $0.namespace.listSnapshots($0.head).response() }
        routes.on(.put, "snapshots/{name}", save)
        routes.on(.get, "snapshots/{name}", download)
        routes.longOperation(.delete, "snapshots/{name}") {
            await $0.namespace.deleteSnapshot($0.path("name"), $0.head).emptyResponse()
        }
        routes.longOperation(.post, "snapshots/{name}/restore") {
            await $0.namespace.restoreSnapshot($0.path("name"), $0.head).response()
        }
        routes.on(.post, "snapshots/{name}/fork", fork)
        routes.on(.get, "diff", difference)
    }

    /// Saves a snapshot of the namespace, or stores an uploaded archive.
    @Sendable private func save(_ request: RequestReader) async -> Answer {
        guard !request.headers.isArchive else {
            return await request.reading(.streamed) { _ in
            } then: {
                try await upload(request)
            }
        }
        return await request.reading(.optionalJSON) {
            var fields = $0.fields(known: [])
            try fields.finish()
        } then: {
            await request.namespace.saveSnapshot(request.path("name"), request.head).savedResponse()
        }
    }

    private func upload(_ request: RequestReader) async throws -> Answer {
        let environment = request.namespace.environment
        let path = try await environment.offload { try environment.snapshots.temporaryPath() }
        let answer = await stored(request, path)
        // Freeing a large file takes long.
        _ = try await environment.offload { unlink(path) }
        return answer
    }

    private func stored(_ request: RequestReader, _ path: String) async -> Answer {
        do {
            let open = try await request.bodies.save(
                request.request, to: path, upTo: Self.maxBytes, within: Self.uploadTimeout, into: request.received
            ).get()
            return await request.namespace.uploadSnapshot(request.path("name"), request.head, opening: open)
                .savedResponse()
        } catch {
            return await request.refuse(error)
        }
    }

    @Sendable private func download(_ request: RequestReader) async -> Answer {
        await request.reading {
            $0.path("name")
        } then: { name in
            await request.namespace.downloadSnapshot(name, version: version, request.head)
                .archiveResponse("\(name).snapshot.tar", request.namespace.environment.threads)
        }
    }

    @Sendable private func bundle(_ request: RequestReader) async -> Answer {
        await request.reading { _ in
        } then: {
            await request.namespace.bundle(version: version, request.head)
                .archiveResponse("\(request.namespace.name).bundle.tar", request.namespace.environment.threads)
        }
    }

    @Sendable private func difference(_ request: RequestReader) async -> Answer {
        await request.reading {
            try ComparedNames($0)
        } then: { names in
            await namespaces.difference(names, of: request.namespace, request.head).response()
        }
    }

    @Sendable private func fork(_ request: RequestReader) async -> Answer {
        await request.reading(.json) { request in
            var fields = request.fields(known: ["namespace", "ttl"])
            let wanted = (namespace: fields.string("namespace"), ttl: fields.timeToLive())
            try fields.finish()
            return wanted
        } then: { wanted in
            let made = try await namespaces.fork(
                request.namespace, snapshot: request.path("name"), as: wanted.namespace, ttl: wanted.ttl, isInUse: true)
            defer { made.endUse() }
            return await made.answer(.success(ShowNamespace()), request.head).response(.created)
        }
    }
}

extension Completed<SnapshotDownload> {
    fileprivate func archiveResponse(_ fileName: String, _ threads: NIOThreadPool) -> Answer {
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
