import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct NamespaceTests {
    @Test func twoNamespacesNeverSeeEachOther() async throws {
        let first = try await TestWorld.make()
        let second = try await TestWorld.make()
        let token = try await first.login()
        #expect(try await second.send("GET", "/sdk/session", token: token).status == 401)
        try await first.advance("1h")
        #expect(try await second.send("GET", "/_sim/clock")["now"] == "2026-01-05T09:00:00.000000Z")
        for _ in 0..<10 { _ = try await first.authorize() }
        #expect(try await first.authorize().status == 429)
        #expect(try await second.authorize().status == 200)
    }

    @Test func namespacesAreCreatedListedAndDropped() async throws {
        let root = try await TestWorld.server
        let name = "life-of-a-test"
        let made = try await root.send("PUT", "/_sim/namespaces/\(name)")
        #expect(made.status == 201)
        #expect(made["id"] == .string(name))
        #expect(made["url"] == .string("\(root.base)/ns/\(name)"))
        #expect(try await root.send("PUT", "/_sim/namespaces/\(name)").status == 409)
        let listed = try await root.send("GET", "/_sim/namespaces")["namespaces"].items.compactMap {
            $0["name"].text
        }
        #expect(listed.contains(name) && listed.contains("default"))
        let world = root.namespace(name)
        #expect(try await world.authorize().status == 200)
        #expect(try await root.send("DELETE", "/_sim/namespaces/\(name)").status == 204)
        #expect(try await world.authorize().status == 404)
        #expect(try await root.send("DELETE", "/_sim/namespaces/\(name)").status == 404)
        #expect(try await root.send("DELETE", "/_sim/namespaces/default").status == 409)
        #expect(try await root.send("PUT", "/_sim/namespaces/\(name)").status == 201, "the name is free again")
    }

    @Test(arguments: ["A", "a_b", "%20", String(repeating: "a", count: 64), "é"])
    func aBadNameIsRefused(name: String) async throws {
        let root = try await TestWorld.server
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
        #expect(try await root.send("PUT", "/_sim/namespaces/\(encoded)").status == 400)
        #expect(try await root.send("GET", "/ns/\(encoded)/sdk/session").status == 404)
    }

    @Test func invalidOptionsAreRefusedAndCreateNothing() async throws {
        let root = try await TestWorld.server
        let name = "wrong-of-a-test"
        for (body, field) in [
            (["seed": "other"], "seed"), (["seed": 1], "seed"), (["random_seed": -1], "random_seed"),
            (["random_seed": 1.5], "random_seed"), (["random_seed": "7"], "random_seed"),
            (["clock": ["freeze": "soon"]], "clock.freeze"),
            (["clock": ["stop": 1]], "clock.stop"), (["sed": "standard"], "sed"),
            (["seed": ["organizations": 1]], "seed"),
        ] as [(JSONValue, String)] {
            let answer = try await root.send("PUT", "/_sim/namespaces/\(name)", body)
            #expect(answer.status == 400, "\(body)")
            #expect(answer["details.0.field"].text?.hasPrefix(field) == true, "\(answer.json)")
        }
        #expect(try await root.send("GET", "/ns/\(name)/_sim/clock").status == 404)
    }

    @Test func theEmptySeedHasNoUsersAndAcceptsNewOnes() async throws {
        let empty = try await TestWorld.make(seed: "empty")
        #expect(try await empty.counts()["users"].double == 0)
        #expect(try await empty.authorize().status == 200)
    }

    @Test func resetRestoresTheSeed() async throws {
        let world = try await TestWorld.make()
        let before = try await world.send("GET", "/_sim/info")
        let first = try await world.authorize()
        let token = try await world.login()
        _ = try await world.submit(token)
        try await world.advance("1h")
        _ = try await world.send("PATCH", "/_sim/settings", ["quota": 3])
        #expect(try await world.send("POST", "/_sim/reset").status == 200)
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 401)
        let after = try await world.send("GET", "/_sim/info")
        #expect(after["namespace"] == before["namespace"])
        #expect(after["settings"] == before["settings"])
        #expect(try await world.authorize().body == first.body, "ids begin anew")
    }

    @Test func unknownNamespacesAreCreatedIfTheOptionIsSet() async throws {
        let root = try await TestWorld.opened { $0.namespaces.autoCreates = true }
        let world = root.namespace("fresh")
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 { group.addTask { try await world.authorize("user-000\(number)").status } }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(answers == Array(repeating: 200, count: 8))
        #expect(try await root.namespace("NO").send("GET", "/_sim/clock").status == 404)
    }
}

