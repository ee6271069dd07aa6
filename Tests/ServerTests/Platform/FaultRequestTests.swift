import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Faults on requests [D fault-rules]: which requests meet them, and what is answered. Bytes that a fault breaks are in `FaultTests`.
@Suite struct FaultRequestTests {
    @discardableResult private func add(_ world: TestWorld, _ rule: JSONValue) async throws -> TestWorld.Answer {
        let answer = try await world.send("POST", "/_sim/faults", rule)
        try #require(answer.status == 201, "\(answer.json)")
        return answer
    }

    private func faults(_ world: TestWorld) async throws -> [JSONValue] {
        try await world.send("GET", "/_sim/faults")["faults"].items
    }

    private func statuses(_ world: TestWorld, _ path: String, _ count: Int, _ token: String) async throws -> [Int] {
        var found: [Int] = []
        for _ in 0..<count { found.append(try await world.send("GET", path, token: token).status) }
        return found
    }

    @Test func aStatusFaultTriggersTheGivenNumberOfTimes() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let fault = try await add(world, ["match": ["route": "/sdk/config"], "effect": ["status": 503], "times": 2])
        let triggered = try await world.send("GET", "/sdk/config", token: token)
        #expect(triggered.status == 503 && triggered["code"] == "unavailable" && triggered["sdk_error"] != .null)
        #expect(
            triggered.headers["X-Sim-Fault"] == [fault["id"].text ?? ""] && triggered.headers["Retry-After"] == ["1"])
        #expect(try await statuses(world, "/sdk/config", 3, token) == [503, 200, 200])
        #expect(try await statuses(world, "/sdk/session", 1, token) == [200], "another route")
        #expect(try await faults(world).map { [$0["seen"], $0["hits"]] } == [[4, 2]])
    }

    @Test func aStatusFaultPreventsTheRequestedChange() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        try await add(
            world, ["match": ["method": "post"], "effect": ["status": 500, "body": ["oops": true]], "times": 1])
        let item: JSONValue = ["item": TestWorld.nike]
        let triggered = try await world.send("POST", "/sdk/captures", item, token: token)
        #expect(triggered.status == 500 && triggered.json == ["oops": true])
        #expect(try await world.counts()["captures"] == 0)
        #expect(try await world.send("POST", "/sdk/captures", item, token: token).status == 201)
    }

    @Test func probabilityFollowsTheSeedAndIsRepeatable() async throws {
        var runs: [[Int]] = []
        for _ in 0..<2 {
            let world = try await TestWorld.make(settings: ["rate_limits": "off"])
            let token = try await world.login()
            try await add(world, ["effect": ["status": 500], "probability": 0.4])
            runs.append(try await statuses(world, "/sdk/session", 100, token))
        }
        #expect(runs[0] == runs[1])
        #expect((25...55).contains(runs[0].count { $0 == 500 }))
    }

    @Test func timesAreExactUnderConcurrency() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        try await add(world, ["effect": ["status": 502], "times": 7, "after_requests": 5])
        let found = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<60 { group.addTask { try await world.send("GET", "/sdk/session", token: token).status } }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(found.count { $0 == 502 } == 7 && found.count { $0 == 200 } == 53)
    }

    @Test func aFaultedRequestIsJournaledWithItsUser() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: token)
        let username = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]["username"]
        for effect: JSONValue in [["status": 503], ["rate_limit": true], ["expire_session": true]] {
            try await add(world, ["match": ["username": username], "effect": effect, "times": 1])
            _ = try await world.send("GET", "/sdk/session", token: token)
            let entry = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
            #expect(entry["username"] == username && entry["decided_by.fault"].text != nil, "\(effect)")
        }
        let verified = try await world.send(
            "POST", "/_sim/requests/verify",
            ["match": ["username": username, "status": 503, "method": "get"], "times": 1])
        #expect(verified.status == 200)
    }

    @Test(arguments: ["/sdk/login", "/login"]) func aLoginBelongsToTheUserOfItsSignedRequest(route: String)
        async throws
    {
        let world = try await TestWorld.make()
        let mine: JSONValue = "DemoOrg-example-user-id"
        let (signed, other) = (try await world.signedRequest(), try await world.signedRequest("another-user-id"))
        let session = try await world.login()
        func login(_ signed: JSONValue, token: String? = nil) async throws -> TestWorld.Answer {
            try await world.send("POST", route, ["signed_authorization_request": signed], token: token)
        }
        try await add(
            world, ["match": ["route": .string(route), "username": mine], "effect": ["status": 503], "times": 2])
        // Another user's signed request does not match, even with a session of the user. Nor does a wrong signature.
        #expect(try await login(other, token: session).status == 200)
        let text = try #require(signed.text)
        #expect(try await login(.string(String(text.dropLast(4)) + "AAAA")).status == 401)
        #expect(try await faults(world).first?["seen"] == 0)
        let triggered = try await login(signed)
        #expect(triggered.status == 503 && triggered.headers["X-Sim-Fault"].count == 1)
        let entry = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
        #expect(entry["username"] == mine && entry["decided_by.fault"].text != nil)
        try await world.advance("2h")
        // The fault comes before the 401 of a signed request that has expired.
        #expect(try await login(signed).status == 503)
        #expect(try await login(signed).status == 401)
    }

    @Test func aLoginAnsweredByAFaultConsumesNothing() async throws {
        let world = try await TestWorld.make()
        try await add(
            world, ["match": ["username": "DemoOrg-example-user-id"], "effect": ["status": 500], "times": 9])
        let signed = try await world.signedRequest()
        func login() async throws -> Int {
            try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed]).status
        }
        // These logins do not count toward the five per minute either.
        for _ in 0..<9 { #expect(try await login() == 500) }
        #expect(try await world.counts()["sessions"] == 0)
        #expect(try await login() == 200)
        #expect(try await login() == 403, "used now")
    }

    @Test func aStatusFaultHasTheDocumentedCodeAndSDKError() async throws {
        let world = try await TestWorld.make()
        for (status, code, sdkError) in [
            (400, "bad_request", "ErrorCodeBadRequest"), (401, "unauthorized", "ErrorCodeUnauthorizedAccess"),
            (403, "forbidden", "ErrorCodeForbiddenError"), (404, "not_found", "ErrorCodeSearchItemNotFound"),
            (405, "method_not_allowed", "ErrorCodeBadRequest"),
            (408, "request_timeout", "ErrorCodeRequestTimeoutError"), (409, "conflict", "ErrorCodeBadRequest"),
            (410, "capture_timed_out", nil), (413, "payload_too_large", "ErrorCodeBadRequest"),
            (415, "unsupported_media_type", "ErrorCodeBadRequest"), (418, "bad_request", "ErrorCodeBadRequest"),
            (422, "image_rejected", "ErrorCodeImageUploadError"),
            (429, "too_many_requests", "ErrorCodeTooManyRequests"),
            (500, "internal_error", "ErrorCodeInternalServerError"),
            (503, "unavailable", "ErrorCodeInternalServerError"),
            (504, "server_timeout", "ErrorCodeServerTimeoutError"),
            (599, "internal_error", "ErrorCodeInternalServerError"),
        ] as [(Int, String, String?)] {
            try await add(world, ["effect": ["status": .number(JSONNumber(status))], "times": 1])
            let answer = try await world.send("GET", "/sdk/session")
            #expect(answer.status == status && answer["code"].text == code, "\(status): \(answer.json)")
            #expect(answer["sdk_error"].text == sdkError, "\(status): \(answer.json)")
        }
    }

    @Test func theDescriptionIsNeitherFaultedNorJournaled() async throws {
        let world = try await TestWorld.make()
        for route: JSONValue in ["*", "/openapi.yaml", "/openapi.json"] {
            try await add(world, ["match": ["route": route], "effect": ["status": 500]])
        }
        #expect(try await world.send("GET", "/openapi.yaml").status == 200)
        #expect(try await world.send("GET", "/openapi.json").status == 200)
        #expect(try await world.send("GET", "/sdk/session").status == 500)
        let journal = try await world.send("GET", "/_sim/requests")["requests"].items
        #expect(journal.map { $0["path"] } == ["/sdk/session"])
    }

    @Test func anUnknownParameterDeletesNothing() async throws {
        let world = try await TestWorld.make()
        try await add(world, ["effect": ["status": 500], "match": ["route": "/nowhere"]])
        for (method, path) in [
            ("DELETE", "/_sim/faults?id=x"), ("DELETE", "/_sim/outcomes?id=x"), ("DELETE", "/_sim/requests?route=/x"),
            ("POST", "/_sim/reset?seed=empty"),
        ] {
            let answer = try await world.send(method, path)
            #expect(answer.status == 400 && !answer["details"].items.isEmpty, "\(method) \(path)")
        }
        #expect(try await world.send("POST", "/_sim/reset", ["seed": "empty"])["details.0.field"] == "seed")
        #expect(try await faults(world).count == 1)
        #expect(try await world.send("POST", "/_sim/reset", [:]).status == 200)
        #expect(try await faults(world).isEmpty)
    }

    @Test func aRuleWithoutAMatchIsShownWithAnEmptyOne() async throws {
        let world = try await TestWorld.make()
        let answer = try await add(world, ["match": nil, "effect": ["status": 500], "times": nil])
        #expect(answer["match"] == [:] && answer["times"] == .null)
    }

    @Test func limitAndImageFaultsGiveThePlatformsOwnAnswers() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        try await add(world, ["match": ["route": "/sdk/session"], "effect": ["rate_limit": true], "times": 1])
        let limited = try await world.send("GET", "/sdk/session", token: token)
        #expect(
            limited.status == 429 && limited["code"] == "too_many_requests" && limited.headers["Retry-After"] == ["1"])
        try await add(world, ["match": ["route": "**/images/*"], "effect": ["image_upload_error": true], "times": 1])
        let capture = try await world.startCapture(token)
        let region = try #require(capture.regions.first)
        let refused = try await world.upload(capture.id, region, token)
        #expect(refused.status == 422 && refused["sdk_error"] == "ErrorCodeImageUploadError")
        let shown = try await world.send("GET", "/sdk/captures/\(capture.id)", token: token)
        #expect(shown["steps"].items.someAndAll { $0["uploaded"] == false })
        #expect(try await world.upload(capture.id, region, token).status == 200)
    }

    @Test func aRuleThatMatchesNothingIsAcceptedWithANote() async throws {
        let world = try await TestWorld.make()
        func notes(_ match: JSONValue) async throws -> String {
            try await add(world, ["match": match, "effect": ["status": 500]])["notes"].items.compactMap(\.text).joined()
        }
        #expect(try await notes(["route": "/sdkk/*"]).contains("no route"))
        #expect(try await notes(["route": "/sdk/results/ABC", "method": "PATCH"]).contains("accepts PATCH"))
        #expect(try await notes(["route": "/_sim/clock"]).contains("control API"))
        #expect(try await notes(["username": "DemoOrg-nobody-yet"]).contains("no user"))
        #expect(try await notes(["route": "/sdk/results/*/flag", "method": "put"]) == "")
        let mine = "DemoOrg-sim-test-user"
        #expect(try await notes(["route": "/v1/health", "username": .string(mine)]).contains("with \(mine)'s session"))
        for route: JSONValue in ["/sdk/results/*", "/sdk/login", "/login"] {
            #expect(try await notes(["route": route, "username": .string(mine)]) == "", "\(route)")
        }
        #expect(try await notes(["route": "/sdk/session", "method": "HEAD"]) == "")
        let image: JSONValue = ["match": ["route": "/v1/health"], "effect": ["image_upload_error": true]]
        #expect(try await add(world, image)["notes.0"].text?.contains("no image") == true)
    }

    @Test(arguments: [
        (["faults", "effect", "delay"], "-1s", "from 0s to 1h"),
        (["settings", "webhooks", "timeout"], "soon", "from 10ms to 5m"),
        (["settings", "webhooks", "timeout"], "1h", "from 10ms to 5m"),
        (["settings", "capture_timeout"], "soon", "up to 100 years"),
    ])
    func anInvalidDurationIsRefusedWithItsBounds(path: [String], value: String, bounds: String) async throws {
        let world = try await TestWorld.make()
        let body = path.dropFirst().reversed().reduce(JSONValue.string(value)) { .object([$1: $0]) }
        let answer = try await world.send(path[0] == "faults" ? "POST" : "PATCH", "/_sim/\(path[0])", body)
        #expect(answer.status == 400)
        #expect(answer["details.0.field"].text == path.dropFirst().joined(separator: "."))
        #expect(answer["details.0.problem"].text?.contains(bounds) == true, "\(answer["details.0.problem"])")
    }

    @Test func extraSlashesDoNotHideARouteFromItsFault() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["status": 503]])
        for path in ["/sdk/session", "/sdk/session/", "//sdk/session"] {
            #expect(try await world.send("GET", path, token: token).status == 503, "\(path)")
        }
    }

    /// A request that is sent again has no connection to lose, but it can be lost before it is handled.
    @Test func aResentRequestCanBeLost() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("GET", "/sdk/session", token: try await world.login())
        try await add(world, ["match": ["route": "/sdk/session"], "effect": ["lose_request": true], "times": 1])
        let id = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        let lost = try await world.send("POST", "/_sim/requests/\(id)/resend")
        #expect(lost.status == 200 && lost["status"] == .null && lost["delivered"] == false)
        try await add(
            world, ["match": ["route": "/sdk/session"], "effect": ["drop_connection": true], "times": 1])
        let kept = try await world.send("POST", "/_sim/requests/\(id)/resend")
        #expect(kept["status"] == 200 && kept["delivered"] == true && kept["effect"] == ["drop_connection": true])
    }

    /// The effect is masked, and its memory counts.
    @Test func theEffectIsMaskedAndBounded() async throws {
        let world = try await TestWorld.make()
        let body: JSONValue = ["token": "not-to-be-seen", "text": "Token demo-api-token"]
        try await add(
            world, ["match": ["route": "/sdk/session"], "effect": ["status": 500, "body": body], "times": 1])
        _ = try await world.send("GET", "/sdk/session")
        let text = try await world.send("GET", "/_sim/requests").text
        #expect(!text.contains("not-to-be-seen") && !text.contains("demo-api-token") && text.contains("\"effect\":{"))
        let large = String(repeating: "x", count: 100_000)
        _ = try await world.send("PATCH", "/_sim/settings", ["journal": ["bytes": 350_000, "body_bytes": 0]])
        try await add(
            world, ["match": ["route": "/sdk/config"], "effect": ["status": 500, "body": .string(large)]])
        for _ in 0..<9 { _ = try await world.send("GET", "/sdk/config") }
        let kept = try await world.send("GET", "/_sim/requests?route=/sdk/config")["requests"].items.count
        #expect(kept == 3, "\(kept) effects of 100,000 bytes in 350,000")
    }
}
