import SimulationAPI
import TestSupport
import Testing

/// Captures that register a fingerprint or compare with one.
@Suite struct FingerprintTests {
    private func start(
        _ world: TestWorld, _ token: String, _ activity: String, parent: String? = nil, id: String? = nil,
        type: String = "production"
    ) async throws -> Answer {
        var item: JSONObject = ["brand": "Gucci", "item_type": "Handbag"]
        item["customer_item_id"] = id.map { .string($0) }
        var body: JSONObject = ["item": .object(item), "activity": .string(activity), "config_type": .string(type)]
        body["fingerprint_parent"] = parent.map { .string($0) }
        return try await world.send("POST", "/sdk/captures", .object(body), token: token)
    }

    /// Starts and submits a capture, and waits for the result. Returns the item's id.
    private func run(
        _ world: TestWorld, _ token: String, _ activity: String, parent: String? = nil, id: String? = nil,
        type: String = "production"
    ) async throws -> String {
        let capture = try await start(world, token, activity, parent: parent, id: id, type: type)
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

    @Test func rulesAndMagicIDsDecideComparisons() async throws {
        let (world, token) = try await world()
        let parent = try await run(world, token, "fingerprint_register")
        // A rule with a result of authentications does not decide a comparison, nor the other way round.
        for result in ["not_supported", "no_match"] {
            _ = try await world.send(
                "POST", "/_sim/outcomes", ["match": ["customer_item_id": "ruled"], "result": .string(result)])
        }
        for (id, result) in [
            ("sim-no_match", "no_match"), ("sim-unknown-after-1s", "unknown"), ("ruled", "no_match"),
            ("plain", "match"),
        ] {
            let item = try await run(world, token, "fingerprint_compare", parent: parent, id: id)
            #expect(try await world.result(item, token)["status.result.id"].text == result, "\(id)")
        }
        let authenticated = try await run(world, token, "authentication", id: "ruled")
        #expect(try await world.result(authenticated, token)["status.result.id"] == "not_supported")
        let debug = try await run(world, token, "fingerprint_compare", parent: parent, type: "debug")
        #expect(try await world.result(debug, token)["status.result.id"] == "invalid")
        let path = "/_sim/authentications/\(authenticated)"
        #expect(try await world.send("PATCH", path, ["result": "match"]).status == 400)
        let set = try await world.send(
            "PATCH", "/_sim/authentications/\(debug)", ["result": "no_match"])
        #expect(set["result.id"] == "no_match")
        #expect(try await world.send("PATCH", "/_sim/authentications/\(debug)", ["result": "authentic"]).status == 400)
    }

    @Test func invalidFingerprintComparisonsAreRefused() async throws {
        let (world, token) = try await world()
        let parent = try await run(world, token, "fingerprint_register")
        let ordinary = try await run(world, token, "authentication")
        let compared = try await run(world, token, "fingerprint_compare", parent: parent)
        let invalid = try await run(world, token, "fingerprint_register", type: "debug")
        let transfer = try await world.send(
            "POST", "/v2/authentications/\(parent)/certificate/transfers", ["to": ["email": "a@b"]],
            token: TestWorld.apiToken)
        #expect(transfer.status == 409 && transfer["details.0.field"] == "activity", "\(transfer.json)")
        let rule = try await world.send("POST", "/_sim/outcomes", ["match": [:], "result": "no_match"])
        #expect(rule["notes.0"].text?.contains("only compared fingerprints can have") == true, "\(rule.json)")
        for settings: JSONValue in [["result": ["default": "match"]], ["flagging": ["eligible": ["no_match"]]]] {
            #expect(try await world.send("PATCH", "/_sim/settings", settings).status == 400)
        }
        let captures = try await world.send("GET", "/sdk/captures?limit=25", token: token)["items"].items.count
        for (activity, parent, id, field) in [
            ("fingerprint_compare", nil, nil, "fingerprint_parent"),
            ("fingerprint_compare", "NOBODY22", nil, "fingerprint_parent"),
            ("fingerprint_compare", ordinary, nil, "fingerprint_parent"),
            ("fingerprint_compare", compared, nil, "fingerprint_parent"),
            ("fingerprint_register", parent, nil, "fingerprint_parent"),
            ("fingerprint_compare", invalid, nil, "fingerprint_parent"),
            ("authentication", parent, nil, "fingerprint_parent"), ("fingerprint", nil, nil, "activity"),
            ("authentication", nil, "sim-match", "item.customer_item_id"),
            ("fingerprint_compare", parent, "sim-authentic", "item.customer_item_id"),
        ] as [(String, String?, String?, String)] {
            let refused = try await start(world, token, activity, parent: parent, id: id)
            #expect(refused.status == 400 && refused["details.0.field"].text == field, "\(activity): \(refused.json)")
        }
        let stranger = try await TestWorld(base: world.base).authorizeOther()
        let other = try await start(world, stranger, "fingerprint_compare", parent: parent)
        #expect(other.status == 400, "another organization's")
        #expect(try await world.send("GET", "/sdk/captures?limit=25", token: token)["items"].items.count == captures)
    }
}

extension TestWorld {
    /// The session token of a user of the other organization.
    fileprivate func authorizeOther() async throws -> String {
        let signed = try await send(
            "POST", "/v2/integrations/authorize-user",
            ["sdk_authorization_request": "r", "unique_user_id": "other-user", "email": "o@example.com"],
            token: "other-api-token")
        let body: JSONValue = ["signed_authorization_request": signed["signed_authorization_request"]]
        return try await send("POST", "/sdk/login", body)["token"].text ?? ""
    }
}
