import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import SimulationAPI

/// The transport over HTTP, without sessions: a message is a POST to `/mcp`, and its answer the answer to that. See the protocol's page
/// on transports.
struct ContextHTTP: Sendable {
    let server: ContextServer
    let host: String
    let port: Int
    /// The token that clients must send; `nil` if none is needed, because only this machine can reach the port.
    let token: String?

    /// The maximum size of all messages together that are not whole yet.
    private static let maxBytesInAll = 16 << 20
    /// Their size now.
    private let held = NIOLockedValueBox(0)

    private static let versionHeader = HTTPField.Name("MCP-Protocol-Version")!
    private static let methodHeader = HTTPField.Name("Mcp-Method")!
    private static let nameHeader = HTTPField.Name("Mcp-Name")!
    private static let hostHeader = HTTPField.Name("Host")!
    private static let siteHeader = HTTPField.Name("Sec-Fetch-Site")!

    /// Answers until a signal ends it.
    ///
    /// - Parameter opened: is called with the port once it is open.
    /// - Throws: an `IOError` if the port cannot be listened on.
    func run(opened: @escaping @Sendable (Int) -> Void) async throws {
        let router = Router()
        router.on("mcp", method: .post) { request, _ in
            // A client cancels a request by closing its connection. A connection that Hummingbird watches ends with the answer.
            try await request.body.consumeWithCancellationOnInboundClose { body in
                var response = try await answer(request, body)
                response.headers[.connection] = "close"
                return response
            }
        }
        // Without sessions there is nothing to listen to, or to end.
        for method in [HTTPRequest.Method.get, .delete] {
            router.on("mcp", method: method) { _, _ in
                Response(status: .methodNotAllowed, headers: [.allow: "POST"])
            }
        }
        var logger = Logger(label: "mcp")
        logger.logLevel = .error
        let app = Application(
            router: router, server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { opened($0.localAddress?.port ?? 0) }, logger: logger)
        try await app.runService()
    }

    private func answer(_ request: Request, _ body: RequestBody) async throws -> Response {
        if let refused = refused(request) { return refused }
        let (message, refusal) = try await collected(body)
        if let refusal { return refusal }
        switch ContextMessage(Data(message.readableBytesView), of: "the body") {
        case .invalid(let id, let error): return reply(id, error, status: .badRequest)
        case .notification: return Response(status: .accepted)
        case .request(let called):
            if let error = Self.mismatch(request, called) { return reply(called.id, error, status: .badRequest) }
            let answer = await server.answer(called)
            // Before the version of 2026-07-28 an error of the protocol is an answer like others.
            let status = ContextServer.isModern(called) ? answer.status : 200
            return json(answer.message, status: .init(code: status))
        }
    }

    /// The body; or the refusal of one that is larger than a message may be, or for which there is no room. It is read to its end even
    /// then: most clients send all before they read the answer.
    private func collected(_ body: RequestBody) async throws -> (ByteBuffer, refusal: Response?) {
        var bytes = ByteBuffer()
        var refusal: Response?
        var taken = 0
        defer { held.withLockedValue { $0 -= taken } }
        for try await var part in body where refusal == nil {
            let size = part.readableBytes
            if taken + size > ContextServer.maxBytes {
                let text = "a message has at most \(SizeText.text(ContextServer.maxBytes))"
                refusal = reply(.null, ContextError(.invalidRequest, text), status: .contentTooLarge)
            } else if !take(size) {
                let others =
                    "other clients have sent \(SizeText.text(Self.maxBytesInAll)) of messages that are not whole"
                let error = ContextError(.invalidRequest, "\(others); try again in a moment")
                refusal = reply(.null, error, status: .serviceUnavailable)
            } else {
                taken += size
                bytes.writeBuffer(&part)
            }
            if refusal != nil { bytes = ByteBuffer() }
        }
        return (bytes, refusal)
    }

    private func take(_ size: Int) -> Bool {
        held.withLockedValue { held in
            guard held + size <= Self.maxBytesInAll else { return false }
            held += size
            return true
        }
    }

    /// The answer to a request that a page of another origin, or somebody else, has sent; `nil` if it may be answered. The rules are those
    /// of `/_sim` [D hosts].
    private func refused(_ request: Request) -> Response? {
        let authority = request.head.authority ?? ""
        // The first one became the authority.
        guard request.headers[values: Self.hostHeader].isEmpty else {
            return plain(.badRequest, "the request has more than one Host")
        }
        let named = Self.host(of: authority)
        guard token != nil || Self.isLoopback(named) || named.isIdentical(to: host.lowercased()) else {
            return plain(.forbidden, "the Host must be this machine's loopback address or \(host)")
        }
        let origins = request.headers[values: .origin].map { $0.lowercased() }
        let isOfThisOrigin = origins.allSatisfy { origin in
            // By either scheme: a proxy may add TLS.
            ["http://", "https://"].contains { origin.isIdentical(to: $0 + authority.lowercased()) }
        }
        // Browsers say so of a page's request without an origin.
        let sites = request.headers[values: Self.siteHeader].map { $0.lowercased() }
        guard isOfThisOrigin, sites.allSatisfy({ $0.isOne(of: ["same-origin", "none"]) }) else {
            return plain(.forbidden, "requests of web pages of other origins are not answered")
        }
        // A page may send any other type to anybody without asking.
        let type = request.headers[.contentType]?.prefix { $0 != ";" } ?? ""
        guard type.lowercased().filter({ !$0.isWhitespace }).isIdentical(to: "application/json") else {
            return plain(.unsupportedMediaType, "the Content-Type must be application/json")
        }
        if let token {
            let given = request.headers[.authorization] ?? ""
            guard given.isIdentical(to: "Bearer \(token)") else {
                return plain(.unauthorized, "the header Authorization must be Bearer and the token of --control-token")
            }
        }
        return nil
    }

    /// The host of `Host`, without the port.
    private static func host(of authority: String) -> String {
        let text = authority.lowercased()
        return String(text.hasPrefix("[") ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" })
    }

    static func isLoopback(_ host: String) -> Bool { host.isOne(of: ["localhost", "127.0.0.1", "::1", "[::1]"]) }

    /// The error for headers that say something else than the body; `nil` if they agree, or the request is of a version without
    /// these headers.
    private static func mismatch(_ request: Request, _ called: ContextRequest) -> ContextError? {
        let version = ContextServer.version(of: called)?.text
        let given = request.headers[versionHeader]
        guard version != nil || given.map({ $0.isIdentical(to: ContextServer.version) }) ?? false else { return nil }
        func error(_ name: String, _ part: String) -> ContextError {
            ContextError(.headerMismatch, "the header \(name) must be the \(part) of the body")
        }
        guard let version, let given, given.isIdentical(to: version) else {
            return error("MCP-Protocol-Version", "params._meta protocol version")
        }
        guard (request.headers[methodHeader] ?? "").isIdentical(to: called.method) else {
            return error("Mcp-Method", "method")
        }
        guard called.method.isIdentical(to: "tools/call"), let name = called.params["name"]?.text else { return nil }
        guard (request.headers[nameHeader] ?? "").isIdentical(to: name) else { return error("Mcp-Name", "params.name") }
        return nil
    }

    private func reply(_ id: JSONValue, _ error: ContextError, status: HTTPResponse.Status) -> Response {
        json(ContextReply(id: id, result: .failure(error)).message, status: status)
    }

    private func json(_ value: JSONValue, status: HTTPResponse.Status) -> Response {
        // A value that was read as JSON, or made here, can be written as JSON.
        let bytes = (try? WireJSON.encode(value)) ?? Data()
        return Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}
