import Foundation
import Hashes
import SimulationAPI
import TestSupport
import Testing

@Suite struct WebhookTests {
    @Test(arguments: ["v1", "v2"], ["items", "event"])
    func webhooksReportAnItemFromSubmissionToFlagResolution(version: String, format: String) async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let token = try await world.login()
        try await world.subscribe(receiver, version: version, ["format": .string(format)])
        let id = try await world.submit(token)
        try await world.advance("5s")
        let flag = "/sdk/results/\(id)/flag"
        for isSet in [true, false, true] {
            _ = try await world.send("PUT", flag, ["flag": .bool(isSet)], token: token)
        }
        let resolve = "/_sim/authentications/\(id)/flag/resolve"
        _ = try await world.send("POST", resolve, ["note": "Seen again", "result": "unknown"])
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "authentic"])
        try await world.settleWebhooks()
        let told = receiver.deliveries
        let items = told.map { format == "items" ? $0.item : $0.json["data"] }
        try #require(
            zip(told, items).map { [.string($0.event ?? ""), $1["status.result.id"], $1["status.flag"]] } == [
                ["session.updated", "needs_review", nil], ["session.completed", "authentic", nil],
                ["session.updated", "authentic", "flagged"], ["session.updated", "authentic", nil],
                ["session.updated", "authentic", "flagged"], ["session.updated", "unknown", "resolved"],
                ["session.updated", "authentic", "resolved"],
            ])
        #expect(Set(told.map { $0.headers["X-Sim-Event-Id"] }).count == told.count)
        #expect(items[1]["entrupy_id"].text == id)
        // The items of a v2 subscription are v1.4 items.
        if format == "items" {
            let minor = version == "v1" ? "1.3" : "1.4"
            let item = try await world.send(
                "GET", "/v1/authentications/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": minor])
            #expect(told.last?.json == ["items": [item["item"]]])
            return
        }
        #expect(told.someAndAll { $0.json["event"].text == $0.event })
        #expect(told.someAndAll { $0.headers["X-Sim-Event-Id"] == [$0.json["event_id"].text ?? "-"] })
        let completed = told[1].json
        // Times of v2 are whole seconds.
        #expect(
            completed["created_at"].text == (version == "v1" ? "2026-01-05T09:00:05.000000Z" : "2026-01-05T09:00:05Z"))
        #expect(completed["data.entrupy_id"].text == id && completed["data.customer_item_id"] == "sku-xyz")
        let item = try await world.send(
            "GET", "/\(version)/authentications/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
        let site = item[version == "v1" ? "item.certificate.site" : "item.certificate.url"]
        #expect(completed["data.certificate_url"] == site && site != .null)
        #expect(items[0]["certificate_url"] == .null && items[0].members?["certificate_url"] != nil)
        // Except for the flat members, the last body equals the item.
        let flat: JSONValue = ["certificate_url": nil, "customer_item_id": nil]
        #expect(items.last?.merging(flat) == item["item"])
    }

    @Test(arguments: [nil, "sha256-base64", "sha256-hex", "hex"] as [String?])
    func theSignatureIsOverExactlyTheBytesThatAreSent(form: String?) async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver, form.map { ["signature": .string($0)] } ?? [:])
        _ = try await world.generatedItem(["customer_item_id": "Größe 42 / 👟"])
        try await world.settleWebhooks()
        #expect(receiver.deliveries.count == 2)
        for delivery in receiver.deliveries {
            let key = HMACSHA256(key: Data("s3crét".utf8))
            let code = key.code(for: delivery.body)
            let hex = code.map { String(format: "%02x", $0) }.joined()
            let expected =
                switch form {
                case "hex": hex
                case "sha256-hex": "SHA256:\(hex)"
                default: "SHA256:\(Data(code).base64EncodedString())"
                }
            #expect(delivery.headers["Entrupy-Signature"] == [expected])
            #expect(delivery.headers["Content-Type"] == ["application/json"])
        }
    }

    @Test func aDebugSubmissionIsCompletedAtOnce() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let token = try await world.login()
        try await world.subscribe(receiver)
        _ = try await world.submit(token, type: "debug")
        try await world.settleWebhooks()
        #expect(receiver.deliveries.map { $0.event } == ["session.updated", "session.completed"])
    }

    @Test func subscriptionsGetTheirChosenEventsOfTheirOwnOrganization() async throws {
        let world = try await TestWorld.withoutLimits()
        let names: [(String, String, JSONObject, String)] = [
            ("all", "v2", [:], TestWorld.apiToken),
            ("channel", "v1", ["channel": "authentications"], TestWorld.apiToken),
            ("completed", "v2", ["events": ["session.completed"]], TestWorld.apiToken),
            ("user", "v2", ["username": "DemoOrg-another-user"], TestWorld.apiToken),
            ("other", "v2", [:], "other-api-token"),
        ]
        var receivers: [String: WebhookReceiver] = [:]
        for (name, version, more, token) in names {
            receivers[name] = try await WebhookReceiver.open()
            try await world.subscribe(receivers[name]!, version: version, more, token: token)
        }
        let mine = try await world.generatedItem()
        let another = try await world.generatedItem(["username": "DemoOrg-another-user"])
        _ = try await world.send("POST", "/_sim/authentications", ["count": 3, "template": [:]])
        try await world.settleWebhooks()
        let heard = receivers.mapValues { $0.deliveries.map { $0.item["entrupy_id"].text } }
        #expect(heard["all"]?.count == 4 && heard["channel"]?.count == 4, "more than one item send none")
        #expect(Set(heard["completed"] ?? []) == [mine, another] && heard["completed"]?.count == 2)
        #expect(heard["user"] == [another, another] && heard["other"] == [])
    }

    @Test func theFirstFinalResultSendsCompletedEvenFromAFlag() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver)
        let id = try await world.generatedItem(["result": "needs_review", "flag": "flagged"])
        let resolve = "/_sim/authentications/\(id)/flag/resolve"
        _ = try await world.send("POST", resolve, ["note": "Looked at", "result": "authentic"])
        // The item is under review again and then final again, but this is not its first final result.
        for result in ["needs_review", "needs_review", "authentic"] {
            _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": .string(result)])
        }
        try await world.settleWebhooks()
        #expect(
            receiver.deliveries.map { [.string($0.event ?? ""), $0.item["status.result.id"]] } == [
                ["session.updated", "needs_review"], ["session.completed", "authentic"],
                ["session.updated", "needs_review"], ["session.updated", "authentic"],
            ])
    }

    @Test func aChangeThePartnerCannotSeeSendsNoWebhook() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let token = try await world.login()
        try await world.subscribe(receiver)
        let id = try await world.submit(token)
        // This removes the planned result, and does not change what the partner sees.
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "needs_review"])
        try await world.advance("1h")
        #expect(receiver.deliveries.map { $0.event } == ["session.updated"], "it was created")
    }

    @Test func aSubscriptionIsShownChangedAndDeletedWithoutItsSecret() async throws {
        let world = try await TestWorld.withoutLimits()
        let (old, new) = (try await WebhookReceiver.open(), try await WebhookReceiver.open())
        let id = try await world.subscribe(old, ["events": ["session.completed"], "username": "DemoOrg-sim-test-user"])
        func send(_ method: String, _ body: JSONValue? = nil) async throws -> Answer {
            try await world.send(method, "/v2/webhooks/\(id)", body, token: TestWorld.apiToken)
        }
        let shown = try await send("GET")
        #expect(shown["events"] == ["session.completed"] && shown["username"] == "DemoOrg-sim-test-user")
        #expect(!String(decoding: shown.body, as: UTF8.self).contains("s3cr"))
        old.behave(.answer(500))
        _ = try await world.generatedItem()
        try await world.settleWebhooks()
        let patched = try await send("PATCH", ["url": .string(new.url), "secret_key": "new", "username": nil])
        #expect(
            patched["url"].text == new.url && patched["username"] == .null && patched["events"] == ["session.completed"]
        )
        try await world.advance("1s")
        try #require(old.deliveries.count == 1 && new.deliveries.count == 1, "the retry goes where it points now")
        #expect(new.deliveries[0].body == old.deliveries[0].body)
        #expect(new.deliveries[0].headers["Entrupy-Signature"] != old.deliveries[0].headers["Entrupy-Signature"])
        new.behave(.answer(500))
        _ = try await world.generatedItem()
        try await world.settleWebhooks()
        #expect(try await send("DELETE").status == 204)
        try await world.advance("1h")
        #expect(new.deliveries.count == 2, "what it has not been told is not told")
        let cancelled = try #require(try await world.webhookDeliveries().last)
        #expect(cancelled["status"] == "cancelled")
        let again = try await world.send("POST", "/_sim/webhook-deliveries/\(cancelled["id"].text ?? "")/redeliver")
        #expect(again.status == 409 && again["error"].text?.contains("was deleted") == true, "\(again.json)")
        #expect(try await send("GET").status == 404)
        let list = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        #expect(list["webhooks"] == [])
    }

    @Test func aWebhookOfAnotherOrganizationCannotBeShownChangedOrDeleted() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let id = try await world.subscribe(receiver)
        let path = "/v2/webhooks/\(id)"
        let before = try await world.send("GET", path, token: TestWorld.apiToken)
        let change: JSONValue = ["url": "http://127.0.0.1:9/hooks", "events": ["session.completed"]]
        for (method, body) in [("GET", nil), ("PATCH", change), ("DELETE", nil)] as [(String, JSONValue?)] {
            #expect(try await world.send(method, path, body, token: "other-api-token").status == 404, "\(method)")
        }
        // The body is checked before the organization.
        #expect(try await world.send("PATCH", path, ["url": "x"], token: "other-api-token").status == 400)
        let after = try await world.send("GET", path, token: TestWorld.apiToken)
        #expect(after.status == 200 && after.body == before.body)
    }

    @Test func aChangeOfEventsAppliesToLaterEventsAndKeepsTheUser() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let user: JSONValue = "DemoOrg-sim-test-user"
        let id = try await world.subscribe(receiver, ["events": ["session.updated"], "username": user])
        func patch(_ body: JSONValue) async throws -> Answer {
            try await world.send("PATCH", "/v2/webhooks/\(id)", body, token: TestWorld.apiToken)
        }
        func delivered() async throws -> [String?] {
            try await world.generatedItem()
            try await world.generatedItem(["username": "DemoOrg-another-user"])
            try await world.settleWebhooks()
            return receiver.deliveries.map { $0.event }
        }
        let one = try await patch(["events": ["session.completed"]])
        #expect(one["events"] == ["session.completed"] && one["username"] == user)
        #expect(try await delivered() == ["session.completed"])
        let all = try await patch(["channel": "authentications"])
        #expect(all["events"].items.count == 4 && all["username"] == user)
        #expect(try await delivered() == ["session.completed", "session.updated", "session.completed"])
    }

    @Test func theControlAPIRedeliversAndTriggersWebhooks() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let id = try await world.generatedItem()
        let nobody = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "support.message", "entrupy_id": .string(id)])
        #expect(nobody.status == 202 && nobody["deliveries"] == [])
        try await world.subscribe(receiver)
        let triggered = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "certificate.transfer", "entrupy_id": .string(id)])
        #expect(triggered.status == 202 && triggered["deliveries"].items.count == 1)
        try await world.settleWebhooks()
        let delivery = try #require(triggered["deliveries.0.id"].text)
        let again = try await world.send("POST", "/_sim/webhook-deliveries/\(delivery)/redeliver")
        #expect(again.status == 200 && again["event_id"] == triggered["event_id"])
        try await world.settleWebhooks()
        #expect(receiver.deliveries.count == 2 && Set(receiver.deliveries.map(\.body)).count == 1)
        for wrong: JSONValue in [
            ["event": "x", "entrupy_id": .string(id)], ["entrupy_id": .string(id)], ["event": "support.message"],
        ] {
            #expect(try await world.send("POST", "/_sim/webhooks/trigger", wrong).status == 400)
        }
        let missing = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "support.message", "entrupy_id": "nope"])
        #expect(missing.status == 404)
        #expect(try await world.send("POST", "/_sim/webhook-deliveries/nope/redeliver").status == 404)
        let page = try await world.send("GET", "/_sim/webhook-deliveries?limit=1&status=delivered&entrupy_id=\(id)")
        #expect(page["deliveries"].items.count == 1 && page["next_cursor"] != .null)
        #expect(try await world.send("GET", "/_sim/webhook-deliveries?status=late").status == 400)
    }

    @Test(
        arguments: [
            ["url": "ftp://127.0.0.1/"], ["url": "http://user:password@127.0.0.1/"], ["url": "http://127.0.0.1:99999/"],
            ["url": "http://127.0.0.1:0/"], ["url": "http://8.8.8.8/"], ["url": "http://169.254.169.254/latest"],
            ["url": "http://2852039166/"], ["url": "http://0xa9fea9fe/"], ["url": "http://169.254.43518/"],
            ["url": "http://0251.0376.0251.0376/"], ["url": "http://8.8.8.8./"], ["url": "http://[fe80::1%25eth0]/"],
            ["url": "http://[2001:4860:4860::8888]/"], ["url": ""], ["url": "http://"], ["url": 7], ["url": nil],
            ["secret_key": ""], ["secret_key": 5], ["secret_key": nil],
            ["secret_key": .string(String(repeating: "é", count: 129))], ["events": ["session.started"]],
            ["events": []],
            ["events": "session.completed"], ["channel": "items"],
            ["channel": "authentications", "events": ["session.completed"]], ["username": ""],
        ] as [JSONValue])
    func anInvalidSubscriptionIsRefused(wrong: JSONValue) async throws {
        let world = try await TestWorld.withoutLimits()
        let good: JSONValue = ["url": "http://127.0.0.1:9000/hooks", "secret_key": "secret"]
        let answer = try await world.send("POST", "/v2/webhooks", good.merging(wrong), token: TestWorld.apiToken)
        #expect(answer.status == 400 && !answer["details"].items.isEmpty)
        let list = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        #expect(list["webhooks"] == [])
    }
}
