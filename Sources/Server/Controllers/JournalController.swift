import EntrupyAPI
import Foundation
import Hummingbird
import NIOPosix
import Platform

/// The request journal of a namespace (`/_sim/requests`), and assertions about it.
struct JournalController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("_sim/requests", use: list)
            .delete("_sim/requests", use: clear)
            .post("_sim/requests/verify", use: verify)
            .get("_sim/requests/{id}", use: show)
    }

    private func reader(_ request: Request, _ context: SimContext) -> RequestReader {
        RequestReader(request, context, bodies: bodies, isControl: true)
    }

    /// The formats of a list.
    private enum Format: String, CaseIterable {
        case json, har
    }

    @Sendable private func list(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        let input = await reader.input(.ignored) { input in
            var query = input.query
            let wanted = JournalQuery(&query)
            let format = query.word("format", Format.self) ?? .json
            let limit = query.number("limit", in: ControlPage.limits)
            let cursor = query.text("cursor")
            try query.finish()
            return (wanted, format, ListRequests(wanted, limit: limit ?? ControlPage.defaultLimit, cursor: cursor))
        }
        switch input {
        case .success((let wanted, .har, _)):
            return await reader.namespace.answer(.success(ExportRequests(wanted)), reader.head)
                .streamedResponse(reader.namespace.environment.threads)
        case .success((_, .json, let list)):
            return await reader.namespace.answer(.success(list), reader.head).response()
        case .failure(let error): return await reader.namespace.refuse(error, reader.head).refusal()
        }
    }

    @Sendable private func show(_ request: Request, _ context: SimContext) async -> Response {
        let reader = reader(request, context)
        // The router matches GET with `/_sim/requests/{id}`. The path `verify` supports POST only.
        if reader.path("id") == "verify" {
            let refusal = PlatformError.methodNotAllowed("/_sim/requests/verify answers POST", allowed: ["POST"])
            return await reader.namespace.refuse(refusal, reader.head).refusal()
        }
        return await reader.answer { _ in ShowRequest(reader.path("id")) }.response()
    }

    @Sendable private func clear(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer { _ in ClearJournal() }.emptyResponse()
    }

    @Sendable private func verify(_ request: Request, _ context: SimContext) async -> Response {
        await reader(request, context).answer(.json) { try VerifyRequests($0.body) }.response()
    }
}

extension Completed<JournalExport> {
    /// The journal as it is rendered, in pieces.
    fileprivate func streamedResponse(_ threads: NIOThreadPool) -> Response {
        response { export in
            Response(
                status: .ok, headers: [.contentType: "application/json", .requestID: requestID],
                body: ResponseBody { writer in
                    while let piece = try await threads.runIfActive({ export.next() }) {
                        try await writer.write(ByteBuffer(bytes: piece))
                    }
                    try await writer.finish(nil)
                })
        }
    }
}

extension JournalQuery {
    /// Reads the filter from a query. Problems are reported to `query`.
    fileprivate init(_ query: inout QueryReader) {
        self.init(
            route: query.name("route", longest: Self.longestRoute),
            method: query.value("method", JournalQuery.methodExpectation, JournalQuery.method),
            status: query.value("status", StatusPattern.expectation, StatusPattern.init),
            username: query.name("username"),
            since: query.value("since", "must be ISO 8601 with an offset, or epoch seconds") { text in
                Instant(text) ?? Double(text).flatMap { Instant(epoch: $0) }
            }, test: query.name("test"))
    }

    /// Reads the filter from a member of a body. Problems are reported to `fields`.
    fileprivate init(_ members: JSONObject, _ fields: inout FieldReader) {
        var own = FieldReader(members, prefix: "match.")
        own.allowOnly("route", "method", "status", "username", "since", "test")
        self.init(
            route: own.optionalString("route", longest: Self.longestRoute),
            method: own.optional("method", JournalQuery.methodExpectation) { $0.text.flatMap(JournalQuery.method) },
            status: own.optional("status", StatusPattern.expectation) { value in
                switch value {
                case .number(let number): number.integer.flatMap { StatusPattern(String($0)) }
                case .string(let text): StatusPattern(text)
                default: nil
                }
            },
            username: own.optionalString("username"), since: own.moment("since"), test: own.optionalString("test"))
        for problem in own.problems { fields.report(problem.field, problem.problem) }
    }
}

extension VerifyRequests {
    fileprivate init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("match", "times", "at_least", "at_most")
        let query = JournalQuery(fields.optionalObject("match") ?? [:], &fields)
        func count(_ key: String) -> Int? {
            fields.optional(key, "must be a whole number from 0 to 1000000000") { value in
                guard case .number(let number) = value, let count = number.integer, (0...1_000_000_000).contains(count)
                else { return nil }
                return count
            }
        }
        let (times, least, most) = (count("times"), count("at_least"), count("at_most"))
        if times != nil, least != nil || most != nil {
            fields.report("times", "cannot be combined with at_least or at_most")
        }
        if let least, let most, least > most { fields.report("at_least", "must not be more than at_most") }
        try fields.finish()
        // The default is at least one request.
        self.init(query, least: times ?? least ?? (most == nil ? 1 : 0), most: times ?? most ?? .max)
    }
}
