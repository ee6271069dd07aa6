import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The causes of refusals: the state that refused, and the request, the call or the due work that made it [D explain].
@Suite struct RefusalCauseTests {
    @Test func aRefusedTokenNamesWhatEndedItsSession() async throws {
        let world = try await TestWorld.withoutLimits()
        for end in ["revoked", "logged out", "expired"] {
            // Another session of the same user, which ends at the same moment by something else.
            let token = try await world.login()
            let id = try await world.send("GET", "/_sim/sessions")["sessions.0.id"].text ?? ""
            let other = try await world.login()
            switch end {
            case "revoked":
                _ = try await world.send("DELETE", "/_sim/sessions/\(id)")
                _ = try await world.send("POST", "/sdk/logout", token: other)
            case "logged out":
                _ = try await world.send("POST", "/sdk/logout", token: token)
                _ = try await world.send("DELETE", "/_sim/sessions")
            default: try await world.advance("25h")
            }
            #expect(try await world.send("GET", "/sdk/session", token: token).status == 401)
            let chain = try await world.chain(401)
            let made =
                switch end {
                case "revoked": ["DELETE /_sim/sessions/\(id)", "session.ended"]
                case "logged out": ["POST logout 204", "session.ended"]
                default: ["POST login 200", "due_work", "session.expired"]
                }
            #expect(chain.names == made + ["GET session 401"], "\(end)")
        }
    }

