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
        routes.get("requests/{id}/rules") { ExplainFaults(try RequestName($0)) }
    }

    fileprivate enum List {
        case page(ListRequests)
        case har(ExportRequests)
    }

    @Sendable private static func list(_ request: RequestReader) async -> Answer {
        await request.reading(.ignored, List.init) { list in
            switch list {
            case .page(let page):
                await request.namespace.answer(.success(page), request.head)
                    .searched(request.namespace.environment.threads).response()
            case .har(let export):
                await request.namespace.answer(.success(export), request.head)
                    .streamedResponse(request.namespace.environment.threads)
            }
        }
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

extension JournalRoutes.List {
    private enum Format: String, CaseIterable {
        case json, har
    }

    fileprivate init(_ request: RequestReader) throws {
        var query = request.query
        let wanted = JournalQuery(&query, hasSequences: true)
        let allowed = query.anyNames([.route, .user, .item, .region])
        let format = query.word("format", Format.self) ?? .json
        let (limit, cursor) = query.page()
        try query.finish()
        self =
            format == .har
            ? .har(ExportRequests(wanted, allowing: allowed))
            : .page(ListRequests(wanted, allowing: allowed, limit: limit, cursor: cursor))
    }
}

extension Completed<RequestSearch> {
    /// The found requests. The search runs on the server's threads, one piece at a time, so that the namespace goes on.
    fileprivate func searched(_ threads: NIOThreadPool) async -> Completed<RequestList> {
        let found: Result<RequestList, PlatformError>
        do {
            found = .success(try await list(threads))
        } catch let error as PlatformError {
            found = .failure(error)
        } catch {
            found = .failure(.unavailable("the server is stopping"))
        }
        return Completed<RequestList>(requestID: requestID, result: found, outcome: outcome)
    }

    private func list(_ threads: NIOThreadPool) async throws -> RequestList {
        var search = try result.get()
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
