import Foundation
import SimulationAPI
import TestSupport
import Testing

/// What a namespace has forgotten, it does not deny.
@Suite struct ForgottenRequestTests {
    private func nope(_ world: TestWorld, since: JSONValue = .null, times: JSONValue = 0) async throws
        -> TestWorld.Answer
    {
        try await world.send(
            "POST", "/_sim/requests/verify",
            [
                "match": since == .null ? ["route": "/nope"] : ["route": "/nope", "since": since], "any_route": true,
                "times": times,
            ])
    }

    /// Of none of the requests before can be said that they did not happen.
    @Test(arguments: ["clear", "restore"]) func whatAJournalLostIsNotDenied(how: String) async throws {
        let world = try await TestWorld.make()
        #expect(try await nope(world).status == 200, "a new namespace had no request")
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        try await world.advance("2h")
        for _ in 0..<2 { _ = try await world.send("GET", "/nope") }
        _ =
            how == "clear"
            ? try await world.send("DELETE", "/_sim/requests")
            : try await world.send("POST", "/_sim/snapshots/s/restore")
        let denied = try await nope(world)
        #expect(denied.status == 409 && denied["code"] == "forgotten" && denied["count"] == 0, "\(denied.json)")
        let passedAgain = try await nope(world, since: "2026-01-05T10:00:00Z")
        #expect(passedAgain.status == 409, "a restored clock has gone back")
        let first = try #require(denied["sequence"].integer)
        let from = JSONValue.string("sequence:\(first)")
        #expect(try await nope(world, since: from).status == 200)
        #expect(try await nope(world, since: .string("sequence:\(first - 1)")).status == 409)
        _ = try await world.send("GET", "/nope")
        #expect(try await nope(world, times: 1).status == 409)
        #expect(try await nope(world, since: from, times: 1).status == 200)
        #expect(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.sequence"].integer == first)
        let rules = try await world.send("GET", "/_sim/audit")["rules"].items
        let unjudged = rules.filter { $0["not_judged"].text?.contains("the journal has forgotten") == true }
        #expect(!unjudged.isEmpty)
        #expect(try await world.send("GET", "/_sim/requests?since=sequence:\(first)")["requests"].items.count == 1)
        #expect(try await world.send("GET", "/_sim/requests?since=sequence:\(first + 1)")["requests"].items.isEmpty)
        // A reset begins anew.
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await nope(world).status == 200)
        let wrong = try await nope(world, since: "sequence:0")
        #expect(wrong.status == 400 && wrong["details.0.problem"].text?.contains("sequence:N") == true)
    }

    /// A restore takes counts back, so that no upper limit of them says anything.
    @Test func aRestoreLeavesNoUpperLimitOfFaultsAndWebhooks() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            {name: x, description: x, faults: [{match: {route: /sdk/session}, effect: {status: 503}, times: 3}],
             expect: [{fault: {route: /sdk/session}, times: 0}, {fault: {route: /sdk/session}, at_most: 1},
              {webhook: {event: session.completed}, times: 0}]}
            """
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        _ = try await world.subscribe(url: "http://127.0.0.1:9/x")
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        // There was no webhook to forget.
        _ = try await world.send("POST", "/_sim/snapshots/s/restore")
        let first = try await world.send("POST", "/_sim/scenarios/x/verify")["scenario.expectations"].items
        #expect(first.map { $0["passed"] } == [false, false, true])
        #expect(try await world.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] == .null)
        try await world.generatedItem()
        #expect(try await !world.webhookDeliveries().isEmpty)
        _ = try await world.send("GET", "/sdk/session")
        let now = try await world.send("POST", "/_sim/snapshots/s/restore")["clock.epoch"].double
        let verified = try await world.send("POST", "/_sim/scenarios/x/verify")
        let checks = verified["scenario.expectations"].items
        #expect(checks.map { $0["passed"] } == [false, false, false], "\(verified.json)")
        #expect(checks.first?["problem"].text?.hasPrefix("the namespace was restored") == true)
        let notes = verified["scenario.notes"].items.compactMap { $0["problem"].text }
        #expect(notes.contains { $0.contains("was not met since the namespace was restored") }, "\(verified.json)")
        let list = try await world.send("GET", "/_sim/webhook-deliveries")
        #expect(list["deliveries"].items.isEmpty)
        #expect(abs((list["forgotten_before"].double ?? 0) - (now ?? 1)) < 60, "\(list.json)")
        // Another namespace has forgotten nothing, and neither has this one after a reset.
        _ = try await world.send("PUT", "/_sim/snapshots/t")
        let child = world.namespace("\(world.name)-child")
        _ = try await world.send("POST", "/_sim/snapshots/t/fork", ["namespace": .string(child.name)])
        #expect(try await child.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] == .null)
        _ = try await world.send("POST", "/_sim/snapshots/s/restore")
        #expect(try await world.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] != .null)
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await world.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] == .null)
    }

    @Test func aRestoreIsNamedWhereASessionIsUnknownAfterIt() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        let token = try await world.login()
        func explained(_ token: String) async throws -> String {
            try #require(try await world.send("GET", "/sdk/session", token: token).status == 401)
            let request = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
            let chain = try await world.send("GET", "/_sim/explain/\(request["id"].text ?? "")")
            return chain["steps"].items.compactMap { $0["text"].text }.joined(separator: "\n")
        }
        #expect(try await !explained("sdk_nobody").contains("restored"))
        try #require(try await world.send("POST", "/_sim/snapshots/s/restore").status == 200)
        let text = try await explained(token)
        #expect(text.contains("the namespace was restored, which may have taken the session away"), "\(text)")
    }

    /// A person's request is none of the client's.
    @Test func aRequestThatWasSentAgainMeetsNoExpectedFault() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            {name: x, description: x, faults: [{match: {route: /sdk/session}, effect: {status: 503}}],
             expect: [{fault: {route: /sdk/session}, times: 1}, {fault: {route: /sdk/session}, times: 2}]}
            """
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        let asked = try await world.send("GET", "/sdk/session")
        try #require(asked.status == 503)
        let id = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        #expect(try await world.send("POST", "/_sim/requests/\(id)/resend").status == 200)
        let verified = try await world.send("POST", "/_sim/scenarios/x/verify")
        let checks = verified["scenario.expectations"].items
        #expect(checks.map { $0["passed"] } == [true, false], "\(verified.json)")
    }

    @Test func aForgottenRequestFailsWhatAScenarioExpects() async throws {
        let world = try await TestWorld.make()
        let expected = "expect: [{route: /sdk/session, times: 0}]"
        let scenario = "name: quiet\ndescription: no request\n\(expected)\n"
        let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        try #require(started.status == 200 || started.status == 201, "\(started.json)")
        #expect(try await world.send("POST", "/_sim/scenarios/quiet/verify").status == 200)
        _ = try await world.send("GET", "/sdk/session")
        _ = try await world.send("DELETE", "/_sim/requests")
        let verified = try await world.send("POST", "/_sim/scenarios/quiet/verify")
        let checks = verified["scenario.expectations"].items
        #expect(verified.status == 409 && checks.map { $0["passed"] } == [false], "\(verified.json)")
        #expect(checks.first?["problem"].text?.hasPrefix("the journal has forgotten requests") == true)
    }
}
