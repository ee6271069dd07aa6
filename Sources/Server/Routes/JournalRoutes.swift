import Hummingbird
import NIOPosix
import Simulation
import SimulationAPI

/// The request journal of a namespace (`/_sim/requests`), and assertions about it.
enum JournalRoutes {
    static func add(to routes: Routes) {
        routes.reading("requests", .pieces, list)
        routes.delete("requests") { _ in ClearJournal() }
        routes.on(.post, "requests/verify", verify)
        routes.on(.get, "requests/{id}", show)
        routes.get("requests/{id}/rules") { ByID<ExplainFaults>(try RequestName($0)) }
    }

    private enum Format: String, CaseIterable {
        case json, har
    }

    @Sendable private static func list(_ request: RequestReader) async -> Answer {
        await request.reading(.ignored, search) { answer in await answer() }
    }

    /// Reads the query of a list, and returns what answers it: with a page, or with all as HAR.
    private static func search(_ request: RequestReader) throws -> @Sendable () async -> Answer {
        var query = request.query
        let wanted = JournalQuery(&query, hasSequences: true)
        let allowed = query.anyNames([.route, .user, .item, .region])
        let format = query.word("format", Format.self) ?? .json
        let (limit, cursor) = query.page()
        try query.finish()
        let (namespace, threads) = (request.namespace, request.namespace.environment.threads)
        if format == .har {
            let export = ExportRequests(wanted, allowing: allowed)
            return { await namespace.answer(.success(export), request.head).streamedResponse(threads) }
        }
        let page = ListRequests(wanted, allowing: allowed, limit: limit, cursor: cursor)
        return { await namespace.answer(.success(page), request.head).searchedResponse(threads) }
    }

    @Sendable private static func verify(_ request: RequestReader) async -> Answer {
        await request.reading(.json, { try VerifyJournal($0) }) { wanted in
            switch wanted {
            case .count(let count): await request.namespace.answer(.success(count), request.head).response()
            case .sequence(let sequence): await request.namespace.answer(.success(sequence), request.head).response()
            }
        }
    }

    @Sendable private static func show(_ request: RequestReader) async -> Answer {
        // The router matches GET with `/_sim/requests/{id}`. The path `verify` supports POST only.
        if request.path("id").isIdentical(to: "verify") {
            return await request.refuse(
                PlatformError.methodNotAllowed("/_sim/requests/verify answers POST", allowed: ["POST"]))
        }
        return await request.answer { ByID<ShowRequest>(try RequestName($0)) }.response()
    }
}

extension Completed<RequestSearch> {
    /// The found requests. The search runs on the server's threads, one piece at a time, so that the namespace goes on.
    fileprivate func searchedResponse(_ threads: NIOThreadPool) async -> Answer {
        await response(awaiting: { search throws(PlatformError) in
            do {
                return JSONAnswer.response(try await list(search, threads), status: .ok, requestID: requestID)
            } catch {
                throw error as? PlatformError ?? .unavailable("the server is stopping")
            }
        })
    }

    private func list(_ search: RequestSearch, _ threads: NIOThreadPool) async throws -> RequestList {
        var search = search
        while true {
            // The list masks what it shows, which takes as long as a piece of the search.
            let (next, list) = try await threads.runIfActive { [search] in
                var search = search
                if !search.isOver { search.advance() }
                return (search, search.isOver ? search.list() : nil)
            }
            if let list { return list }
            search = next
        }
    }
}

extension Completed<JournalExport> {
    /// The journal as it is rendered, in pieces.
    fileprivate func streamedResponse(_ threads: NIOThreadPool) -> Answer {
        response { export in
            Response(
                status: .ok, headers: [.contentType: "application/json", .requestID: requestID],
                body: ResponseBody { writer in
                    while let piece = try await threads.runIfActive({ try export.next() }) {
                        try await writer.write(ByteBuffer(bytes: piece))
                    }
                    try await writer.finish(nil)
                })
        }
    }
}
