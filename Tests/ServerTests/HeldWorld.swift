import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import SimulationAPI
import TestSupport
import Testing

@testable import Server
@testable import Simulation

/// A namespace for one test with a frozen clock, in a server of this process: no socket, no process, no disk.
struct HeldWorld: WorldSteps {
    let held: HeldServer
    /// The beginning of the paths of requests; empty for the server itself.
    let path: String
    var headers: [String: String] = [:]

    static let epoch = 1_767_603_600.0
    private static let made = NIOLockedValueBox(0)
    private static let shared = Task {
        let held = try await HeldServer.open()
        // Stores in memory count their temporary files, and those of other servers of this process begin with 1 too.
        for _ in 0..<1000 { _ = try held.server.namespaces.environment.snapshots.temporaryPath() }
        return held
    }

    /// The server without a namespace in the path.
    var root: HeldWorld { HeldWorld(held: held, path: "") }
    var name: String { String(path.dropFirst("/ns/".count)) }
    var base: String { held.server.namespaces.environment.address.url + path }

    /// Makes a namespace in a server, by default one that tests share.
    static func make(
        in held: HeldServer? = nil, seed: JSONValue = "standard", randomSeed: Int = 7, settings: JSONValue? = nil
    ) async throws -> HeldWorld {
        let number = made.withLockedValue { count in
            count += 1
            return count
        }
        var server = held
        if server == nil { server = try await shared.value }
        let world = HeldWorld(held: try #require(server), path: "/ns/t\(number)")
        let body: JSONValue = [
            "seed": seed, "random_seed": .number(JSONNumber(randomSeed)), "clock": ["freeze": "2026-01-05T09:00:00Z"],
        ]
        let answer = try await world.root.send("PUT", "/_sim/namespaces/\(world.name)", body)
        try #require(answer.status == 201, "\(answer.json)")
        if let settings {
            try #require(try await world.send("PATCH", "/_sim/settings", settings).status == 200)
        }
        return world
    }

    static func withoutLimits() async throws -> HeldWorld { try await make(settings: ["rate_limits": "off"]) }

    /// A namespace whose clock is ahead of real time: to no client a token looks expired before it is.
    static func ahead(settings: JSONValue = ["rate_limits": "off"]) async throws -> HeldWorld {
        let world = try await make(settings: settings)
        let frozen = try await world.send("POST", "/_sim/clock/freeze", ["at": "2100-01-05T09:00:00Z"])
        try #require(frozen.status == 200)
        return world
    }

    func send(
        _ method: String, _ path: String, bytes: Data?, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> ReceivedAnswer {
        var fields = HTTPFields()
        var host = "localhost"
        for (name, value) in self.headers.merging(headers, uniquingKeysWith: { $1 }) {
            if name == "Host" { host = value } else { fields[try #require(HTTPField.Name(name))] = value }
        }
        if let token { fields[.authorization] = "Token \(token)" }
        let reply = try await held.ask(
            try #require(HTTPRequest.Method(rawValue: method)), self.path + path,
            bytes: ByteBuffer(bytes: bytes ?? Data()),
            headers: fields, host: host)
        let head = HTTPHeaders(reply.headers.map { ($0.name.rawName, $0.value) })
        return ReceivedAnswer(status: reply.status, headers: head, body: Data(reply.body.readableBytesView))
    }

    /// Adds a fault rule; answers its id.
    @discardableResult func fault(
        _ route: String, _ effect: JSONValue, times: JSONValue = .null, _ match: JSONObject = [:]
    ) async throws -> String {
        let condition = (["route": .string(route)] as JSONObject).merging(match) { $1 }
        let answer = try await send(
            "POST", "/_sim/faults", ["match": .object(condition), "effect": effect, "times": times])
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["id"].text)
    }
}
