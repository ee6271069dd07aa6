import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The causes of refusals: the state that refused, and the request, the call or the due work that made it [D explain].
@Suite struct RefusalCauseTests: HoldSteps {
    /// The explanation of the last request, whose answer must have a status.
    private func chain(_ world: TestWorld, _ status: Int) async throws -> Explanation {
        let last = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
        try #require(last["status"].integer == status, "\(last)")
        return try await world.explain("sequence:\(last["sequence"].integer ?? 0)")
    }

    /// The kinds of the steps, of events the kinds of those, of requests the method, the last component of the path and the status.
    private func names(_ explanation: Explanation) -> [String] {
        explanation.steps.map { step in
            let words = step.text.components(separatedBy: " ")
            switch step.kind {
            case .request:
                let status = step.text.components(separatedBy: " -> ").last?.prefix(3) ?? ""
                return "\(words[0]) \(words[1].components(separatedBy: "/").last ?? "") \(status)"
            case .event: return words[0]
            case .control: return step.text
            default: return step.kind.rawValue
            }
        }
    }

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
            let chain = try await chain(world, 401)
            let made =
                switch end {
                case "revoked": ["DELETE /_sim/sessions/\(id)", "session.ended"]
                case "logged out": ["POST logout 204", "session.ended"]
                default: ["POST login 200", "due_work", "session.expired"]
                }
            #expect(names(chain) == made + ["GET session 401"], "\(end)")
        }
    }

    @Test func aSignedRequestThatWasUsedNamesTheLogin() async throws {
        let world = try await TestWorld.withoutLimits()
        let signed: [JSONValue] = [try await world.signedRequest(), try await world.signedRequest()]
        for body in signed { _ = try await world.send("POST", "/sdk/login", ["signed_authorization_request": body]) }
        let first = try await world.send("GET", "/_sim/event-log?kind=session.started")["events"].items.last
        _ = try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed[0]])
        let chain = try await chain(world, 403)
        #expect(names(chain) == ["POST login 200", "session.started", "POST login 403"])
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
        let refused = try await chain(world, 403)
        #expect(names(refused) == ["PATCH /_sim/settings", "settings.changed", "setting", "PUT flag 403"])
        #expect(refused.steps[1].text.hasSuffix("changed flagging.sdk"))
        #expect(refused.would_differ.map(\.text) == ["the setting flagging.sdk: true"])
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": true], "quota": 1])
        _ = try await world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: session)
        let quota = try await chain(world, 403)
        #expect(names(quota) == ["PATCH /_sim/settings", "settings.changed", "setting", "POST captures 403"])
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
        #expect(names(try await chain(world, 403)) == ["POST /_sim/seed", "seed.loaded", "PUT flag 403"])
    }

    @Test func anObjectThatIsMissingNamesWhatMadeOrDeletedIt() async throws {
        let world = try await TestWorld.withoutLimits()
        let (mine, other) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let capture = try await world.startCapture(mine)
        _ = try await world.send("GET", "/sdk/captures/\(capture.id)", token: other)
        #expect(
            names(try await chain(world, 404)) == ["POST captures 201", "capture.started", "GET \(capture.id) 404"])
        let id = try await world.submit(mine)
        _ = try await world.send("GET", "/sdk/results/\(id)", token: other)
        let foreign = try await chain(world, 404)
        #expect(names(foreign) == ["setting", "POST submit 200", "item.submitted", "GET \(id) 404"])
        for path in ["results", "captures"] {
            _ = try await world.send("GET", "/sdk/\(path)/NEVER123", token: mine)
            let never = try await chain(world, 404)
            #expect(names(never) == ["GET NEVER123 404"])
            #expect(never.steps[0].text.hasSuffix("with this id; no event of the log is about it"))
        }
        let receiver = try await WebhookReceiver.open()
        let webhook = try await world.subscribe(receiver)
        _ = try await world.send("DELETE", "/v2/webhooks/\(webhook)", token: TestWorld.apiToken)
        _ = try await world.send("DELETE", "/v2/webhooks/\(webhook)", token: TestWorld.apiToken)
        #expect(
            names(try await chain(world, 404)) == [
                "DELETE \(webhook) 204", "subscription.deleted", "DELETE \(webhook) 404",
            ])
    }

    @Test func aWrongStateNamesWhatMadeIt() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let cancelled = try await world.startCapture(session).id
        for _ in 0..<2 { _ = try await world.send("POST", "/sdk/captures/\(cancelled)/cancel", token: session) }
        #expect(names(try await chain(world, 409)) == ["POST cancel 200", "capture.cancelled", "POST cancel 409"])
        let id = try await world.submit(session)
        try await world.advance("5s")
        for _ in 0..<2 { _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session) }
        #expect(names(try await chain(world, 409)) == ["PUT flag 200", "flag.set", "PUT flag 409"])
        _ = try await world.send("POST", "/_sim/authentications/\(id)/flag/resolve", ["note": "seen"])
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": false], token: session)
        #expect(
            names(try await chain(world, 409)) == [
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
        #expect(names(try await chain(world, 409)) == ["POST submit 200", "retake.answered", "POST retake 409"])
    }

    @Test func aRefusalOfAComponentNamesItsSession() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.workflowSession()
        let path = "/components/sessions/\(session)"
        _ = try await world.send("POST", "\(path)/biometrics", [:])
        _ = try await world.send("POST", "\(path)/biometrics", [:])
        #expect(
            names(try await chain(world, 409)) == [
                "POST biometrics 201", "component.started", "POST biometrics 409",
            ])
        _ = try await world.send("DELETE", path)
        _ = try await world.send("POST", "\(path)/biometrics", [:])
        #expect(
            names(try await chain(world, 401)) == [
                "DELETE \(session) 200", "component.session.cleared", "POST biometrics 401",
            ])
        let code = try await world.validationCode()["validationCode"]
        for _ in 0..<2 {
            _ = try await world.send(
                "POST", "/components/sessions", ["networkEnvironment": "sandbox", "validationCode": code])
        }
        #expect(
            names(try await chain(world, 401)) == [
                "POST sessions 201", "component.session.started", "POST sessions 401",
            ])
    }

    /// Two submits of one capture, of which one is held until the other has been handled.
    @Test(arguments: [true, false]) func aRaceNamesTheOtherRequestAndTheRelease(isFrozen: Bool) async throws {
        let world = try await TestWorld.withoutLimits()
        if !isFrozen { _ = try await world.send("POST", "/_sim/clock/resume") }
        let session = try await world.login()
        let capture = try await world.readyCapture(session)
        let path = "/sdk/captures/\(capture)/submit"
        try await hold(world, path)
        async let loser = world.send("POST", path, token: session)
        let held = try await held(world)[0]
        #expect(try await world.send("POST", path, token: session).status == 200)
        _ = try await release(world, held)
        #expect(try await loser.status == 409)
        _ = try await entry(world, held)
        let sequence = held["request.sequence"].integer ?? 0
        let chain = try await world.explain("sequence:\(sequence)")
        let names = names(chain).filter { !$0.contains("result") && $0 != "setting" && $0 != "rule" }
        let release = "POST /_sim/held/\(held["id"].text ?? "")/release"
        let before = ["POST /_sim/faults", "fault.added", "request.held", "POST submit 200", "capture.submitted"]
        #expect(names == before + [release, "request.released", "POST submit 409"])
        let released = try #require(chain.steps.first { $0.text.hasPrefix("request.released") })
        #expect(chain.steps.last?.causes.contains(released.id) == true)
        let winner = try #require(chain.steps.first { $0.text.hasPrefix("POST \(path) -> 200") })
        #expect(chain.steps.contains { $0.text.hasPrefix("capture.submitted") && $0.causes == [winner.id] })
        #expect(!chain.forgotten)
        // From the release, the request follows.
        let call = try #require(chain.steps.first { $0.text == release })
        #expect(try await world.explain(call.id).steps.contains { $0.id == "sequence:\(sequence)" })
    }

    @Test(arguments: ["before", "after"]) func theEndOfTheTimeOfAHoldIsAStep(when: String) async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        try await hold(world, "/sdk/session", ["when": .string(when), "for": "0.05s"])
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 200)
        let chain = try await chain(world, 200)
        let ended = try #require(chain.steps.first { $0.text.hasPrefix("request.released") })
        #expect(ended.text.contains("reason its time was over") && ended.kind == .event && !chain.forgotten)
        let steps = names(chain).filter { $0 == "GET session 200" || $0.hasPrefix("request.") }
        let events = ["request.held", "request.released"]
        #expect(steps == (when == "before" ? events + ["GET session 200"] : ["GET session 200"] + events))
    }

    @Test func theReleaseOfAKeptAnswerFollowsFromItsRequest() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        try await hold(world, "/sdk/captures", ["when": "after"])
        async let answer = world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: session)
        let held = try await held(world)[0]
        _ = try await world.send("DELETE", "/_sim/held")
        #expect(try await answer.status == 201)
        _ = try await entry(world, held)
        let chain = try await world.explain("sequence:\(held["request.sequence"].integer ?? 0)")
        let names = names(chain).filter { $0 != "rule" && $0 != "due_work" && !$0.contains("fault") }
        #expect(
            names == ["POST captures 201", "request.held", "capture.started", "DELETE /_sim/held", "request.released"])
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
        let mixed = names(try await world.explain(id)).filter { $0.contains("flag") || $0.hasPrefix("result") }
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
            return try await chain(world, 503).would_differ.map(\.text)
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
            let steps = try await chain(world, answer.status).steps
            #expect(steps.last?.text.hasSuffix("under review, due in 5 s") == true)
        }
        try await world.advance("5s")
        _ = try await world.send("GET", "/sdk/results/\(id)", token: session)
        #expect(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.because"] == .null)
    }

    /// A file from outside may have any numbers, and causes that lead in a circle.
    @Test(arguments: [(Int64.min, Int64.max), (.max, .min), (-5, -1), (0, .max)])
    func aDamagedBundleIsExplainedAsFarAsItGoes(after: Int64, through: Int64) async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login("user-of-a")
        _ = try await world.send("GET", "/sdk/results/NONE", token: session)
        let archive = try TarFile(try await world.send("GET", "/_sim/bundle").body)
        let text = try archive.text(of: "journal.json")
        let state = #""state":{"about":"DemoOrg-user-of-a","kinds":["session.started"]}"#
        let changed =
            text
            .replacing(/"changes":{[^}]*}/, with: #""changes":{"after":\#(after),"through":\#(through)}"#)
            .replacing(/,"state":{[^}]*}/, with: "")
            .replacing(/"outcome":null/, with: #""outcome":null,\#(state)"#)
        try #require(changed.contains(state) && changed.contains("\(through)"))
        try await archive.opened(withJournal: changed) { opened in
            let chain = try await chain(opened, 404)
            #expect(names(chain).contains("session.started") && names(chain).last == "GET NONE 404")
            for entry in try await opened.send("GET", "/_sim/requests")["requests"].items {
                let sequence = entry["sequence"].integer ?? 0
                #expect(try await opened.send("GET", "/_sim/explain/sequence:\(sequence)").status == 200)
                #expect(try await opened.send("GET", "/_sim/console/requests/sequence:\(sequence)").status == 200)
            }
        }
    }
}