@Suite struct ClockTests {
    @Test func theClockIsFrozenAdvancedAndResumed() async throws {
        let world = try await TestWorld.make()
        #expect(
            try await world.send("GET", "/_sim/clock").json == [
                "now": "2026-01-05T09:00:00.000000Z", "epoch": 1_767_603_600, "mode": "frozen",
            ])
        let moved = try await world.send("POST", "/_sim/clock/advance", ["by": 0.5])
        #expect(moved["now"] == "2026-01-05T09:00:00.500000Z")
        #expect(moved["reached"] == true)
        let target = try await world.send("POST", "/_sim/clock/advance", ["to": "2026-01-05T19:00:00+09:00"])
        #expect(target["now"] == "2026-01-05T10:00:00.000000Z")
        let frozen = try await world.send("POST", "/_sim/clock/freeze", ["at": "2026-01-05T11:00:00Z"])
        #expect(frozen["now"] == "2026-01-05T11:00:00.000000Z")
        let resumed = try await world.send("POST", "/_sim/clock/resume")
        #expect(resumed["mode"] == "running")
        #expect(resumed["now"] == "2026-01-05T11:00:00.000000Z", "it goes on from where it stood")
        let again = try await world.send("POST", "/_sim/clock/freeze")
        #expect(again["mode"] == "frozen")
        #expect(try await world.send("POST", "/_sim/clock/freeze", ["at": "now"]).json == again.json)
    }

    @Test(
        arguments: [
            ["by": "-1s"], ["by": "2h30"], ["by": true], ["by": "1h", "to": "next"], [:], ["to": "yesterday"],
            ["to": "2026-01-05T08:59:59Z"], ["by": "99999d"], ["bye": "1h"],
        ] as [JSONValue])
    func aWrongAdvanceIsRefusedAndTheClockStays(body: JSONValue) async throws {
        let world = try await TestWorld.make()
        #expect(try await world.send("POST", "/_sim/clock/advance", body).status == 400)
        #expect(try await world.send("GET", "/_sim/clock")["now"] == "2026-01-05T09:00:00.000000Z")
    }

    @Test func freezingInThePastIsRefused() async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("POST", "/_sim/clock/freeze", ["at": "2026-01-05T08:00:00Z"])
        #expect(answer.status == 400)
        #expect(answer["details.0.field"] == "at")
    }

    @Test func advancingToNextStopsAtEachDueTime() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.submit(token)
        _ = try await world.startCapture(token)
        var stops: [String] = []
        for _ in 0..<3 {
            stops.append(try await world.send("POST", "/_sim/clock/advance", ["to": "next"])["now"].text ?? "")
        }
        // The times of the result, the capture's timeout and the session's end.
        #expect(stops == ["2026-01-05T09:00:05.000000Z", "2026-01-05T11:00:00.000000Z", "2026-01-06T09:00:00.000000Z"])
        let events = try await world.send("GET", "/_sim/event-log?kind=clock.*")["events"].items.count
        let end = try await world.send("POST", "/_sim/clock/advance", ["to": "next"])
        #expect(
            end.json == [
                "reached": false, "nothing_due": true, "pending": 0, "now": "2026-01-06T09:00:00.000000Z",
                "epoch": 1_767_690_000, "mode": "frozen",
            ] && end.status == 200, "\(end.json)")
        #expect(try await world.send("GET", "/_sim/event-log?kind=clock.*")["events"].items.count == events)
        _ = try await world.send("POST", "/_sim/clock/resume")
        let running = try await world.send("POST", "/_sim/clock/advance", ["to": "next"])
        #expect(running["nothing_due"] == true && running["reached"] == false && running["mode"] == "running")
        let later = try await world.send("POST", "/_sim/clock/advance", ["by": "1s"])
        #expect(later["reached"] == true && later["nothing_due"] == .null, "only `next` asks what is due")
    }

    /// The attempt may fail and be repeated, so it is not known yet that nothing is due.
    @Test func anAttemptInFlightIsNotNothingDue() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.hang)
        try await world.subscribe(receiver)
        _ = try await world.generatedItem()
        let body: JSONValue = ["to": "next", "max_wall": "0.05s"]
        let waiting = try await world.send("POST", "/_sim/clock/advance", body)
        #expect(
            waiting["reached"] == false && (waiting["pending"].double ?? 0) > 0 && waiting["nothing_due"] == .null,
            "\(waiting.json)")
        try await receiver.close()
        let retry = try await world.send("POST", "/_sim/clock/advance", ["to": "next"])
        #expect(retry["reached"] == true && retry["now"] == "2026-01-05T09:00:01.000000Z", "\(retry.json)")
    }

    @Test func concurrentAdvancesAddUp() async throws {
        let world = try await TestWorld.make()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { try await world.advance("1h") } }
            try await group.waitForAll()
        }
        #expect(try await world.send("GET", "/_sim/clock")["now"] == "2026-01-05T19:00:00.000000Z")
    }

    @Test func aRunningNamespaceRunsDueWorkWithoutARequest() async throws {
        let world = try await TestWorld.make(settings: ["result": ["delay": "0.05s"]])
        let token = try await world.login()
        let id = try await world.submit(token)
        _ = try await world.send("POST", "/_sim/clock/resume")
        // Every request does all due work, so only the timestamp can differ. It must be the due time, not the request's time.
        var answer = try await world.result(id, token)
        while answer["status.result.final"] != true { answer = try await world.result(id, token) }
        #expect(answer["event_times.result_returned_at.display"] == "2026-01-05T09:00:00.050000Z")
    }
}
