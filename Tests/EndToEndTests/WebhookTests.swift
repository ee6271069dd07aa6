import Crypto
import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct WebhookTests {
    private func world(in server: SimProcess = .shared) async throws -> TestWorld {
        try await TestWorld.make(in: server, settings: ["rate_limits": "off"])
    }

    @discardableResult private func subscribe(
        _ world: TestWorld, _ receiver: WebhookReceiver, version: String = "v2", _ more: JSONObject = [:],
        token: String = TestWorld.apiToken
    ) async throws -> String {
        let plain: JSONObject = ["url": .string(receiver.url), "secret_key": "s3crét"]
        let answer = try await world.send(
            "POST", "/\(version)/webhooks", .object(plain.merging(more) { $1 }), token: token,
            headers: ["Api-Version": "1.3"])
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["id"].text)
    }

    private func item(_ world: TestWorld, _ template: JSONObject = [:]) async throws -> String {
        let answer = try await world.send("POST", "/_sim/authentications", .object(template))
        return try #require(answer["entrupy_ids.0"].text)
    }

    /// Waits until no attempt is in progress.
    private func settle(_ world: TestWorld) async throws {
        let answer = try await world.send("POST", "/_sim/clock/advance", ["by": "0s", "max_wall": "10m"])
        try #require(answer["reached"] == true, "\(answer.json)")
    }

    private func deliveries(_ world: TestWorld) async throws -> [JSONValue] {
        try await world.send("GET", "/_sim/webhook-deliveries?limit=100")["deliveries"].items.reversed()
    }

    @Test(arguments: ["v1", "v2"], ["items", "event"])
    func anItemIsToldOfFromItsSubmissionToTheResolutionOfItsFlag(version: String, format: String) async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        let token = try await world.login()
        try await subscribe(world, receiver, version: version, ["format": .string(format)])
        let id = try await world.submit(token)
        try await world.advance("5s")
        let flag = "/sdk/results/\(id)/flag"
        for isSet in [true, false, true] {
            _ = try await world.send("PUT", flag, ["flag": .bool(isSet)], token: token)
        }
        let resolve = "/_sim/authentications/\(id)/flag/resolve"
        _ = try await world.send("POST", resolve, ["note": "Seen again", "result": "unknown"])
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "authentic"])
        try await settle(world)
        let told = receiver.deliveries
        let items = told.map { format == "items" ? $0.item : $0.json["data"] }
        #expect(
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
        #expect(told.allSatisfy { [$0.event ?? ""] == [$0.event ?? "-"] })
        #expect(told.allSatisfy { $0.headers["X-Sim-Event-Id"] == [$0.json["event_id"].text ?? "-"] })
        let completed = told[1].json
        #expect(completed["created_at"] == "2026-01-05T09:00:05.000000Z")
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
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        try await subscribe(world, receiver, form.map { ["signature": .string($0)] } ?? [:])
        _ = try await item(world, ["customer_item_id": "Größe 42 / 👟"])
        try await settle(world)
        #expect(receiver.deliveries.count == 2)
        for delivery in receiver.deliveries {
            let key = SymmetricKey(data: Data("s3crét".utf8))
            let code = HMAC<SHA256>.authenticationCode(for: delivery.body, using: key)
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
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        let token = try await world.login()
        try await subscribe(world, receiver)
        _ = try await world.submit(token, type: "debug")
        try await settle(world)
        #expect(receiver.deliveries.map { $0.event } == ["session.updated", "session.completed"])
    }

    @Test func eachHearsOfWhatItAskedForAndOfItsOwnOrganization() async throws {
        let world = try await world()
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
            try await subscribe(world, receivers[name]!, version: version, more, token: token)
        }
        let mine = try await item(world)
        let another = try await item(world, ["username": "DemoOrg-another-user"])
        _ = try await world.send("POST", "/_sim/authentications", ["count": 3, "template": [:]])
        try await settle(world)
        let heard = receivers.mapValues { $0.deliveries.map { $0.item["entrupy_id"].text } }
        #expect(heard["all"]?.count == 4 && heard["channel"]?.count == 4, "more than one item send none")
        #expect(Set(heard["completed"] ?? []) == [mine, another] && heard["completed"]?.count == 2)
        #expect(heard["user"] == [another, another] && heard["other"] == [])
    }

    @Test func aReceiverThatIsDownIsTriedAgainOnTheNamespacesClock() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        try await subscribe(world, receiver, ["events": ["session.completed"]])
        receiver.behave(.answer(503))
        _ = try await item(world)
        try await world.advance("1d")
        let gaps: [Double] = [0, 1, 11, 71, 671, 4271, 25_871, 47_471, 69_071]
        let delivery = try #require(try await deliveries(world).first)
        #expect(delivery["attempts"].items.map { ($0["at"].double ?? 0) - TestWorld.epoch } == gaps)
        #expect(delivery["status"] == "failed" && delivery["next_attempt_at"] == .null)
        #expect(delivery["attempts.0.status"] == 503 && delivery["attempts.0.answer"] == "seen")
        #expect(Set(receiver.deliveries.map(\.body)).count == 1, "every attempt sends the same bytes")
        #expect(Set(receiver.deliveries.map { $0.headers["Entrupy-Signature"] }).count == 1)
        #expect(receiver.deliveries.count == gaps.count)
    }

    @Test func whatComesBackIsToldInOrder() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        try await subscribe(world, receiver)
        receiver.behave(.answer(500))
        let id = try await item(world, ["result": "needs_review"])
        let other = try await item(world, ["result": "needs_review"])
        for result in ["authentic", "unknown", "invalid"] {
            _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": .string(result)])
        }
        try await settle(world)
        #expect(receiver.deliveries.count == 2, "the first of each item; the others wait behind it")
        receiver.behave(.answer(202))
        try await world.advance("1s")
        let told = receiver.deliveries.dropFirst(2).map(\.item)
        let results = told.filter { $0["entrupy_id"].text == id }.map { $0["status.result.id"] }
        #expect(results == ["needs_review", "authentic", "unknown", "invalid"])
        #expect(told.contains { $0["entrupy_id"].text == other })
        #expect(try await deliveries(world).allSatisfy { $0["status"] == "delivered" })
    }

    @Test(arguments: ["redirect", "close", "refused", "flood"]) func aReceiverMayMisbehave(how: String) async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        try await subscribe(world, receiver, ["events": ["session.completed"]])
        switch how {
        case "redirect": receiver.behave(.redirect)
        case "close": receiver.behave(.close)
        case "flood": receiver.behave(.flood)
        default: try await receiver.close()
        }
        _ = try await item(world)
        try await settle(world)
        let delivery = try #require(try await deliveries(world).first)
        #expect(delivery["status"].text == (how == "flood" ? "delivered" : "retrying"))
        let attempt = delivery["attempts.0"]
        switch how {
        case "redirect":
            #expect(attempt["status"] == 307)
            #expect(receiver.deliveries.map(\.path) == ["/hooks"], "no redirect is followed")
        case "flood": #expect(attempt["answer"].text?.count == 1000, "only the start is kept")
        default: #expect(attempt["status"] == .null && attempt["error"].text?.isEmpty == false)
        }
    }

    @Test func aReceiverThatHangsSlowsNobodyAndIsGivenUp() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        try await subscribe(world, receiver, ["events": ["session.completed"]])
        receiver.behave(.hang)
        // Longer than a busy machine needs to reach the advance.
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["timeout": "120s"]])
        let id = try await item(world)
        // Requests are answered while the receiver still holds the delivery. It never answers.
        #expect(try await world.send("GET", "/v2/authentications/\(id)", token: TestWorld.apiToken).status == 200)
        let stopped = try await world.send("POST", "/_sim/clock/advance", ["by": "1h", "max_wall": "0.05s"])
        #expect(stopped["reached"] == false && stopped["pending"].double ?? 0 >= 1)
        #expect(stopped["now"] == "2026-01-05T09:00:00.000000Z", "what is under way comes first")
        #expect(try await world.send("POST", "/_sim/clock/advance", ["by": "1h", "max_wall": "11m"]).status == 400)
        try await receiver.hangUp()
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["timeout": "0.05s", "retries": []]])
        let second = try await item(world)
        try await settle(world)
        let timedOut = try #require(try await deliveries(world).last)
        #expect(timedOut["entrupy_id"].text == second && timedOut["status"] == "failed", "there is no other attempt")
        #expect(timedOut["attempts.0.error"] == "no answer within 0.05 s")
    }

    @Test(arguments: [200, 500]) func anAnswerThatDoesNotEndIsCutOff(status: Int) async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        try await subscribe(world, receiver, ["events": ["session.completed"]])
        receiver.behave(.stall(status))
        // The timeout must be long enough for half an answer on this machine. It grows until half an answer has come.
        var timeout = 0.2
        var delivery = JSONValue.null
        repeat {
            let settings: JSONValue = ["timeout": .string("\(timeout)s"), "retries": ["1h"]]
            _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": settings])
            _ = try await item(world)
            try await settle(world)
            delivery = try #require(try await deliveries(world).last)
            timeout *= 5
        } while delivery["attempts.0.status"] == .null && timeout < 300
        let attempt = delivery["attempts.0"]
        #expect(delivery["status"].text == (status == 200 ? "delivered" : "retrying"), "the status has said all")
        #expect(attempt["status"].double == Double(status) && attempt["answer"] == "half")
        #expect(attempt["error"].text == "the answer did not end within \(timeout / 5) s")
    }

    @Test func anAttemptThatFellDueWhileTheServerWasDownIsMadeOnce() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("webhooks-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let receiver = try await WebhookReceiver.open()
        var server = try SimProcess(["--data-dir", directory])
        var world = try await world(in: server)
        let path = String(world.base.dropFirst(server.baseURL.count))
        // On a slow machine the short gaps are used up before the server is killed. The long ones last.
        let gaps =
            ["0.02s"] + Array(repeating: JSONValue("0.5s"), count: 40) + Array(repeating: JSONValue("10s"), count: 59)
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["retries": .array(gaps)]])
        _ = try await world.send("POST", "/_sim/clock/resume")
        try await subscribe(world, receiver, ["events": ["session.completed"]])
        receiver.behave(.answer(500))
        let ids = [try await item(world), try await item(world), try await item(world)]
        try await settle(world)
        server.kill()

        // After this, everything that the dead process sent was read.
        try await receiver.hasNoConnections()
        let before = receiver.deliveries.count
        receiver.behave(.answer(200))
        server = try SimProcess(["--data-dir", directory])
        world = TestWorld(base: server.baseURL + path)
        while try await deliveries(world).contains(where: { $0["status"] != "delivered" }) {}
        let after = receiver.deliveries.dropFirst(before).map { $0.item["entrupy_id"].text ?? "" }
        #expect(after.sorted() == ids.sorted(), "each once")
        server.stop()
    }

    @Test func theFirstFinalResultIsCompletedAlsoWhereAFlagBringsIt() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        try await subscribe(world, receiver)
        let id = try await item(world, ["result": "needs_review", "flag": "flagged"])
        let resolve = "/_sim/authentications/\(id)/flag/resolve"
        _ = try await world.send("POST", resolve, ["note": "Looked at", "result": "authentic"])
        // The item is under review again and then final again, but this is not its first final result.
        for result in ["needs_review", "needs_review", "authentic"] {
            _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": .string(result)])
        }
        try await settle(world)
        #expect(
            receiver.deliveries.map { [.string($0.event ?? ""), $0.item["status.result.id"]] } == [
                ["session.updated", "needs_review"], ["session.completed", "authentic"],
                ["session.updated", "needs_review"], ["session.updated", "authentic"],
            ])
    }

    @Test func whatChangesNothingSaysNothing() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        let token = try await world.login()
        try await subscribe(world, receiver)
        let id = try await world.submit(token)
        // This removes the planned result, and does not change what the partner sees.
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "needs_review"])
        try await world.advance("1h")
        #expect(receiver.deliveries.map { $0.event } == ["session.updated"], "it was created")
    }

    @Test func attemptsSurviveTheDeathOfTheProcess() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("webhooks-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let receiver = try await WebhookReceiver.open()
        var server = try SimProcess(["--data-dir", directory])
        var world = try await world(in: server)
        let path = String(world.base.dropFirst(server.baseURL.count))
        try await subscribe(world, receiver, ["events": ["session.completed"]])
        // The attempt without an answer must not time out before the process is killed.
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["timeout": "300s"]])
        receiver.behave(.answer(500))
        let first = try await item(world)
        try await world.advance("5s")
        receiver.behave(.hang)
        let second = try await item(world)
        // The attempt is in progress, and its end will not be recorded.
        while receiver.deliveries.last?.item["entrupy_id"].text != second { await Task.yield() }
        let before = receiver.deliveries.map(\.json)
        server.kill()

        receiver.behave(.answer(200))
        server = try SimProcess(["--data-dir", directory])
        world = TestWorld(base: server.baseURL + path)
        try await settle(world)
        let resumed = receiver.deliveries.dropFirst(before.count).map(\.json)
        #expect(resumed == [before.last], "the same event, at once")
        try await world.advance("10s")
        let retried = receiver.deliveries.dropFirst(before.count + 1).map(\.json)
        #expect(retried == [before[0]])
        let states = try await deliveries(world)
        #expect(states.map { $0["entrupy_id"].text } == [first, second])
        #expect(states.allSatisfy { $0["status"] == "delivered" })
        #expect(states[0]["attempts"].items.map { ($0["at"].double ?? 0) - TestWorld.epoch } == [0, 1, 11])
        server.stop()
    }

    @Test func aSubscriptionIsShownChangedAndDeletedWithoutItsSecret() async throws {
        let world = try await world()
        let (old, new) = (try await WebhookReceiver.open(), try await WebhookReceiver.open())
        let id = try await subscribe(
            world, old, ["events": ["session.completed"], "username": "DemoOrg-sim-test-user"])
        func send(_ method: String, _ body: JSONValue? = nil, token: String = TestWorld.apiToken) async throws -> Answer
        {
            try await world.send(method, "/v2/webhooks/\(id)", body, token: token)
        }
        let shown = try await send("GET")
        #expect(shown["events"] == ["session.completed"] && shown["username"] == "DemoOrg-sim-test-user")
        #expect(!String(decoding: shown.body, as: UTF8.self).contains("s3cr"))
        for method in ["GET", "DELETE"] { #expect(try await send(method, token: "other-api-token").status == 404) }
        #expect(try await send("PATCH", ["url": "x"], token: "other-api-token").status == 400)
        old.behave(.answer(500))
        _ = try await item(world)
        try await settle(world)
        let patched = try await send("PATCH", ["url": .string(new.url), "secret_key": "new", "username": nil])
        #expect(
            patched["url"].text == new.url && patched["username"] == .null && patched["events"] == ["session.completed"]
        )
        try await world.advance("1s")
        #expect(old.deliveries.count == 1 && new.deliveries.count == 1, "the retry goes where it points now")
        #expect(new.deliveries[0].body == old.deliveries[0].body)
        #expect(new.deliveries[0].headers["Entrupy-Signature"] != old.deliveries[0].headers["Entrupy-Signature"])
        new.behave(.answer(500))
        _ = try await item(world)
        try await settle(world)
        #expect(try await send("DELETE").status == 204)
        try await world.advance("1h")
        #expect(new.deliveries.count == 2, "what it has not been told is not told")
        #expect(try await deliveries(world).last?["status"] == "cancelled")
        #expect(try await send("GET").status == 404)
        let list = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        #expect(list["webhooks"] == [])
    }

    @Test func theControlAPIRepeatsAndTriggers() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        let id = try await item(world)
        let nobody = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "support.message", "entrupy_id": .string(id)])
        #expect(nobody.status == 202 && nobody["deliveries"] == [])
        try await subscribe(world, receiver)
        let triggered = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "certificate.transfer", "entrupy_id": .string(id)])
        #expect(triggered.status == 202 && triggered["deliveries"].items.count == 1)
        try await settle(world)
        let delivery = try #require(triggered["deliveries.0.id"].text)
        let again = try await world.send("POST", "/_sim/webhook-deliveries/\(delivery)/redeliver")
        #expect(again.status == 200 && again["event_id"] == triggered["event_id"])
        try await settle(world)
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
    func whatIsNoSubscriptionIsRefused(wrong: JSONValue) async throws {
        let world = try await world()
        let good: JSONValue = ["url": "http://127.0.0.1:9000/hooks", "secret_key": "secret"]
        let answer = try await world.send("POST", "/v2/webhooks", good.merging(wrong), token: TestWorld.apiToken)
        #expect(answer.status == 400 && !answer["details"].items.isEmpty)
        let list = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        #expect(list["webhooks"] == [])
    }

    @Test func aNameThatLeadsElsewhereIsFoundOutAtTheAttempt() async throws {
        let world = try await world()
        // Reserved names never resolve (RFC 6761).
        for url in ["http://nowhere.invalid/hooks", "http://localhost:1/hooks"] {
            let body: JSONValue = ["url": .string(url), "secret_key": "k", "events": ["session.completed"]]
            let answer = try await world.send("POST", "/v2/webhooks", body, token: TestWorld.apiToken)
            #expect(answer.status == 201)
        }
        _ = try await item(world)
        try await settle(world)
        let errors = try await deliveries(world).map { $0["attempts.0.error"].text ?? "" }
        #expect(errors[0].contains("cannot be resolved") && !errors[1].isEmpty && !errors[1].contains("private"))
    }
}
