import Foundation
import SimulationAPI
import TestSupport
import Testing

/// What the vendor may change without notice. Each answer is also checked against the description.
@Suite struct FutureTests {
    private func world(_ switches: String..., randomSeed: Int = 7) async throws -> TestWorld {
        try await TestWorld.make(
            randomSeed: randomSeed,
            settings: ["future": .object(JSONObject(switches.map { ($0, .bool(true)) })), "rate_limits": "off"])
    }

    /// The paths of the objects of a document that have no unknown member.
    private func known(_ value: JSONValue, at path: String = "") -> [String] {
        switch value {
        case .object(let members):
            let isKnown = !members.keys.contains { $0.hasPrefix("x_") }
            return (isKnown ? [path] : [])
                + members.filter { !$0.key.hasPrefix("x_") }.flatMap { known($0.value, at: "\(path)/\($0.key)") }
        case .array(let elements): return elements.flatMap { known($0, at: path) }
        default: return []
        }
    }

    @Test func everyObjectOfAnAnswerHasAFurtherMemberAndThoseOfTheControlAPIHaveNone() async throws {
        let world = try await world("members")
        let session = try await world.login()
        let item = try await world.submit(session)
        try await world.advance("1h")
        var kinds: Set<String> = []
        for (path, token) in [
            ("/sdk/config", session), ("/sdk/results/\(item)", session),
            ("/v2/authentications/\(item)", TestWorld.apiToken),
            ("/v2/authentications/nothing", TestWorld.apiToken), ("/sdk/captures", session),
        ] {
            let answer = try await world.send("GET", path, token: token)
            #expect(known(answer.json).isEmpty, "\(path): \(known(answer.json))")
            // Equal requests get equal members.
            func added(_ answer: TestWorld.Answer) -> [String] {
                answer.json.allMembers.filter { $0.name.hasPrefix("x_") }.map { "\($0.name) \($0.value)" }.sorted()
            }
            let again = try await world.send("GET", path, token: token)
            #expect(added(again) == added(answer) && !added(answer).isEmpty)
            for member in answer.json.allMembers where member.name.hasPrefix("x_") {
                kinds.insert(member.value.typeName)
            }
        }
        #expect(kinds.count > 3, "\(kinds)")
        let control = try await world.send("GET", "/_sim/authentications/\(item)")
        #expect(!control.json.allMembers.contains { $0.name.hasPrefix("x_") })
    }

    @Test func theSamePlaceHasTheSameMemberInEachAnswerAndAnotherOneWithAnotherSeed() async throws {
        let names = try await [7, 7, 8].asyncMap { seed in
            let world = try await world("members", randomSeed: seed)
            return try await world.send("GET", "/sdk/session", token: world.login()).json.members?.keys.sorted() ?? []
        }
        #expect(names[0] == names[1] && names[0] != names[2], "\(names)")
    }

    @Test func membersAndListsWithoutAnOrderComeInAnotherOrder() async throws {
        let (today, tomorrow) = (try await world(), try await world("order"))
        let path = "/sdk/config"
        let before = try await today.send("GET", path, token: today.login())
        let after = try await tomorrow.send("GET", path, token: tomorrow.login())
        func ids(_ answer: TestWorld.Answer, _ list: String) -> [String] {
            answer[list].items.compactMap { $0["id"].text }
        }
        let (was, now) = (ids(before, "product_categories"), ids(after, "product_categories"))
        #expect(was != now && was.sorted() == now.sorted() && was.count > 1)
        // The pictures of a capture are taken in order.
        func steps(_ answer: TestWorld.Answer) -> [String] {
            let sneakers = answer["product_categories"].items.first { $0["id"] == "sneakers" }
            return sneakers?["capture_steps"].items.compactMap { $0["region_id"].text } ?? []
        }
        #expect(steps(before) == steps(after) && steps(after).count > 3)
        let refused = try await tomorrow.send("POST", "/sdk/login", [:])
        let names = ["code", "details", "error", "request_id", "sdk_error"].map {
            refused.text.range(of: "\"\($0)\":")!.lowerBound
        }
        #expect(names != names.sorted())
    }

    @Test func aConfigurationFromBeforeAChangeIsNotTheSame() async throws {
        let world = try await world()
        let session = try await world.login()
        let tag = try #require(try await world.send("GET", "/sdk/config", token: session).headers["ETag"].first)
        for (isOn, status) in [(false, 304), (true, 200)] {
            _ = try await world.send("PATCH", "/_sim/settings", ["future": ["members": .bool(isOn)]])
            let answer = try await world.send("GET", "/sdk/config", token: session, headers: ["If-None-Match": tag])
            #expect(answer.status == status)
        }
    }

    @Test func onlyErrorsThatTheDescriptionLacksHaveAnotherStatus() async throws {
        let world = try await world("errors")
        for (method, path) in [("DELETE", "/sdk/login"), ("GET", "/sdk/nothing"), ("POST", "/v2/authentications")] {
            let answer = try await world.sendUnchecked(method, path)
            #expect([400, 422].contains(answer.status), "\(method) \(path): \(answer.status)")
            if method == "GET" { #expect(try await world.sendUnchecked("HEAD", path).status == answer.status) }
            #expect(["method_not_allowed", "unknown_route"].contains(answer["code"].text))
        }
        let because = try await world.send("GET", "/_sim/requests?limit=1")["requests.0.because"].text
        #expect(
            because?.contains("future.errors") == true && because?.contains("no route has this path") == true,
            "\(because ?? "nothing")")
        #expect(try await world.send("GET", "/sdk/session").status == 401)
        #expect(try await world.send("GET", "/v2/authentications/x", token: TestWorld.apiToken).status == 404)
        #expect(try await world.send("GET", "/_sim/nothing").status == 404)
    }

