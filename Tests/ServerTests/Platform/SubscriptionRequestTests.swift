import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Subscriptions and deliveries by the control API.
@Suite struct SubscriptionRequestTests {
    private func ids(_ world: TestWorld) async throws -> [String] {
        try await world.send("GET", "/_sim/webhooks")["webhooks"].items.compactMap { $0["id"].text }
    }

    @Test func aSubscriptionIsMadeChangedAndDeleted() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send(
            "POST", "/_sim/webhooks", ["url": "http://127.0.0.1:9/hooks", "secret_key": "one"])
        try #require(made.status == 201, "\(made.json)")
        #expect(made["organization"] == "DemoOrg" && made["version"] == "v2" && made["status"] == "active")
        #expect(made["secret_key"] == .null && made["events"].items.count == 4)
        #expect(try await world.send("GET", "/_sim/webhooks")["webhooks"].items == [made.json])
        let id = try #require(made["id"].text)
        let patched = try await world.send(
            "PATCH", "/_sim/webhooks/\(id)", ["secret_key": "two", "events": ["session.updated"]])
        #expect(patched.status == 200 && patched["events"] == ["session.updated"] && patched["id"] == made["id"])
        let deleted = try await world.send("DELETE", "/_sim/webhooks/\(id)")
        #expect(deleted.status == 204 && deleted.body.isEmpty)
        #expect(try await world.send("DELETE", "/_sim/webhooks/\(id)").status == 404)
        #expect(try await ids(world).isEmpty)
    }

    @Test func anotherOrganizationIsNamedAndTheRouteAlwaysCreates() async throws {
        let world = try await TestWorld.make()
        let body: JSONValue = [
            "organization": "OtherOrg", "url": "http://127.0.0.1:9/hooks", "secret_key": "s", "username": "OtherOrg-a",
            "format": "event", "signature": "hex",
        ]
        let (first, second) = (
            try await world.send("POST", "/_sim/webhooks", body), try await world.send("POST", "/_sim/webhooks", body)
        )
        #expect(first.status == 201 && second.status == 201 && first["id"] != second["id"])
        #expect(first["organization"] == "OtherOrg" && first["format"] == "event" && first["signature"] == "hex")
        let own = try await world.send("GET", "/v2/webhooks", token: "other-api-token")
        #expect(own["webhooks"].items.count == 2)
        #expect(try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)["webhooks"].items.isEmpty)
        #expect(try await world.send("GET", "/_sim/choices")["lists.organizations.1.id"] == "OtherOrg")
        // Neither journaled nor limited, and no other namespace's.
        #expect(try await world.send("GET", "/_sim/requests?route=/_sim/*")["requests"].items.isEmpty)
        let other = try await TestWorld.make()
        let id = try #require(first["id"].text)
        for method in ["DELETE", "PATCH"] {
            let answer = try await other.send(
                method, "/_sim/webhooks/\(id)", method == "PATCH" ? ["secret_key": "x"] : nil)
            #expect(answer.status == 404 && answer["error"].text?.contains(id) == true, "\(answer.json)")
        }
        #expect(try await ids(world).count == 2)
    }

    @Test(
        arguments: [
            (["organization": "nobody"], "organization"), (["organization": 3], "organization"),
            (["url": .null], "url"),
            (["url": "ftp://x"], "url"), (["secret_key": ""], "secret_key"), (["events": []], "events"),
            (["events": ["done"]], "events[0]"), (["format": "xml"], "format"), (["secret": "s"], "secret"),
        ] as [(JSONObject, String)])
    func aWrongSubscriptionIsRefused(change: JSONObject, field: String) async throws {
        let world = try await TestWorld.make()
        let good: JSONObject = ["url": "http://127.0.0.1:9/hooks", "secret_key": "s"]
        let answer = try await world.send("POST", "/_sim/webhooks", .object(good.merging(change) { $1 }))
        #expect(answer.status == 400 && answer["details.0.field"].text == field, "\(answer.json)")
        if field == "organization", change["organization"] == "nobody" {
            #expect(answer["error"].text?.contains("DemoOrg, OtherOrg") == true)
        }
        #expect(try await ids(world).isEmpty)
    }

    @Test func theControlAPIRedeliversAndTriggersWebhooks() async throws {
        let world = try await TestWorld.withoutLimits()
        let id = try await world.generatedItem()
        let nobody = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "support.message", "entrupy_id": .string(id)])
        #expect(nobody.status == 202 && nobody["deliveries"] == [])
        try await world.subscribe(url: "http://127.0.0.1:9/", ["secret_key": "not-shown"])
        let triggered = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "certificate.transfer", "entrupy_id": .string(id)])
        #expect(triggered.status == 202 && triggered["deliveries"].items.count == 1)
        let delivery = try #require(triggered["deliveries.0.id"].text)
        let again = try await world.send("POST", "/_sim/webhook-deliveries/\(delivery)/redeliver")
        #expect(again.status == 200 && again["event_id"] == triggered["event_id"])
        #expect(try await world.webhookDeliveries().count == 2)
        for wrong: JSONValue in [
            ["event": "x", "entrupy_id": .string(id)], ["entrupy_id": .string(id)], ["event": "support.message"],
        ] {
            #expect(try await world.send("POST", "/_sim/webhooks/trigger", wrong).status == 400)
        }
        let missing = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "support.message", "entrupy_id": "nope"])
        #expect(missing.status == 404)
        #expect(try await world.send("POST", "/_sim/webhook-deliveries/nope/redeliver").status == 404)
        let page = try await world.send("GET", "/_sim/webhook-deliveries?limit=1&entrupy_id=\(id)")
        #expect(page["deliveries"].items.count == 1 && page["next_cursor"] != .null)
        #expect(try await world.send("GET", "/_sim/webhook-deliveries?status=late").status == 400)
    }
}
