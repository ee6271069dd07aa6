import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The headers of answers that faults give, and the wait of a rate limit [D fault-rules].
@Suite struct FaultAnswerTests {
    private func add(_ world: TestWorld, _ rule: JSONValue) async throws {
        let answer = try await world.send("POST", "/_sim/faults", rule)
        try #require(answer.status == 201, "\(answer.json)")
    }

    @Test func aRateLimitSaysHowLongToWait() async throws {
        let world = try await TestWorld.make()
        for (wait, seconds) in [("30s", "30"), ("1.2s", "2"), ("1s", "1"), ("1d", "86400")] {
            try await add(world, ["effect": ["rate_limit": ["retry_after": .string(wait)]], "times": 1])
            let answer = try await world.send("GET", "/sdk/session")
            #expect(answer.status == 429 && answer.headers["Retry-After"] == [seconds], "\(wait)")
        }
        try await add(world, ["effect": ["rate_limit": [:]], "times": 1])
        #expect(try await world.send("GET", "/sdk/session").headers["Retry-After"] == ["1"])
    }

    @Test func anAnswerMayHaveHeadersOfItsOwn() async throws {
        let world = try await TestWorld.make()
        let headers: JSONObject = [
            "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "content-type": "text/html", "X-Edge": "a b~",
            "X-Request-Id": "edge-1",
        ]
        for body in [nil, "<h1>no</h1>"] as [JSONValue?] {
            var effect: JSONObject = ["status": 503, "headers": .object(headers)]
            effect["body"] = body
            try await add(world, ["effect": .object(effect), "times": 1])
            let answer = try await world.send("GET", "/sdk/session")
            #expect(answer.status == 503 && (body == nil || answer.text == "<h1>no</h1>"))
            for (name, value) in headers.sorted { #expect(answer.headers[name] == [value.text], "\(name)") }
        }
        try await add(world, ["effect": ["status": 204, "headers": ["X-Edge": "1"]], "times": 1])
        #expect(try await world.send("GET", "/sdk/session").headers["X-Edge"] == ["1"])
        // The error of a plugin has a form of its own.
        try await add(world, ["effect": ["status": 503, "headers": ["Retry-After": "7"]], "times": 1])
        let plugin = try await world.send(
            "POST", "/components/sessions", [:], headers: ["Accept": "application/vnd.fourthline.plugin+json"])
        #expect(
            plugin.status == 503 && plugin.headers["Retry-After"] == ["7"] && plugin["errorCode"] != .null,
            "\(plugin.text)")
    }

    @Test(arguments: [
        (
            #"{"status": 503, "headers": {"Content-Length": "1"}}"#, "effect.headers.Content-Length",
            "is set by the server"
        ),
        (#"{"status": 503, "headers": {"connection": "close"}}"#, "effect.headers.connection", "is set by the server"),
        (#"{"status": 503, "headers": {"Transfer-Encoding": "x"}}"#, "effect.headers.Transfer-Encoding", "is set by"),
        (#"{"status": 503, "headers": {"DATE": "x"}}"#, "effect.headers.DATE", "is set by the server"),
        (#"{"status": 503, "headers": {"X A": "1"}}"#, "effect.headers.X A", "is not the name of a header"),
        (#"{"status": 503, "headers": {"": "1"}}"#, "effect.headers", "is not the name of a header"),
        (#"{"status": 503, "headers": {"X": "a\r\nSet-Cookie: b"}}"#, "effect.headers.X", "visible ASCII"),
        (#"{"status": 503, "headers": {"X": "é"}}"#, "effect.headers.X", "visible ASCII"),
        (#"{"status": 503, "headers": {"X-A": "1", "x-a": "2"}}"#, "effect.headers.x-a", "is given twice"),
        (#"{"status": 503, "headers": {"X": 30}}"#, "effect.headers.X", "must be a text"),
        (#"{"status": 503, "headers": ["X"]}"#, "effect.headers", "must be an object of texts"),
        (#"{"delay": "1s", "headers": {"X": "1"}}"#, "effect.headers", "belongs to status"),
        (#"{"rate_limit": {"retry_after": "0s"}}"#, "effect.rate_limit.retry_after", "from 1s to 1d"),
        (#"{"rate_limit": {"retry_after": "2d"}}"#, "effect.rate_limit.retry_after", "from 1s to 1d"),
        (#"{"rate_limit": {"retry": "2s"}}"#, "effect.rate_limit.retry", "retry_after"),
        (#"{"rate_limit": false}"#, "effect.rate_limit", "must be true"),
        (#"{"rate_limit": 30}"#, "effect.rate_limit", "must be"),
    ])
    func wrongHeadersAndWaitsAreRefused(effect: String, field: String, problem: String) async throws {
        let world = try await TestWorld.make()
        let rule: JSONValue = ["effect": try WireJSON.decode(JSONValue.self, from: Data(effect.utf8))]
        let answer = try await world.send("POST", "/_sim/faults", rule)
        let details = answer["details"].items
        #expect(
            answer.status == 400
                && details.contains { $0["field"].text == field && $0["problem"].text?.contains(problem) == true },
            "\(answer.json)")
    }

    @Test func aRuleHasAtMostTwentyHeaders() async throws {
        let world = try await TestWorld.make()
        for (count, status) in [(20, 201), (21, 400)] {
            let headers = JSONObject((1...count).map { ("X-\($0)", .string(String(repeating: "v", count: 1000))) })
            let rule: JSONValue = ["effect": ["status": 503, "headers": .object(headers)]]
            #expect(try await world.send("POST", "/_sim/faults", rule).status == status)
        }
    }
}
