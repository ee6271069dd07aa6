import Foundation
import NIOCore
import NIOHTTP1
import Outgoing
import SimulationAPI
import Synchronization
import TestSupport
import Testing

typealias Answer = ReceivedAnswer

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

/// A namespace for one test, with a frozen clock, and requests to it.
struct TestWorld: WorldSteps {
    let base: String
    /// The headers that every request has besides its own.
    var headers: [String: String] = [:]

    static let morning = "2026-01-05T09:00:00Z"
    /// `morning` in epoch seconds.
    static let epoch = 1_767_603_600.0
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
        let root = TestWorld(base: server.baseURL)
        let answer = try await root.send(
            "PUT", "/_sim/namespaces/\(name)",
            [
                "seed": seed, "random_seed": .number(JSONNumber(randomSeed)), "clock": ["freeze": .string(morning)],
            ])
        try #require(answer.status == 201)
        let world = TestWorld(base: "\(server.baseURL)/ns/\(name)")
        if let settings {
            try #require(try await world.send("PATCH", "/_sim/settings", settings).status == 200)
        }
        return world
    }

    func send(
        _ method: String, _ path: String, bytes: Data?, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = try OutgoingRequest(HTTPMethod(rawValue: method), base + path)
        for (name, value) in self.headers.merging(headers, uniquingKeysWith: { $1 }) {
            request.headers.add(name: name, value: value)
        }
        if let token { request.headers.add(name: "Authorization", value: "Token \(token)") }
        if let bytes { request.body = .bytes(ByteBuffer(bytes: bytes)) }
        let response = try await OutgoingClient.patient.whole(request)
        let answer = Answer(status: response.status, headers: response.headers, body: response.body)
        let target = String(base.dropFirst("http://".count).drop { $0 != "/" }) + path
        for problem in Contract.shared.problems(method, target, request: bytes, answer) {
            Issue.record("\(method) \(target) \(answer.status) departs from openapi/entrupy-sim.yaml: \(problem)")
        }
        return answer
    }

    /// The root of the repository.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
