import EntrupyAPI
import Foundation
import TestSupport
import Testing

@Suite struct DeterminismTests {
    /// Two processes with one seed and a frozen clock answer the same sequence of requests with the same bytes.
    @Test func equalRequestsGiveEqualBytesInTwoProcesses() async throws {
        let public_url = ["--public-url", "http://sim.test"]
        let first = try SimProcess(["--in-memory", "--random-seed", "42"] + public_url)
        let second = try SimProcess(["--in-memory", "--random-seed", "42"] + public_url)
        let left = try await transcript(first)
        let right = try await transcript(second)
        #expect(left.count > 40)
        #expect(left.count == right.count)
        for (one, other) in zip(left, right) { #expect(one == other) }
        first.stop()
        second.stop()
    }

    @Test func anotherSeedGivesOtherTokens() async throws {
        let server = try SimProcess(["--in-memory", "--random-seed", "43"])
        defer { server.stop() }
        let root = TestWorld(base: server.baseURL)
        let ours = try await root.authorize()
        let shared = try await TestWorld(base: SimProcess.shared.baseURL).authorize()
        #expect(ours["signed_authorization_request"] != shared["signed_authorization_request"])
    }

    /// Makes a fixed sequence of requests to all parts of the API. Returns each request with all bytes of its answer.
    private func transcript(_ server: SimProcess) async throws -> [String] {
        let root = TestWorld(base: server.baseURL)
        var lines: [String] = []
        func send(
            _ world: TestWorld, _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
            bytes: Data? = nil, headers: [String: String] = [:]
        ) async throws -> JSONValue {
            let answer =
                try await bytes == nil
                ? world.send(method, path, body, token: token, headers: headers)
                : world.send(method, path, bytes: bytes, token: token, headers: headers)
            let fields = answer.headers.filter { $0.name.lowercased() != "date" }
                .map { "\($0.name): \($0.value)" }.sorted().joined(separator: "\n")
            lines.append("\(method) \(path)\n\(answer.status)\n\(fields)\n\(answer.body.base64EncodedString())")
            return answer.json
        }
        _ = try await send(root, "PUT", "/_sim/namespaces/a", ["clock": ["freeze": .string(TestWorld.morning)]])
        let world = TestWorld(base: "\(server.baseURL)/ns/a")
        let user: JSONValue = [
            "sdk_authorization_request": "r", "unique_user_id": "example-user-id", "email": "a@b", "first_name": "Zoë",
        ]
        let authorize = "/v2/integrations/authorize-user"
        let signed = try await send(world, "POST", authorize, user, token: TestWorld.apiToken)
        _ = try await send(world, "POST", authorize, ["unique_user_id": 1], token: TestWorld.apiToken)
        _ = try await send(world, "POST", authorize, ["email": "x@y"], token: "nope")
        let login: JSONObject = ["signed_authorization_request": signed["signed_authorization_request"]]
        let session = try await send(world, "POST", "/sdk/login", .object(login))
        _ = try await send(world, "POST", "/sdk/login", .object(login))
        let token = session["token"].text
        for path in [
            "/sdk/session", "/sdk/config", "/sdk/config?config_type=debug", "/nope", "/sdk/results/x", "/v1/health",
        ] {
            _ = try await send(world, "GET", path, token: token, headers: ["Accept-Language": "ja"])
        }
        for type in ["production", "debug"] {
            let capture = try await send(
                world, "POST", "/sdk/captures", ["config_type": .string(type), "item": TestWorld.nike], token: token)
            let id = capture["capture_id"].text ?? ""
            for step in capture["steps"].items {
                let path = "/sdk/captures/\(id)/images/\(step["region_id"].text ?? "")"
                _ = try await send(world, "PUT", path, token: token, bytes: TestWorld.picture)
            }
            let item = try await send(world, "POST", "/sdk/captures/\(id)/submit", token: token)
            _ = try await send(world, "POST", "/sdk/captures/\(id)/submit", token: token)
            _ = try await send(world, "POST", "/_sim/clock/advance", ["by": "5s"])
            let result = "/sdk/results/\(item["entrupy_id"].text ?? "")"
            _ = try await send(world, "GET", result, token: token)
            _ = try await send(world, "PUT", "\(result)/flag", ["flag": true, "message": "é"], token: token)
            _ = try await send(
                world, "POST", "/_sim/authentications/\(item["entrupy_id"].text ?? "")/flag/resolve",
                ["note": "n", "result": "unknown"])
            _ = try await send(world, "GET", result, token: token)
        }
        for path in ["/sdk/captures?limit=1", "/_sim/settings", "/_sim/clock", "/_sim/info"] where path != "/_sim/info"
        {
            _ = try await send(world, "GET", path, token: token)
        }
        _ = try await send(world, "POST", "/_sim/reset")
        _ = try await send(world, "POST", authorize, user, token: TestWorld.apiToken)
        // A namespace made without a random seed gets one that follows from the server's.
        _ = try await send(root, "GET", "/_sim/namespaces")
        return lines.filter { !$0.hasPrefix("GET /_sim/namespaces\n") }
    }
}
