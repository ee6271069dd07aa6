import Foundation
import Hummingbird
import NIOPosix
import Simulation
import SimulationAPI

/// The request journal of a namespace (`/_sim/requests`), and assertions about it.
enum JournalRoutes {
    static func add(to routes: Routes) {
        routes.reading("requests", .pieces, list)
        routes.delete("requests") { _ in ClearJournal() }
        routes.post("requests/verify") { try VerifyJournal($0) }
        routes.on(.get, "requests/{id}", show)
        routes.get("requests/{id}/rules") { ExplainFaults(try RequestName($0)) }
    }

    fileprivate enum List {
        case page(ListRequests)
        case search(SearchRequests)
        case har(ExportRequests)
    }

    @Sendable private static func list(_ request: RequestReader) async -> Answer {
        await request.reading(.ignored, List.init) { list in
            switch list {
            case .page(let page): await request.namespace.answer(.success(page), request.head).response()
            case .search(let search):
                await request.namespace.answer(.success(search), request.head)
                    .searched(request.namespace.environment.threads).response()
            case .har(let export):
                await request.namespace.answer(.success(export), request.head)
                    .streamedResponse(request.namespace.environment.threads)
            }
        }
    }

    @Sendable private static func show(_ request: RequestReader) async -> Answer {
        // The router matches GET with `/_sim/requests/{id}`. The path `verify` supports POST only.
        if request.path("id").isIdentical(to: "verify") {
            return await request.refuse(
                PlatformError.methodNotAllowed("/_sim/requests/verify answers POST", allowed: ["POST"]))
        }
        return await request.answer { ShowRequest(try RequestName($0)) }.response()
    }
}

extension JournalRoutes.List {
    private enum Format: String, CaseIterable {
        case json, har
    }

    fileprivate init(_ request: RequestReader) throws {
        var query = request.query
        let wanted = JournalQuery(&query, hasSequences: true)
        let format = query.word("format", Format.self) ?? .json
        let (limit, cursor) = query.page()
        try query.finish()
        let page = ListRequests(wanted, limit: limit, cursor: cursor)
        self =
            format == .har
            ? .har(ExportRequests(wanted)) : wanted.text == nil ? .page(page) : .search(SearchRequests(page))
    }
}

extension Completed<RequestSearch> {
    /// The found requests. The search runs on the server's threads, one piece at a time, so that the namespace goes on.
    fileprivate func searched(_ threads: NIOThreadPool) async -> Completed<RequestList> {
        var found: Result<RequestList, PlatformError>
        do {
            var search = try result.get()
            while !search.isOver {
                search = try await threads.runIfActive { [search] in
                    var search = search
                    search.advance()
                    return search
                }
            }
            found = .success(search.list())
        } catch let error as PlatformError {
            found = .failure(error)
        } catch {
            found = .failure(.unavailable("the server is stopping"))
        }
        return Completed<RequestList>(requestID: requestID, result: found, outcome: outcome)
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

extension RequestReader {
    /// - Parameter member: the member of the body that has the route.
    private static func wayOut(_ member: String) -> String {
        ". Send \"any_route\": true beside \(member) if it is meant"
    }

    /// Reports a route that no route of the platforms matches. It is probably misspelt, and would be verified zero times in every
    /// journal.
    ///
    /// - Parameter member: the member of the body that has the route.
    fileprivate func checkRoute(of query: JournalQuery, in member: String, _ match: inout FieldReader) {
        let environment = namespace.environment
        guard let route = query.route, !environment.platforms.unsimulatedPaths.contains(where: route.overlaps),
            !environment.routes.contains(where: { route.overlaps($0.path) })
        else { return }
        match.report("route", unknownRoute(route) + Self.wayOut(member))
    }

    /// The problem of a method that no route of the query accepts; `nil` if one does.
    fileprivate func unacceptedMethod(of query: JournalQuery) -> ErrorDetail? {
        let environment = namespace.environment
        let unsimulated = environment.platforms.unsimulatedPaths
        // Browsers ask with OPTIONS about every route.
        guard let route = query.route, !unsimulated.contains(where: route.overlaps), let method = query.method,
            !method.isIdentical(to: "OPTIONS")
        else { return nil }
        let notes = RouteNotes.notes(route, method: method, "match.", environment.routes, unsimulated: unsimulated)
        return notes.first { $0.field == "match.method" }.map {
            ErrorDetail($0.field, $0.problem + Self.wayOut("match"))
        }
    }

    private func unknownRoute(_ glob: Glob) -> String {
        let routes = namespace.environment.routes
        // A star of a route is a parameter.
        let nearest = NearestRoute(
            routes.map { route in
                (route.path.pattern.split(at: "/").map { $0 == "*" ? "{id}" : String($0) }, route.method)
            }
        ).nearest(to: glob.pattern.split(at: "/").map(String.init), "")
        return "matches no route of the platforms, got \"\(glob.pattern.excerpt)\""
            + (nearest.map { "; the nearest is \($0)" } ?? "") + "; GET /_sim/choices lists them"
    }
}

extension VerifyJournal {
    /// The members of a condition on one request.
    private static let members = ["route", "method", "status", "delivered", "username", "since", "before", "test"]
    /// The members of a body with a number of requests, and of one with a sequence. Both have `any_route`.
    private static let (ofCount, ofSequence) = (
        ["match", "times", "at_least", "at_most"], ["sequence", "min_gap", "max_gap"]
    )

    fileprivate init(_ request: RequestReader) throws {
        var fields = request.fields(known: Self.ofCount + ["any_route"] + Self.ofSequence)
        let isAnyRoute = fields.optionalBool("any_route") ?? false
        if fields.value("sequence") == nil {
            for name in Self.ofSequence where fields.value(name) != nil { fields.report(name, "needs a sequence") }
            self = .count(try Self.count(&fields, request, isAnyRoute))
        } else {
            for name in Self.ofCount where fields.value(name) != nil {
                fields.report(name, "cannot be combined with sequence")
            }
            let sequence = RequestSequence(&fields, members: Self.members) { query, step in
                if !isAnyRoute { request.checkRoute(of: query, in: "sequence", &step) }
            }
            try fields.finish()
            self = .sequence(VerifySequence(sequence))
        }
    }

    private static func count(
        _ fields: inout FieldReader, _ request: RequestReader, _ isAnyRoute: Bool
    ) throws -> VerifyRequests {
        var match = fields.object("match", known: members)
        let query = JournalQuery(&match, impliesDelivery: true)
        if !isAnyRoute { request.checkRoute(of: query, in: "match", &match) }
        let amount = fields.amount()
        try fields.finish()
        return VerifyRequests(
            query, minCount: amount.lowerBound, maxCount: amount.upperBound,
            unacceptedMethod: isAnyRoute ? nil : request.unacceptedMethod(of: query))
    }
}
