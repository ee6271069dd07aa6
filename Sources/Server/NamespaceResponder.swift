import EntrupyAPI
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import Platform

/// Wraps the router. Takes the namespace from the path, and answers 404 with an envelope and 405 with the allowed
/// methods [D namespaces].
///
/// The router resolves a route before any middleware runs, so this is not a middleware.
struct NamespaceResponder<Inner: HTTPResponder>: HTTPResponder where Inner.Context == SimContext {
    let inner: Inner
    let routes: RouteTable
    let namespaces: Namespaces
    let readiness: Readiness
    let hosts: HostGuard
    let keys: ControlKey
    let logger: Logger
    let metrics: ServerMetrics
    /// The replay in progress. `nil` if this is not a replay.
    let replay: Replay?

    func respond(to request: Request, context: SimContext) async throws -> Response {
        // The benchmark's baseline: it measures the framework's own cost, without the simulator's.
        if request.head.path == ServerRoutes.pingPath, [.get, .head].contains(request.method), readiness.isReady {
            let response = try await inner.respond(to: request, context: context)
            return request.method == .head ? response.createHeadResponse() : response
        }
        let started = ContinuousClock.now
        let response = try await ticketed(request, context)
        let duration = ContinuousClock.now - started
        metrics.answered(
            method: request.method.rawValue, route: context.coreContext.endpointPath.value ?? "none",
            status: response.status.code, after: duration)
        if logger.logLevel <= .info { log(request, response, duration) }
        // The answer to HEAD is the head of any answer.
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Answers a request under its job ticket if it is recorded or replayed.
    private func ticketed(_ request: Request, _ context: SimContext) async throws -> Response {
        let environment = namespaces.environment
        if let ticket = environment.recorder?.ticket() {
            let received = ReceivedBody()
            return try await JobTicket.$current.withValue(ticket) {
                let response: Response
                do {
                    response = try await answer(request, context, received)
                } catch {
                    // Its jobs have run. Without its own line, the recording would seem to end before them.
                    ticket.markUnrepeatable()
                    await RequestRecorder.record(
                        request, received, ErrorAnswer.response(.bug("the request was lost"), requestID: ""),
                        environment)
                    throw error
                }
                await RequestRecorder.record(request, received, response, environment)
                return response
            }
        }
        if let replayed = replay?.request(HTTPField.Name(Replay.header).flatMap { request.headers[$0] }) {
            // The target as it was received: a URL cannot represent every request line.
            var head = request.head
            head.path = replayed.target
            head.authority = replayed.host
            let original = Request(head: head, body: request.body)
            return try await JobTicket.$current.withValue(replayed.ticket) {
                try await answer(original, context, ReceivedBody())
            }
        }
        return try await answer(request, context, nil)
    }

    /// Logs one line per request: paths and ids, no body. A token in a path is masked.
    private func log(_ request: Request, _ response: Response, _ duration: Duration) {
        let target = Target(request.head.path ?? "/", elsewhere: NamespaceChoice.named(by: request.head))
        let namespace = namespaces.find(target.namespace) ?? namespaces.find(Namespaces.defaultName)
        let secrets = Secrets(known: namespace?.secrets ?? [])
        logger.info(
            "request",
            metadata: [
                "method": "\(request.method.rawValue)", "namespace": "\(secrets.masked(text: target.namespace))",
                "path": "\(secrets.masked(text: target.path))",
                "status": "\(response.status.code)",
                "request_id": "\(secrets.masked(text: response.headers[.requestID] ?? ""))",
                "milliseconds":
                    "\(Double(duration.components.attoseconds / 1_000_000_000_000) / 1000 + Double(duration.components.seconds) * 1000)",
            ])
    }

    /// - Parameter received: receives the body for a recording. `nil` if the request is not recorded.
    private func answer(
        _ request: Request, _ context: SimContext, _ received: ReceivedBody?
    ) async throws -> Response {
        let target = Target(request.head.path ?? "/", elsewhere: NamespaceChoice.named(by: request.head))
        let headers = HeaderReader(request.headers)
        let isControl = target.isControl
        var head = RequestHead(requestID: headers.requestID, language: headers.language, isControl: isControl)
        if !isControl { head.metadata = facts(request, target.path, headers.credential) }

        if isControl, let refusal = hosts.refusal(request.head) ?? keys.refusal(request.head, target.path) {
            return ErrorAnswer.response(
                refusal, requestID: head.requestID ?? namespaces.environment.nextServerRequestID())
        }
        if isControl, let response = keys.cookieRedirect(target) { return response }

        guard readiness.isReady || target.path == "/_sim/health" || target.path == "/_sim/ready" else {
            return ErrorAnswer.response(
                .notReady, requestID: head.requestID ?? namespaces.environment.nextServerRequestID())
        }
        var namespace: Namespace?
        if readiness.isReady {
            do {
                namespace = try await self.namespace(target)
            } catch {
                return ErrorAnswer.response(
                    refusal(error, target, request.head),
                    requestID: head.requestID ?? namespaces.environment.nextServerRequestID())
            }
        }
        let original = request
        var request = request
        let inner = target.path + target.query
        if !(request.head.path ?? "").isIdentical(to: inner) {
            var inside = request.head
            inside.path = inner
            request = Request(head: inside, body: request.body)
        }
        let received = received ?? (isControl ? nil : ReceivedBody())
        var context = context
        context.scope = namespace.map { RequestScope(namespace: $0, head: head, received: received) }
        namespace?.beginUse()
        defer { namespace?.endUse() }
        guard let trace = head.metadata?.trace, let received else { return try await routed(request, target, context) }
        let started = ContinuousClock.now
        let whole = try await routed(request, target, context)
        var response = whole
        let known = trace.known
        await RequestRecorder.record(original, received, whole, namespaces.environment)
        if let fault = known.fault, JobTicket.current?.isReplay != true {
            response = await FaultInjector.carryOut(fault, on: whole, context.channel)
        }
        if let namespace {
            await JournalWriter.append(
                request, target, received, whole, after: ContinuousClock.now - started, known, in: namespace)
        }
        return response
    }

    /// Finds the namespace that a request names. The server's own routes answer for any name, so that a client that
    /// names a namespace in all its requests can create it [D namespace-choice].
    private func namespace(_ target: Target) async throws -> Namespace {
        if target.isServersOwn, namespaces.find(target.namespace) == nil {
            return try await namespaces.resolve(Namespaces.defaultName)
        }
        return try await namespaces.resolve(target.namespace)
    }

    /// The error for a missing namespace. Only clients that may use the control API learn the nearest
    /// name [D unknown-routes].
    private func refusal(_ error: any Error, _ target: Target, _ request: HTTPRequest) -> PlatformError {
        guard let error = error as? PlatformError else { return .unavailable("\(error)") }
        guard error.kind == .unknownNamespace else { return error }
        let name = target.namespace.excerpt
        var problem = "names the namespace \"\(name)\", which does not exist"
        if hosts.refusal(request) == nil, keys.refusal(request, "/_sim/namespaces") == nil,
            let nearest = NearestName.nearest(to: target.namespace, among: namespaces.all().map(\.name))
        {
            problem += "; the nearest is \"\(nearest)\""
        }
        return .unknownNamespace(error.message, [ErrorDetail("path", problem)])
    }

    private func facts(_ request: Request, _ path: String, _ credential: Credential) -> RequestMetadata {
        let fields = request.headers
        return RequestMetadata(method: request.method.rawValue, path: RoutePath.plain(path), credential: credential) {
            name in
            HTTPField.Name(name).map { fields[values: $0] } ?? []
        }
    }

    /// The route's answer, or an error if no route matches.
    private func routed(_ request: Request, _ target: Target, _ context: SimContext) async throws -> Response {
        let response = try await inner.respond(to: request, context: context)
        guard context.coreContext.endpointPath.value == RouteTable.notFoundPath, let scope = context.scope else {
            return response
        }
        return await scope.namespace.refuse(routes.refusal(request.method, target.path), scope.head).refusal()
    }
}

/// A request's path without its namespace.
struct Target: Equatable {
    let namespace: String
    let path: String
    /// The query with its `?`. Empty if there is none.
    let query: String

