import Console
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Simulation
import SimulationAPI

/// The pages of the console (`/_sim/console`), and the files that they load.
struct ConsoleRoutes: Sendable {
    let console: Console
    let key: ControlKey

    static let path = "/_sim/console"

    /// Whether a path, without its namespace, is an address of the console.
    static func isPage(_ path: String) -> Bool {
        path.isIdentical(to: Self.path) || path.begins(with: "\(Self.path)/")
    }

    static let tokenPath = "/_sim/console/token"

    /// The policy of pages: they load files of this server alone.
    private static let policy =
        "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"

    /// - Parameter root: routes with paths from the root.
    func add(to routes: Routes, root: Routes) {
        // `ControlResponder` answers this path first. The route is added so that it is listed.
        root.on(.get, "/") { request in
            await answer(request) { Self.home(of: request.namespace.name) }
        }
        for path in ["console", "console/{section}", "console/{section}/{name}", "console/{section}/{name}/{id}"] {
            routes.on(.get, path, page)
        }
        routes.on(.get, "console/news", news)
        routes.on(.get, "console/assets/{name}", asset)
        routes.on(.post, "console/token", takeToken)
    }

    /// Redirects to the console of a namespace.
    static func home(of namespace: String) -> Response {
        Response(status: .seeOther, headers: [.location: base(of: namespace) + path])
    }

    static func base(of namespace: String) -> String {
        namespace.isIdentical(to: Namespaces.defaultName) ? "" : "/ns/\(namespace)"
    }

    /// Answers as one job of the namespace, so that the request has its place and its id.
    ///
    /// - Parameters:
    ///   - known: the parameters that the route knows; `nil` if it ignores others, as pages do: a link may be of a later
    ///     version.
    ///   - check: throws the error of a request that cannot be answered.
    private func answer(
        _ request: RequestReader, known: [String]? = [], check: () throws -> Void = {}, _ body: () async -> Response
    ) async -> Answer {
        let completed = await request.acknowledge(.streamed) { request in
            var query = request.query
            for name in known ?? [] { _ = query.value(name) }
            if known != nil { try query.finish() }
            try check()
        }
        return await completed.response(awaiting: { _ in
            var response = await body()
            response.headers[.requestID] = completed.requestID
            return response
        })
    }

    @Sendable private func page(_ request: RequestReader) async -> Answer {
        await answer(request, known: nil) {
            let page = await console.page(wanted(request), api(request))
            var response = Self.html(page.html, HTTPResponse.Status(code: page.status))
            if let file = page.file { response.headers[.contentDisposition] = "attachment; filename=\"\(file)\"" }
            return response
        }
    }

    @Sendable private func news(_ request: RequestReader) async -> Answer {
        await answer(request, known: ["since", "q"]) {
            let news = await console.news(wanted(request), api(request))
            let counted: JSONValue = ["count": .number(JSONNumber(news.count)), "more": .bool(news.isMore)]
            return JSONAnswer.response(counted, status: .ok, requestID: "")
        }
    }

    private func wanted(_ request: RequestReader) -> ConsoleRequest {
        var query: [String: String] = [:]
        let target = Target(request.request.head.path ?? "/")
        for pair in target.query.dropFirst().split(separator: "&").prefix(50) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.replacing("+", with: " ") }
            // The names that pages know are short. The hash of a long one may cost much more than its bytes.
            guard parts[0].utf8.count <= 64 else { continue }
            query[parts[0].removingPercentEncoding ?? ""] =
                parts.count > 1 ? parts[1].removingPercentEncoding ?? "" : ""
        }
        let path = target.path.split(separator: "/").dropFirst(2).map { $0.removingPercentEncoding ?? String($0) }
        return ConsoleRequest(
            namespace: request.namespace.name, path: path, query: query,
            isReadOnly: request.request.headers[values: .cookie].contains { line in
                line.split(at: ";").contains { $0.trimmed.isIdentical(to: "sim_console_read_only=1") }
            },
            url: request.namespace.environment.address.url(
                ofNamespace: request.namespace.name, askedAt: request.head.address))
    }

    /// Calls of the control API within the server, with the rights of the request.
    private func api(_ request: RequestReader) -> ControlAPI {
        { path in
            // Its own id, so that looking at a namespace takes no ids of control requests.
            var fields: HTTPFields = [.requestID: "console"]
            fields[.accept] = "application/json"
            let head = HTTPRequest(
                method: .get, scheme: "http", authority: request.request.head.authority, path: path,
                headerFields: fields)
            do {
                let made = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
                let response = try await request.make(made, isAbandonable: true).response
                return (response.status.code, Data((await response.collectedBody()).readableBytesView))
            } catch {
                return (ErrorAnswer.envelope(.bug("\(error)"), requestID: "").0.code, Data())
            }
        }
    }

    private static func html(
        _ text: String, _ status: HTTPResponse.Status, loading policy: String = policy
    ) -> Response {
        Response(
            status: status, headers: .page(loading: policy), body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    private static let assets = Dictionary(
        uniqueKeysWithValues: ConsoleAsset.allCases.map { ($0, ConstantDocument(ByteBuffer(bytes: $0.bytes))) })

    @Sendable private func asset(_ request: RequestReader) async -> Answer {
        await request.acknowledge(.streamed) { request in
            var query = request.query
            _ = query.value("v")
            try query.finish()
            guard let asset = ConsoleAsset(rawValue: request.path("name")), let document = Self.assets[asset] else {
                throw PlatformError.notFound("the console has no such file")
            }
            return (asset, document)
        }.file { asset, document in
            let headers: HTTPFields = [
                .contentType: asset.mediaType, .cacheControl: "public, max-age=31536000, immutable",
                .xContentTypeOptions: "nosniff",
            ]
            return (document, headers)
        }
    }

    // MARK: Problems and the control token

    /// Puts the control token of a form into a cookie.
    @Sendable private func takeToken(_ request: RequestReader) async -> Answer {
        let body = await request.bodies.read(request.request, upTo: 10_000, into: request.received)
        let given = body.flatMap(\.content).flatMap { content in
            var fields = FieldReader(query: Substring(String(buffer: content).replacing("+", with: " ")))
            return fields.given("token").map { .success($0) } ?? .failure(.invalid(field: "token", "is missing"))
        }
        return await answer(request, check: { _ = try given.get() }) {
            guard let cookie = (try? given.get()).flatMap(key.cookie) else {
                let (status, envelope) = ErrorAnswer.envelope(
                    .unauthorized(ControlKey.wrongToken), requestID: "")
                return Self.problem(
                    status.code, envelope, request.namespace.name,
                    server: request.namespace.environment.address.url(askedAt: request.head.address))
            }
            var response = Self.home(of: request.namespace.name)
            response.headers[.setCookie] = cookie
            return response
        }
    }

    /// The page for an error that was found before the console.
    static func problem(
        _ status: Int, _ envelope: ErrorEnvelope?, _ namespace: String, server: String
    ) -> Response {
        // This page is read before its style could be loaded.
        html(
            StandalonePage.html(
                status: status, envelope, server: server, namespace: namespace,
                action: base(of: namespace) + tokenPath,
                isWrongToken: envelope?.error == ControlKey.wrongToken),
            HTTPResponse.Status(code: status), loading: "style-src 'unsafe-inline'")
    }
}
