import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import SimulationAPI
import TestSupport
import Testing

@testable import Server

/// A namespace for one test, with a frozen clock, of a server in this process. A request takes its whole way, from the name of the host to the
/// bytes of the answer, without a connection.
struct TestWorld: PlatformClient {
    private let server: HeldServer
    let prefix: String
    var headers: [String: String] = [:]

    private static let made = NIOLockedValueBox(0)
    private static let url = "http://sim.test"
    private static let shared = Task {
        let held = try await HeldServer.open()
        held.server.namespaces.environment.address.set(url, followsRequests: false)
        return held
    }

    /// Makes a namespace in the server that these tests share.
    static func make(
        seed: JSONValue = "standard", randomSeed: Int = 7, settings: JSONValue? = nil
    ) async throws -> TestWorld {
        let name = made.withLockedValue { count in
            count += 1
            return "t\(count)"
        }
        let server = try await shared.value
        try await TestWorld(server: server, prefix: "").makeNamespace(
            name, seed: seed, randomSeed: randomSeed, settings: settings)
        return TestWorld(server: server, prefix: "/ns/\(name)")
    }

    static func withoutLimits() async throws -> TestWorld {
        try await make(settings: ["rate_limits": "off"])
    }

    /// A namespace whose clock is ahead of real time: to no client a token looks expired before it is.
    static func ahead(settings: JSONValue = ["rate_limits": "off"]) async throws -> TestWorld {
        let world = try await make(settings: settings)
        try #require(
            try await world.send("POST", "/_sim/clock/freeze", ["at": "2100-01-05T09:00:00Z"]).status == 200)
        return world
    }

    /// The server's root, for what belongs to no namespace.
    var root: TestWorld { TestWorld(server: server, prefix: "") }

    /// The address with which links of this namespace begin.
    var base: String { Self.url + prefix }

    private init(server: HeldServer, prefix: String) {
        self.server = server
        self.prefix = prefix
    }

    func exchange(_ method: String, _ path: String, bytes: Data?, headers: [(name: String, value: String)]) async throws
        -> HTTPAnswer
    {
        var fields = HTTPFields()
        for (name, value) in headers { fields.append(HTTPField(name: try #require(.init(name)), value: value)) }
        let reply = try await server.ask(
            try #require(.init(method)), prefix + path, bytes: bytes.map { ByteBuffer(bytes: $0) }, headers: fields)
        let received = HTTPHeaders(reply.headers.map { ($0.name.rawName, $0.value) })
        return HTTPAnswer(status: reply.status, headers: received, body: Data(buffer: reply.body))
    }
}
