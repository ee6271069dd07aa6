import SimulationAPI
import TestSupport
import Testing

/// A fingerprint as each API shows it. Its rules are `FingerprintRuleTests`.
@Suite struct FingerprintTests {
    private func start(
        _ world: TestWorld, _ token: String, _ activity: String, parent: String? = nil
    ) async throws -> TestWorld.Answer {
        let item: JSONValue = ["brand": "Gucci", "item_type": "Handbag"]
        var body: JSONObject = ["item": item, "activity": .string(activity)]
        body["fingerprint_parent"] = parent.map { .string($0) }
        return try await world.send("POST", "/sdk/captures", .object(body), token: token)
    }

    /// Starts and submits a capture, and waits for the result. Returns the item's id.
    private func run(
        _ world: TestWorld, _ token: String, _ activity: String, parent: String? = nil
    ) async throws -> String {
        let capture = try await start(world, token, activity, parent: parent)
        try #require(capture.status == 201, "\(capture.json)")
        let captureID = capture["capture_id"].text ?? ""
        for step in capture["steps"].items {
            _ = try await world.upload(captureID, step["region_id"].text ?? "", token)
        }
        let submitted = try await world.send("POST", "/sdk/captures/\(captureID)/submit", token: token)
        try #require(submitted.status == 200, "\(submitted.json)")
        try await world.advance("10s")
        return submitted["entrupy_id"].text ?? ""
    }

    private func world() async throws -> (TestWorld, String) {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        return (world, try await world.login())
    }

    private func shown(_ world: TestWorld, _ id: String) async throws -> (v1: JSONValue, v2: JSONValue) {
        let first = try await world.send(
            "GET", "/v1/authentications/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": "1.4"])
        return (
            first["item"], try await world.send("GET", "/v2/authentications/\(id)", token: TestWorld.apiToken)["item"]
        )
    }

    @Test func anItemIsRegisteredAndComparedWith() async throws {
        let (world, token) = try await world()
        let registered = try await run(world, token, "fingerprint_register")
        let compared = try await run(world, token, "fingerprint_compare", parent: registered)
        let ordinary = try await run(world, token, "authentication")
        let result = try await world.result(registered, token)
        #expect(result["status.result.id"] == "registered" && result["more_details"] == .null)
        #expect(result["status.flag.is_flaggable"] == false)
        let match = try await world.result(compared, token)
        #expect(match["status.result.id"] == "match" && match["status.result.display.header"] == "Match")
        let (first, second) = try await shown(world, compared)
        #expect(first["activity.name"] == "fingerprint" && first["activity.mode"] == "compare")
        #expect(second["activity.name"] == "fingerprint" && second["activity.mode"] == "compare")
        #expect(second["fingerprint_parent"].text == registered && second["certificate"] == .null)
        #expect(try await shown(world, registered).v2["activity.mode"] == "register")
        let plain = try await shown(world, ordinary)
        #expect(plain.v1["activity.mode"] == .null && plain.v2["activity.mode"] == "standard_authentication")
        #expect(plain.v2["fingerprint_parent"] == .null && plain.v2["certificate"] != .null)
        let flag = try await world.send("PUT", "/sdk/results/\(registered)/flag", ["flag": true], token: token)
        #expect(flag.status == 400 && flag["details.0.problem"].text?.contains("fingerprint") == true)
        for (name, exclude, ids) in [
            ("fingerprint", false, [compared, registered]), ("authentication", false, [ordinary]),
            ("fingerprint", true, [ordinary]),
        ] {
            let found = try await world.send(
                "POST", "/v2/search/authentications",
                ["filters": [["key": "activity.name", "value": .string(name), "exclude": .bool(exclude)]]],
                token: TestWorld.apiToken)
            #expect(found["items"].items.map { $0["entrupy_id"].text } == ids, "\(name)")
        }
    }
}
