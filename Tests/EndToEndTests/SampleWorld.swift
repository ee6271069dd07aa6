import Foundation
import SimulationAPI
import TestSupport
import Testing

/// A namespace with rows in every table, made by API requests.
enum SampleWorld {
    /// Ids for later requests.
    struct Made: Sendable {
        let archive: TarFile
        let session: String
        let items: [String]
        let capture: String
        let partnerToken: String
    }

    private static let scenario = """
        {"name": "sample", "description": "sample", "clock": {"freeze": "2026-01-05T09:00:00Z"},
         "outcomes": [{"match": {"brand": "Prada"}, "result": "invalid", "after": "1h"}],
         "faults": [{"match": {"route": "/nothing"}, "effect": {"delay": {"uniform": ["1s", "2s"]}}, "probability": 0.5},
                    {"match": {"webhook": "session.*"}, "effect": {"reorder": true}, "times": 1}],
         "timeline": [{"at": "30d", "clear_faults": true}],
         "expect": [{"item": {"customer_item_id": "sku-*"}, "at_least": 1}]}
        """

    /// Resets the namespace, fills every table, and saves a snapshot.
    static func make(in world: TestWorld) async throws -> Made {
        func must(_ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil) async throws
            -> Answer
        {
            let answer = try await world.send(method, path, body, token: token)
            try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.json)")
            return answer
        }
        let kept = try await world.send(
            "PUT", "/_sim/scenarios/sample", bytes: Data(scenario.utf8), headers: ["Content-Type": "application/json"])
        try #require(kept.status == 201, "\(kept.json)")
        _ = try await must("POST", "/_sim/scenarios/sample/start", [:])
        let url: JSONValue = "http://127.0.0.1:9/hooks"
        for version in ["v1", "v2"] {
            let made = try await world.send(
                "POST", "/\(version)/webhooks", ["url": url, "secret_key": "s"], token: TestWorld.apiToken,
                headers: ["Api-Version": "1.4"])
            try #require(made.status == 201, "\(made.json)")
        }
        let session = try await world.login()
        let gone = try await world.login()
        _ = try await must("POST", "/sdk/logout", token: gone)
        var items: [String] = []
        for id in ["sku-1", "sim-unknown-after-2h-1", "sim-needs_review-1"] {
            var item = TestWorld.nike.members ?? [:]
            item["customer_item_id"] = .string(id)
            items.append(try await world.submit(session, item: .object(item)))
        }
        try await world.advance("1m")
        _ = try await must("PUT", "/sdk/results/\(items[0])/flag", ["flag": true, "message": "why"], token: session)
        _ = try await must("POST", "/_sim/authentications/\(items[0])/flag/resolve", ["note": "seen"])
        _ = try await must(
            "POST", "/_sim/authentications/\(items[2])/retake", ["regions": ["outer_side"], "message": "again"])
        _ = try await must("POST", "/_sim/authentications/\(items[0])/support-message", ["message": "hello"])
        _ = try await must(
            "PATCH", "/_sim/authentications/\(items[0])", ["catalog": ["product_information": ["brand": "x"]]])
        _ = try await must(
            "PATCH", "/_sim/authentications/\(items[0])", ["market_edge": ["market_value": ["price": "1 USD"]]])
        let retake = try await must("POST", "/sdk/results/\(items[2])/retake", token: session)
        let cancelled = try await world.startCapture(session)
        _ = try await must("POST", "/sdk/captures/\(cancelled.id)/cancel", token: session)
        let capture = try await world.readyCapture(session)
        _ = try await must(
            "POST", "/_sim/authentications", ["count": 3, "template": ["brand": "Nike", "flag": "flagged"]])
        _ = try await must(
            "PATCH", "/_sim/users/DemoOrg-example-user-id",
            ["rate_limits": ["sdk_per_second": 1000], "first_name": "Sam"])
        let partner = try await must("POST", "/partner/login", ["username": "demo", "password": "demo"])
        try await fillComponents(world)
        try await world.advance("5m")
        _ = retake
        _ = try await must("PUT", "/_sim/snapshots/sample")
        let archive = try TarFile(try await world.send("GET", "/_sim/snapshots/sample").body)
        return Made(
            archive: archive, session: session, items: items, capture: capture,
            partnerToken: try #require(partner["token"].text))
    }

    /// Rows in every table of App Components, and a row of each state.
    private static func fillComponents(_ world: TestWorld) async throws {
        _ = try await world.send(
            "POST", "/_sim/outcomes",
            ["match": ["component": "document", "client_id": "none"], "result": "DocumentExpired"])
        _ = try await world.validationCode()
        let finished = try await world.workflowSession()
        for answer in [try await world.runDocument(finished), try await world.runBiometrics(finished)] {
            try #require(answer.status == 200, "\(answer.json)")
        }
        let rejected = try await world.workflowSession(client: [
            "client_id": "x", "document_number": "sim-ClientRejected",
        ])
        try #require(try await world.runDocument(rejected).status == 403)
        let cleared = try await world.mockSession()
        _ = try await world.send("DELETE", "/components/sessions/\(cleared)")
        let open = try await world.workflowSession("document-only")
        _ = try await world.send(
            "POST", "/components/sessions/\(open)/document", ["documentType": "passport", "issuingCountry": "NLD"])
        let picture = try await world.put("document/images/front", open)
        try #require(picture["quality"] == "ok")
    }
}
