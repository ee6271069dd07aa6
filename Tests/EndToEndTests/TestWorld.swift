import Foundation
import NIOCore
import NIOHTTP1
import Outgoing
import SimulationAPI
import TestSupport
import Testing

typealias Answer = HTTPAnswer

extension OutgoingClient {
    /// A client for tests. A test on a busy machine may not read for a while, and does not check how long an answer takes.
    static let patient = OutgoingClient(connectTimeout: .minutes(10))

    /// The whole answer, from a server that is slow because the machine is busy.
    func whole(
        _ request: OutgoingRequest, within time: TimeAmount = .minutes(10)
    ) async throws -> (status: Int, headers: HTTPHeaders, body: Data) {
        let answer = try await fetch(request, deadline: .now() + time, upTo: 100_000_000)
        return (answer.status, answer.headers, Data(answer.body.readableBytesView))
    }
}

/// A namespace of a real server for one test, with a frozen clock, and requests to it over HTTP.
struct TestWorld: PlatformClient {
    let base: String
    var headers: [String: String] = [:]

    private static let made = Mutex(0)

    /// Makes a namespace in a server, by default the shared one.
    static func make(
        in server: SimProcess = .shared, seed: JSONValue = "standard", randomSeed: Int = 7, settings: JSONValue? = nil
    ) async throws -> TestWorld {
        let number = made.withLock { count in
            count += 1
            return count
        }
        let name = "t\(number)-\(getpid())"
        try await TestWorld(base: server.baseURL).makeNamespace(
            name, seed: seed, randomSeed: randomSeed, settings: settings)
        return TestWorld(base: "\(server.baseURL)/ns/\(name)")
    }

    static func withoutLimits(in server: SimProcess = .shared) async throws -> TestWorld {
        try await make(in: server, settings: ["rate_limits": "off"])
    }

    /// A namespace whose clock is ahead of real time: to no client a token looks expired before it is.
    static func ahead(settings: JSONValue = ["rate_limits": "off"]) async throws -> TestWorld {
        let world = try await make(settings: settings)
        try #require(
            try await world.send("POST", "/_sim/clock/freeze", ["at": "2100-01-05T09:00:00Z"]).status == 200)
        return world
    }

    var prefix: String { String(base.dropFirst("http://".count).drop { $0 != "/" }) }

    func exchange(_ method: String, _ path: String, bytes: Data?, headers: [(name: String, value: String)]) async throws
        -> HTTPAnswer
    {
        var request = try OutgoingRequest(HTTPMethod(rawValue: method), base + path)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let bytes { request.body = .bytes(ByteBuffer(bytes: bytes)) }
        let response = try await OutgoingClient.patient.whole(request)
        return HTTPAnswer(status: response.status, headers: response.headers, body: response.body)
    }

    /// The root of the repository.
    static let root = Checkout.root
}