    @Test func aSignedRequestThatWasUsedNamesTheLogin() async throws {
        let world = try await TestWorld.withoutLimits()
        let signed: [JSONValue] = [try await world.signedRequest(), try await world.signedRequest()]
        for body in signed { _ = try await world.send("POST", "/sdk/login", ["signed_authorization_request": body]) }
        let first = try await world.send("GET", "/_sim/event-log?kind=session.started")["events"].items.last
        _ = try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed[0]])
        let chain = try await world.chain(403)
        #expect(chain.names == ["POST login 200", "session.started", "POST login 403"])
        #expect(chain.steps[1].id == "event:\(first?["sequence"].integer ?? 0)")
    }

    @Test func aSettingThatForbidsNamesWhoChangedIt() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let id = try await world.submit(session)
        try await world.advance("5s")
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": false]])
        _ = try await world.send("PATCH", "/_sim/settings", ["capture_timeout": "3h"])
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session)
        let refused = try await world.chain(403)
        #expect(refused.names == ["PATCH /_sim/settings", "settings.changed", "setting", "PUT flag 403"])
        #expect(refused.steps[1].text.hasSuffix("changed flagging.sdk"))
        #expect(refused.would_differ.map(\.text) == ["the setting flagging.sdk: true"])
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": true], "quota": 1])
        _ = try await world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: session)
        let quota = try await world.chain(403)
        #expect(quota.names == ["PATCH /_sim/settings", "settings.changed", "setting", "POST captures 403"])
    }

    @Test func anOrganizationsSwitchNamesTheSeedDataThatSetIt() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let id = try await world.submit(session)
        try await world.advance("5s")
        let loaded = try await world.send(
            "POST", "/_sim/seed",
            ["organizations": [["name": "DemoOrg", "api_tokens": [], "flagging": ["sdk": false]]]])
        try #require(loaded.status == 200, "\(loaded.json)")
        let again = try await world.login()
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: again)
        #expect(try await world.chain(403).names == ["POST /_sim/seed", "seed.loaded", "PUT flag 403"])
    }

    @Test func anObjectThatIsMissingNamesWhatMadeOrDeletedIt() async throws {
        let world = try await TestWorld.withoutLimits()
        let (mine, other) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let capture = try await world.startCapture(mine)
        _ = try await world.send("GET", "/sdk/captures/\(capture.id)", token: other)
        #expect(
            try await world.chain(404).names == ["POST captures 201", "capture.started", "GET \(capture.id) 404"])
        let id = try await world.submit(mine)
        _ = try await world.send("GET", "/sdk/results/\(id)", token: other)
        let foreign = try await world.chain(404)
        #expect(foreign.names == ["setting", "POST submit 200", "item.submitted", "GET \(id) 404"])
        for path in ["results", "captures"] {
            _ = try await world.send("GET", "/sdk/\(path)/NEVER123", token: mine)
            let never = try await world.chain(404)
            #expect(never.names == ["GET NEVER123 404"])
            #expect(never.steps[0].text.hasSuffix("with this id; no event of the log is about it"))
        }
        let receiver = try await WebhookReceiver.open()
        let webhook = try await world.subscribe(receiver)
        _ = try await world.send("DELETE", "/v2/webhooks/\(webhook)", token: TestWorld.apiToken)
        _ = try await world.send("DELETE", "/v2/webhooks/\(webhook)", token: TestWorld.apiToken)
        #expect(
            try await world.chain(404).names == [
                "DELETE \(webhook) 204", "subscription.deleted", "DELETE \(webhook) 404",
            ])
    }

    @Test func aWrongStateNamesWhatMadeIt() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let cancelled = try await world.startCapture(session).id
        for _ in 0..<2 { _ = try await world.send("POST", "/sdk/captures/\(cancelled)/cancel", token: session) }
        #expect(try await world.chain(409).names == ["POST cancel 200", "capture.cancelled", "POST cancel 409"])
        let id = try await world.submit(session)
        try await world.advance("5s")
        for _ in 0..<2 { _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session) }
        #expect(try await world.chain(409).names == ["PUT flag 200", "flag.set", "PUT flag 409"])
        _ = try await world.send("POST", "/_sim/authentications/\(id)/flag/resolve", ["note": "seen"])
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": false], token: session)
        #expect(
            try await world.chain(409).names == [
                "POST /_sim/authentications/\(id)/flag/resolve", "flag.resolved", "PUT flag 409",
            ])
        _ = try await world.send("POST", "/_sim/authentications/\(id)/retake", [:])
        for _ in 0..<2 {
            let capture = try await world.send("POST", "/sdk/results/\(id)/retake", token: session)
            guard capture.status == 200 || capture.status == 201 else { break }
            for step in capture["steps"].items {
                _ = try await world.send(
                    "PUT", "/sdk/captures/\(capture["capture_id"].text ?? "")/images/\(step["region_id"].text ?? "")",
                    bytes: TestWorld.picture, token: session, headers: ["Content-Type": "image/jpeg"])
            }
            _ = try await world.send("POST", "/sdk/captures/\(capture["capture_id"].text ?? "")/submit", token: session)
        }
        #expect(try await world.chain(409).names == ["POST submit 200", "retake.answered", "POST retake 409"])
    }

    @Test func aRefusalOfAComponentNamesItsSession() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.workflowSession()
        let path = "/components/sessions/\(session)"
        _ = try await world.send("POST", "\(path)/biometrics", [:])
        _ = try await world.send("POST", "\(path)/biometrics", [:])
        #expect(
            try await world.chain(409).names == [
                "POST biometrics 201", "component.started", "POST biometrics 409",
            ])
        _ = try await world.send("DELETE", path)
        _ = try await world.send("POST", "\(path)/biometrics", [:])
        #expect(
            try await world.chain(401).names == [
                "DELETE \(session) 200", "component.session.cleared", "POST biometrics 401",
            ])
        let code = try await world.validationCode()["validationCode"]
        for _ in 0..<2 {
            _ = try await world.send(
                "POST", "/components/sessions", ["networkEnvironment": "sandbox", "validationCode": code])
        }
        #expect(
            try await world.chain(401).names == [
                "POST sessions 201", "component.session.started", "POST sessions 401",
            ])
    }

    @Test func onAFrozenClockTheStepsStandInTheOrderInWhichTheyHappened() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let id = try await world.submit(session)
        for result in ["authentic", "unknown", "authentic"] {
            _ = try await world.send("GET", "/sdk/results/\(id)/none", token: session)
            _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": .string(result)])
            _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": false], token: session)
        }
        let steps = try await world.explain(id).steps
        let numbers = steps.map { Int($0.id.split(separator: ":").last ?? "") ?? 0 }
        for kind in [Explanation.Step.Kind.event, .request, .control] {
            let own = zip(steps, numbers).filter { $0.0.kind == kind }.map(\.1)
            #expect(own == own.sorted() && own.count >= 3, "\(kind): \(own)")
        }
        let mixed = try await world.explain(id).names.filter { $0.contains("flag") || $0.hasPrefix("result") }
        let refusal = "PUT flag"
        #expect(mixed.map { $0.hasPrefix(refusal) } == [false, true, false, true, false, true], "\(mixed)")
    }

    @Test func aFaultSaysWhichRuleWouldBeTriggeredWithoutIt() async throws {
        let world = try await TestWorld.withoutLimits()
        func add(_ more: JSONObject) async throws -> String {
            let rule: JSONObject = ["match": ["route": "/sdk/session"], "effect": ["status": 503]]
            let answer = try await world.send("POST", "/_sim/faults", .object(rule.merging(more) { $1 }))
            return try #require(answer["id"].text)
        }
        func otherwise() async throws -> [String] {
            _ = try await world.send("GET", "/sdk/session")
            return try await world.chain(503).would_differ.map(\.text)
        }
        _ = try await add(["times": 2])
        // These match, but would not be triggered.
        _ = try await add(["match": ["route": "/sdk/config"]])
        _ = try await add(["after_requests": 1])
        #expect(try await otherwise() == ["without it the request is handled as usual"])
        let next = try await add(["effect": ["delay": "0s"]])
        #expect(try await otherwise() == ["without it the fault rule \(next) is triggered"])
    }

    @Test func anAttemptsFaultSaysWhichRuleWouldBeTriggeredWithoutIt() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver, ["events": ["session.updated"]])
        func add(_ event: String, _ effect: String, _ more: JSONObject) async throws -> String {
            let rule: JSONObject = ["match": ["webhook": .string(event)], "effect": .object([effect: true])]
            let answer = try await world.send("POST", "/_sim/faults", .object(rule.merging(more) { $1 }))
            return try #require(answer["id"].text, "\(answer.json)")
        }
        _ = try await add("session.updated", "drop", ["times": 1])
        _ = try await add("session.completed", "drop", [:])
        let next = try await add("session.*", "wrong_signature", [:])
        _ = try await world.submit(try await world.login())
        try await world.settleWebhooks()
        try await world.advance("1s")
        try await world.settleWebhooks()
        let id = try #require(try await world.webhookDeliveries().first?["id"].text)
        let found = try await world.explain(id).would_differ.sorted { $0.step.suffix(2) < $1.step.suffix(2) }
        #expect(
            found.filter { $0.text.contains("attempt") || $0.text.contains("fault") }.map(\.text) == [
                "without it the fault rule \(next) is triggered", "without it the attempt is made as usual",
            ])
    }

    @Test func anItemThatIsReadTooEarlySaysWhenItsResultIsDue() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let id = try await world.submit(session)
        let reads = [
            ("/sdk/results/\(id)", session), ("/v2/authentications/\(id)", TestWorld.apiToken),
            ("/sdk/results/\(id)/market-edge", session),
        ]
        for (path, token) in reads {
            let answer = try await world.send("GET", path, token: token)
            let last = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
            #expect(last["because"].text?.hasSuffix("under review, due in 5 s") == true, "\(last)")
            #expect(!answer.text.contains("due in"))
            let steps = try await world.chain(answer.status).steps
            #expect(steps.last?.text.hasSuffix("under review, due in 5 s") == true)
        }
        try await world.advance("5s")
        _ = try await world.send("GET", "/sdk/results/\(id)", token: session)
        #expect(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.because"] == .null)
    }
}