    /// Whether the path leads to the control API. Repeated slashes are accepted.
    var isControl: Bool {
        guard path.begins(with: "/_sim") || path.begins(with: "//") else { return false }
        let rest = path.utf8.drop { $0 == UInt8(ascii: "/") }
        guard rest.starts(with: "_sim".utf8) else { return false }
        let next = rest.dropFirst("_sim".utf8.count).first
        return next == nil || next == UInt8(ascii: "/")
    }

    /// Whether the path leads to a route of the server itself, not of a namespace.
    var isServersOwn: Bool {
        guard path.utf8.starts(with: "/_sim/".utf8) else {
            return path.isIdentical(to: "/openapi.yaml")
        }
        return path.isOne(of: Self.serversOwn) || path.utf8.starts(with: "/_sim/namespaces/".utf8)
    }

    private static let serversOwn = [
        "/_sim/health", "/_sim/ready", "/_sim/metrics", "/_sim/docs", "/_sim/namespaces",
    ]

    /// - Parameter elsewhere: the namespace that the request names outside its path. The path wins.
    init(_ text: String, elsewhere: String? = nil) {
        // Works on bytes: a search for characters takes several times as long.
        let bytes = text.utf8.span
        var hasQuery = false
        var hasEscape = false
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "?") { hasQuery = true }
            if bytes[index] == UInt8(ascii: "%") { hasEscape = true }
        }
        if !hasQuery, !hasEscape, !text.begins(with: "/ns"), !text.isEmpty {
            // The usual case.
            namespace = elsewhere ?? Namespaces.defaultName
            path = text
            query = ""
            return
        }
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        query = String(text[end...])
        let whole = Self.normalized(text.utf8[..<end])
        guard whole.isIdentical(to: "/ns") || whole.begins(with: "/ns/") else {
            namespace = elsewhere ?? Namespaces.defaultName
            path = whole.isEmpty ? "/" : whole
            return
        }
        let rest = Substring(whole.utf8.dropFirst("/ns/".utf8.count))
        let name = rest.prefix(before: "/")
        namespace = String(name)
        path = name.endIndex == rest.endIndex ? "/" : String(rest[name.endIndex...])
    }
}

