import Foundation
import SimulationAPI
import Testing

/// `GET /_sim/event-log`, the changes of requests, and the reasons of rules [D event-log] [D rule-matches].
@Suite struct EventLogTests {
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

    @Test func requestsAreFoundByTimeAndNumber() async throws {
        let world = try await TestWorld.make()
        _ = try await world.authorize()
        try await world.advance("1h")
        let later = try await world.send("GET", "/_sim/clock")["now"].text ?? ""
        _ = try await world.authorize("sim-test-user")
        func paths(_ query: String) async throws -> [Int] {
            try await world.send("GET", "/_sim/requests?\(query)")["requests"].items.compactMap {
                $0["sequence"].integer
            }
        }
        #expect(try await paths("before=\(later)") == [1])
        #expect(try await paths("since=\(later)") == [2])
        #expect(try await paths("after_sequence=1") == [2])
        #expect(try await paths("before_sequence=2") == [1])
        let verified = try await world.send(
            "POST", "/_sim/requests/verify", ["match": ["before": .string(later)], "times": 1])
        #expect(verified.status == 200)
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
            ["match": ["route": "/sdk/*"], "effect": ["status": 500], "after_requests": 5],
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
}