    @Test func whatAFaultSaysStays() async throws {
        let world = try await world("members", "order", "errors")
        _ = try await world.send(
            "POST", "/_sim/faults",
            ["match": ["route": "/sdk/session"], "effect": ["status": 418, "body": ["b": 1, "a": 2]]])
        let answer = try await world.send("GET", "/sdk/session")
        #expect(answer.status == 418 && answer.text == #"{"a":2,"b":1}"#, "\(answer.status) \(answer.text)")
    }

    @Test(arguments: ["items", "event"]) func aFurtherEventFollowsEachOfASession(format: String) async throws {
        let world = try await world("events", "members")
        try await world.subscribe(
            url: "http://127.0.0.1:9/", ["format": .string(format), "events": ["session.completed"]])
        _ = try await world.submit(world.login())
        try await world.advance("1h")
        // The control API shows what is sent.
        let sent = try await world.webhookDeliveries()
        try #require(sent.count == 2)
        let further = try #require(sent[1]["event"].text)
        #expect(sent[0]["event"] == "session.completed" && further.hasPrefix("session.x_"))
        #expect(sent[0]["event_id"] != sent[1]["event_id"])
        for delivery in sent {
            let body = try await world.send("GET", "/_sim/webhook-deliveries/\(delivery["id"].text ?? "")")["body"]
            #expect(body != .null && known(body).isEmpty, "\(known(body))")
            #expect(body["event"] == (format == "event" ? delivery["event"] : nil))
        }
        let rule = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "session.x_*"], "effect": ["drop": true]])
        #expect(rule["notes"] == [], "\(rule["notes"])")
        // Tests can name it, and a snapshot of it is valid.
        let choices = try await world.send("GET", "/_sim/choices")["lists.webhook_events"].items.map { $0["id"].text }
        #expect(choices.contains(further), "\(choices)")
        #expect([200, 201].contains(try await uploadedSnapshot(of: world).status))
    }

    /// The answer of another namespace to a snapshot of this one.
    private func uploadedSnapshot(of world: TestWorld) async throws -> TestWorld.Answer {
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        return try await TestWorld.make().send(
            "PUT", "/_sim/snapshots/s", bytes: try await world.send("GET", "/_sim/snapshots/s").body,
            headers: ["Content-Type": "application/octet-stream"])
    }

    @Test func idsTokensAndCursorsAreLongerAndThoseFromBeforeStay() async throws {
        let world = try await world()
        let session = try await world.login()
        _ = try await world.submit(session)
        _ = try await world.submit(session)
        let page = try await world.send("POST", "/v2/search/authentications", ["limit": 1], token: TestWorld.apiToken)
        let cursor = page["next_cursor"]
        let sdkPage = try await world.send("POST", "/sdk/search", ["limit": 1], token: session)
        let early = try await world.startCapture(session)
        for isOn in [true, false] {
            try #require(
                try await world.send("PATCH", "/_sim/settings", ["future": ["opaque": .bool(isOn)]]).status == 200)
            let next = try await world.send(
                "POST", "/v2/search/authentications", ["limit": 1, "cursor": cursor], token: TestWorld.apiToken)
            #expect(next.status == 200 && next["item_count"] == 1)
            let sdkNext = try await world.send(
                "POST", "/sdk/search", ["limit": 1, "cursor": sdkPage["next_cursor"]], token: session)
            #expect(sdkNext.status == 200 && sdkNext["item_count"] == 1)
            #expect(try await world.send("GET", "/sdk/captures/\(early.id)", token: session).status == 200)
        }
        _ = try await world.send("PATCH", "/_sim/settings", ["future": ["opaque": true]])
        let later = try await world.login()
        let capture = try await world.startCapture(later)
        #expect(later.utf8.count > session.utf8.count && capture.id.utf8.count > early.id.utf8.count)
        let longer = try await world.send("POST", "/v2/search/authentications", ["limit": 1], token: TestWorld.apiToken)
        #expect(longer["next_cursor"].text?.utf8.count ?? 0 > cursor.text?.utf8.count ?? 0)
        // A longer cursor that is cut is not the shorter one.
        let cut = longer["next_cursor"].text.map { String($0.prefix(cursor.text?.count ?? 0)) }
        let refused = try await world.send(
            "POST", "/v2/search/authentications", ["limit": 1, "cursor": .string(cut ?? "")], token: TestWorld.apiToken)
        #expect(refused.status == 400)
        // A snapshot of both forms is valid, and masks hide the longer token.
        #expect([200, 201].contains(try await uploadedSnapshot(of: world).status))
        let journal = try await world.send("GET", "/_sim/requests?limit=50")
        #expect(!journal.text.contains(later))
    }

    @Test func aSwitchThatIsNoneIsRefused() async throws {
        let world = try await world()
        let answer = try await world.send("PATCH", "/_sim/settings", ["future": ["member": true]])
        #expect(answer.status == 400 && answer["details.0.problem"].text?.contains("members") == true)
        #expect(try await world.send("PATCH", "/_sim/settings", ["future": ["order": "yes"]]).status == 400)
    }
}

extension Sequence where Self: Sendable {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}

extension JSONValue {
    /// The members of all objects of the document.
    fileprivate var allMembers: [(name: String, value: JSONValue)] {
        switch self {
        case .object(let members): members.flatMap { [(name: $0.key, value: $0.value)] + $0.value.allMembers }
        case .array(let elements): elements.flatMap(\.allMembers)
        default: []
        }
    }
}