extension Target {
    /// The path with percent-encoded letters, digits and `-._~` decoded. Both forms are equivalent (RFC 3986, section
    /// 6.2.2).
    private static func normalized(_ path: Substring.UTF8View) -> String {
        guard path.contains(UInt8(ascii: "%")) else { return String(Substring(path)) }
        let bytes = Array(path)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let digits = String(decoding: bytes[index...].dropFirst().prefix(2), as: UTF8.self)
            if bytes[index] == UInt8(ascii: "%"), let byte = UInt8(digits, radix: 16), isUnreserved(byte) {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// The routes of the server. Used to tell a wrong method from an unknown path.
struct RouteTable: Sendable {
    /// The framework's endpoint path for a request that matches no route.
    static let notFoundPath = "NotFound"

    private let routes: [(parts: [String], method: String)]
    private let nearest: NearestRoute

    init(_ router: Router<SimContext>) {
        let routes = router.routes.map { route in
            (parts: route.path.description.split(separator: "/").map(String.init), method: route.method.rawValue)
        }
        self.routes = routes
        nearest = NearestRoute(routes)
    }

    /// The error for a request that matches no route: 405 if the path exists with other methods, else 404.
    func refusal(_ method: HTTPRequest.Method, _ path: String) -> PlatformError {
        let parts = path.split(at: "/").map(String.init)
        let matching = routes.filter { Self.matches($0.parts, parts) }
        // A path that a route names literally belongs to that route, even if another route's parameter matches it.
        let named = matching.filter { !$0.parts.contains { $0.hasPrefix("{") } }
        var methods = Set((named.isEmpty ? matching : named).map(\.method))
        if methods.contains("GET") { methods.insert("HEAD") }
        guard !methods.isEmpty else {
            let near = nearest.nearest(to: parts, method.rawValue).map { "; the nearest is \($0)" } ?? ""
            return .unknownRoute(
                "there is no route \(path)",
                [ErrorDetail("path", "does not match any route\(near); GET /openapi.yaml lists all routes")])
        }
        let allowed = methods.sorted()
        return .methodNotAllowed(
            "\(path) does not answer \(method.rawValue); it answers \(allowed.joined(separator: ", "))",
            allowed: allowed)
    }

    private static func matches(_ pattern: [String], _ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { $0.hasPrefix("{") || $0.isIdentical(to: $1) }
    }
}

/// Tracks whether the server is ready to answer requests.
final class Readiness: Sendable {
    private let state = NIOLockedValueBox(false)

    var isReady: Bool { state.withLockedValue { $0 } }

    func open() {
        state.withLockedValue { $0 = true }
    }
}
