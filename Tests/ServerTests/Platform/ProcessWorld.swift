import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import SimulationAPI
import TestSupport
import Testing

@testable import Server

// Test worlds of a server in this process: each request passes the boundary, the routes, the decoding, the rule and the encoding, and no
// socket. Webhooks are sent to real receivers.

extension TestWorld {
    /// One server for all tests: its threads last as long as they do.
    private static let shared = Task { try await opened() }

    /// The server's own routes, and the namespace "default".
    static var server: TestWorld { get async throws { try await shared.value } }

    /// A server of its own.
    static func opened(_ configure: (inout ServerConfiguration) -> Void = { _ in }) async throws -> TestWorld {
        let (held, base) = (try await HeldServer.open(configure), "http://localhost")
        let publicURL = held.server.configuration.publicURL
        held.server.namespaces.environment.address.set(publicURL ?? base, followsRequests: publicURL == nil)
        return TestWorld(base: base, over: held.transport)
    }

    /// Makes a namespace with a frozen clock.
    static func make(
        seed: JSONValue = "standard", randomSeed: Int = 7, settings: JSONValue? = nil
    ) async throws -> TestWorld {
        try await server.made(seed: seed, randomSeed: randomSeed, settings: settings)
    }

    static func withoutLimits() async throws -> TestWorld { try await make(settings: ["rate_limits": "off"]) }

    /// A namespace whose clock is ahead of real time: to no client a token looks expired before it is.
    static func ahead(settings: JSONValue = ["rate_limits": "off"]) async throws -> TestWorld {
        let world = try await make(settings: settings)
        let frozen = try await world.send("POST", "/_sim/clock/freeze", ["at": "2100-01-05T09:00:00Z"])
        try #require(frozen.status == 200)
        return world
    }

    /// One server for the tests of held requests.
    private static let holding = Task { try await HeldServer.open() }

    /// Makes a namespace with a frozen clock whose requests faults can hold.
    static func holdable(randomSeed: Int = 7, settings: JSONValue? = nil) async throws -> TestWorld {
        try await holding.value.world.made(randomSeed: randomSeed, settings: settings)
    }
}

extension HeldServer {
    /// The server's own routes, and the namespace "default". Requests begin behind the boundary, and can be held.
    var world: TestWorld {
        TestWorld(base: "http://localhost") { method, url, headers, body in
            var fields = HTTPFields()
            for (name, value) in headers {
                fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
            }
            let reply = try await ask(
                try #require(HTTPRequest.Method(method)), String(url.dropFirst("http://localhost".count)),
                bytes: body.map { ByteBuffer(bytes: $0) }, headers: fields)
            return reply.received
        }
    }

    /// Makes the requests of a ``TestWorld``.
    fileprivate var transport: TestWorld.Transport {
        { method, url, headers, body in
            var fields = HTTPFields()
            for (name, value) in headers where name.lowercased() != "host" {
                fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
            }
            if let body { fields[.contentLength] = "\(body.count)" }
            let target = url.dropFirst("http://".count).drop { $0 != "/" }
            let head = HTTPRequest(
                method: try #require(HTTPRequest.Method(method)), scheme: "http",
                authority: headers.first(name: "Host") ?? "localhost", path: String(target), headerFields: fields)
            let reply = try await exchange(head, ByteBuffer(bytes: body ?? Data()))
            return reply.received
        }
    }
}

extension HeldServer.Reply {
    fileprivate var received: TestWorld.Answer {
        TestWorld.Answer(
            status: status, headers: HTTPHeaders(headers.map { ($0.name.rawName, $0.value) }),
            body: Data(body.readableBytesView))
    }
}
