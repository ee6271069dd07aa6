import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/event-log`, the changes of requests, and the reasons of rules [D event-log] [D rule-matches].
@Suite struct EventLogRuleTests {
    @Test func aRequestNamesTheEventsThatItAdded() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let capture = try await world.readyCapture(session)
        _ = try await world.send("POST", "/sdk/captures/\(capture)/submit", token: session)
        _ = try await world.send("GET", "/sdk/session", token: session)
        let requests = try await world.send("GET", "/_sim/requests?limit=2")["requests"].items
        try #require(requests.count == 2)
        #expect(requests[0]["changes.after"] == requests[0]["changes.through"], "reading changes nothing")
        let after = try #require(requests[1]["changes.after"].integer)
        let through = try #require(requests[1]["changes.through"].integer)
        let events = try await world.send(
            "GET", "/_sim/event-log?after_sequence=\(after)&before_sequence=\(through + 1)")["events"].items
        #expect(events.map { $0["kind"].text }.reversed() == ["capture.submitted", "item.submitted"])
        #expect(requests[0]["changes.after"].integer == through)
    }

    @Test func aRefusedRequestAddedNothing() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        _ = try await world.send("POST", "/sdk/captures/\(capture.id)/submit", token: session)
        _ = try await world.send("GET", "/sdk/session", token: session)
        let requests = try await world.send("GET", "/_sim/requests?limit=3")["requests"].items
        try #require(requests.count == 3)
        #expect(requests[1]["status"] == 400 && requests[1]["changes.after"] == requests[1]["changes.through"])
        #expect(requests[1]["changes.after"] == requests[2]["changes.through"])
    }

    @Test func eventsAreFoundBySubjectKindAndNumber() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let item = try await world.submit(session)
        try await world.advance("5s")
        let ofItem = try await world.send("GET", "/_sim/event-log?subject=\(item)")["events"].items
        try #require(ofItem.map { $0["kind"].text } == ["result.set", "item.submitted"])
        let submitted = ofItem[1]["data.capture_id"].text ?? ""
        let ofCapture = try await world.send("GET", "/_sim/event-log?subject=\(submitted)&kind=capture.*")["events"]
            .items
        #expect(ofCapture.map { $0["kind"].text } == ["capture.submitted", "capture.started"])
        let all = try await world.send("GET", "/_sim/event-log?limit=1000")["events"].items
        let numbers = all.compactMap { $0["sequence"].integer }
        #expect(numbers == numbers.sorted(by: >) && numbers.last == 1)
        let page = try await world.send("GET", "/_sim/event-log?limit=2")
        let next = try #require(page["next_cursor"].text)
        let second = try await world.send("GET", "/_sim/event-log?limit=2&cursor=\(next)")
        #expect(
            (page["events"].items + second["events"].items).map { $0["sequence"] }
                == all.prefix(4).map { $0["sequence"] })
        let wrong = try await world.send("GET", "/_sim/event-log?kind=item.*&cursor=\(next)")
        #expect(wrong.status == 400 && wrong["details.0.field"] == "cursor")
    }

    private func checkNewest(_ world: TestWorld, _ kind: String, of subject: String) async throws {
        let newest = try await world.send("GET", "/_sim/event-log?limit=1")["events.0"]
        #expect(newest["kind"].text == kind && newest["subject"].text == subject, "\(kind) of \(subject): \(newest)")
    }

    /// Sends a request whose last event has a kind and a subject, by default the id in the answer. Answers the subject.
    @discardableResult private func check(
        _ world: TestWorld, _ kind: String, of subject: String? = nil, _ method: String, _ path: String,
        _ body: JSONValue? = nil, token: String? = nil
    ) async throws -> String {
        let answer = try await world.send(method, path, body, token: token)
        try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.json)")
        let subject = try #require(subject ?? answer["id"].text)
        try await checkNewest(world, kind, of: subject)
        return subject
    }

    @Test func changesByTestsAreRecorded() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let item = try await world.submit(world.login())
        let (user, path) = ("DemoOrg-example-user-id", "/_sim/authentications")
        let fault: JSONValue = ["match": ["route": "/nowhere"], "effect": ["status": 503]]
        let outcome: JSONValue = ["match": ["brand": "Gucci"], "result": "unknown"]
        try await check(world, "user.updated", of: user, "PATCH", "/_sim/users/\(user)", ["first_name": "Ann"])
        try await check(
            world, "catalog.changed", of: item, "PATCH", "\(path)/\(item)",
            ["catalog": ["product_information": ["brand": "Other"]]])
        try await check(
            world, "market_edge.changed", of: item, "PATCH", "\(path)/\(item)",
            ["market_edge": ["market_value": ["price": "1 USD"]]])
        try await check(world, "retake.requested", of: item, "POST", "\(path)/\(item)/retake", ["regions": ["heel"]])
        try await check(world, "items.generated", of: "DemoOrg-sim-test-user", "POST", path, ["count": 2])
        let faultID = try await check(world, "fault.added", "POST", "/_sim/faults", fault)
        try await check(world, "fault.removed", of: faultID, "DELETE", "/_sim/faults/\(faultID)")
        let outcomeID = try await check(world, "outcome.added", "POST", "/_sim/outcomes", outcome)
        try await check(world, "outcome.removed", of: outcomeID, "DELETE", "/_sim/outcomes/\(outcomeID)")
        try await check(world, "outcome.removed", of: "*", "DELETE", "/_sim/outcomes")
        try await check(world, "settings.changed", of: "settings", "PATCH", "/_sim/settings", ["quota": 100])
        try await check(world, "seed.loaded", of: "seed", "POST", "/_sim/seed", ["flagging": ["eligible": ["unknown"]]])
        try await check(world, "session.ended", of: user, "DELETE", "/_sim/sessions")
        // Nothing falls due while the clock runs: the result waits for the retake.
        try await check(world, "clock.resumed", of: "clock", "POST", "/_sim/clock/resume")
        try await check(world, "clock.frozen", of: "clock", "POST", "/_sim/clock/freeze")
    }

    @Test func changesByUsersAreRecorded() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        _ = try await world.upload(capture.id, "heel", session)
        try await checkNewest(world, "image.uploaded", of: capture.id)
        try await check(
            world, "capture.cancelled", of: capture.id, "POST", "/sdk/captures/\(capture.id)/cancel", token: session)
        let item = try await world.submit(
            session, item: ["brand": "Nike", "style_name": "x", "customer_item_id": "sim-authentic-after-0s"])
        let path = "/sdk/results/\(item)"
        try await check(world, "flag.set", of: item, "PUT", "\(path)/flag", ["flag": true], token: session)
        try await check(world, "flag.cleared", of: item, "PUT", "\(path)/flag", ["flag": false], token: session)
        _ = try await world.send("POST", "/_sim/authentications/\(item)/retake", ["regions": ["heel"]])
        try await check(
            world, "support.answered", of: item, "POST", "\(path)/support-messages", ["message": "Soon"],
            token: session)
        let started = try await world.send("POST", "\(path)/retake", token: session)
        let retake = try #require(started["capture_id"].text)
        try await checkNewest(world, "capture.started", of: retake)
        _ = try await world.upload(retake, "heel", session)
        try await check(world, "retake.answered", of: item, "POST", "/sdk/captures/\(retake)/submit", token: session)
        try await check(
            world, "partner.session.started", of: "demo", "POST", "/partner/login",
            ["username": "demo", "password": "demo"])
        try await check(world, "session.ended", of: "DemoOrg-example-user-id", "POST", "/sdk/logout", token: session)
    }

    @Test func changesOfSubscriptionsAndAttemptsAreRecorded() async throws {
        let world = try await TestWorld.withoutLimits()
        let item = try await world.generatedItem()
        let (path, token) = ("/v2/webhooks", TestWorld.apiToken)
        let body: JSONValue = ["url": "http://127.0.0.1:9/refuses", "secret_key": "s"]
        let id = try await check(world, "subscription.created", "POST", path, body, token: token)
        try await check(
            world, "subscription.updated", of: id, "PATCH", "\(path)/\(id)", ["secret_key": "t"], token: token)
        let triggered = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": "session.updated", "entrupy_id": .string(item)])
        let first = try #require(triggered["deliveries.0.id"].text)
        _ = try await world.send("POST", "/_sim/settle", ["within": "10m"])
        try await checkNewest(world, "webhook.attempted", of: first)
        // Until the first one has failed, the second would wait for it.
        try await world.advance("30d")
        let again = try await world.send("POST", "/_sim/webhook-deliveries/\(first)/redeliver")
        let second = try #require(again["id"].text)
        #expect(second != first)
        _ = try await world.send("POST", "/_sim/settle", ["within": "10m"])
        try await checkNewest(world, "webhook.attempted", of: second)
        try await check(world, "subscription.deleted", of: id, "DELETE", "\(path)/\(id)", token: token)
    }

    @Test func aFaultSaysWhyItDidNotMatch() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let rules: [JSONValue] = [
            ["match": ["route": "/sdk/search", "method": "POST"], "effect": ["status": 503]],
            [
                "match": [
                    "route": "/sdk/session", "username": "DemoOrg-example-user-id", "header": ["X-Device": "ipad-*"],
                ],
                "effect": ["status": 503],
            ],
            ["match": ["route": "/sdk/**"], "effect": ["status": 500], "after_requests": 5],
            ["match": ["webhook": "*"], "effect": ["drop": true]],
            ["match": ["header": ["Authorization": "*"]], "effect": ["status": 502], "probability": 0.0],
            ["match": [:], "effect": ["delay": "0s"]],
        ]
        for rule in rules { try #require(try await world.send("POST", "/_sim/faults", rule).status == 201) }
        _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Device": "iphone"])
        let id = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        let answer = try await world.send("GET", "/_sim/requests/\(id)/rules")
        let found = answer["rules"].items
        try #require(found.count == 6)
        #expect(found[0]["matches"] == false && found[0]["parts.0.actual"] == "/sdk/session")
        #expect(found[0]["parts.1"] == ["field": "method", "expected": "POST", "actual": "GET", "matches": false])
        #expect(found[1]["matches"] == false && found[1]["parts.1.matches"] == true)
        #expect(
            found[1]["parts.2"] == [
                "field": "header.X-Device", "expected": "ipad-*", "actual": "iphone", "matches": false,
            ])
        #expect(found[2]["matches"] == true && found[2]["note"].text?.contains("first 5") == true)
        #expect(found[3]["matches"] == false && found[3]["note"].text?.contains("webhooks") == true)
        #expect(found[4]["note"].text?.contains("probability") == true)
        #expect(!answer.text.contains(session), "a header is masked")
        #expect(found[5]["decided"] == true && found[5]["parts"].items.isEmpty)
    }

    @Test func anOutcomeRuleSaysWhyItDidNotDecide() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let rules: [JSONValue] = [
            ["match": ["brand": "Gucci"], "result": "unknown"], ["match": ["brand": "nike"], "result": "invalid"],
            ["match": ["customer_item_id": "sku-*"], "result": "unknown"],
        ]
        for rule in rules { try #require(try await world.send("POST", "/_sim/outcomes", rule).status == 201) }
        let item = try await world.submit(session)
        let found = try await world.send("GET", "/_sim/authentications/\(item)/rules")["rules"].items
        try #require(found.count == 3)
        #expect(found[0]["matches"] == false && found[0]["parts.0.actual"] == "Nike")
        #expect(found[1]["decided"] == true && found[1]["note"] == .null)
        #expect(found[2]["matches"] == true && found[2]["note"].text?.contains("first one made") == true)
        #expect(try await world.send("GET", "/_sim/authentications/NOPE2345/rules").status == 404)
    }

    @Test func statsShowTheUseOfLimits() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: token) }
        _ = try await world.send("GET", "/sdk/session", token: "unknown")
        let stats = try await world.send("GET", "/_sim/stats")
        #expect(
            stats["requests.last_second"] == 6
                && stats["requests.by_status"] == ["2xx": 5, "3xx": 0, "4xx": 1, "5xx": 0])
        #expect(
            stats["organizations.0"] == ["organization": "DemoOrg", "token": "demo***", "last_second": 1, "limit": 10])
        #expect(stats["users.0.username"] == "DemoOrg-example-user-id" && stats["users.0.last_second"] == 4)
        #expect(stats["users.0.logins_last_minute"] == 1 && stats["users.0.logins_per_minute"] == 5)
        try await world.advance("1s")
        let later = try await world.send("GET", "/_sim/stats")
        #expect(later["requests.last_second"] == 0 && later["requests.last_minute"] == 6)
        #expect(later["users.0.last_second"] == 0 && later["users.0.logins_last_day"] == 1)
    }
}
