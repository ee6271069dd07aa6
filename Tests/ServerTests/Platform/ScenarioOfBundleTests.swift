import Foundation
import SimulationAPI
import TestSupport
import Testing
import Yams

@testable import entrupy_sim

/// `entrupy-sim scenario from BUNDLE` and `scenario verify FILE --bundle BUNDLE`, in this process.
@Suite struct ScenarioOfBundleTests {
    /// A folder with a bundle, and the commands on it.
    private struct Folder {
        let path: String
        var bundle: String { path + "/failure.bundle.tar" }
        var file: String { path + "/case.yaml" }

        /// The exit code, and what is wrong.
        private func ran(_ body: () async throws -> Bool) async throws -> (status: Int32, output: String) {
            do {
                return (try await body() ? 0 : 1, "")
            } catch let refusal as Refusal {
                return (refusal.code.rawValue, "\(refusal.message) \(refusal.next ?? "")")
            }
        }

        func from(_ more: String...) async throws -> (status: Int32, output: String) {
            let command = try ScenarioFromCommand.parse([bundle, "-o", file, "--force"] + more)
            return try await ran {
                try await command.run()
                return true
            }
        }

        func verify() async throws -> (status: Int32, output: String) {
            try await ran { try await BundleVerification.run(file, bundle, isStrict: false).0.verified == true }
        }

        func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

        func document() throws -> [String: Any] { try #require(try load(yaml: text()) as? [String: Any]) }

        func expectations() throws -> [[String: Any]] { try document()["expect"] as? [[String: Any]] ?? [] }
    }

    private func withBundle(_ bundle: Data, _ body: (Folder) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("bundle-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let folder = Folder(path: directory.path)
        try bundle.write(to: URL(fileURLWithPath: folder.bundle))
        try await body(folder)
    }

    private func bundle(of world: TestWorld) async throws -> Data { try await world.send("GET", "/_sim/bundle").body }

    /// Starts the scenario in a new namespace.
    private func start(_ folder: Folder, in world: TestWorld) async throws {
        let name = "from-\(UUID().uuidString.lowercased().prefix(8))"
        let body: JSONValue = ["scenario": .string(try folder.text()), "namespace": .string(name)]
        let run = try await world.send("POST", "/_sim/scenarios/start", body)
        #expect(run.status == 200, "\(run.text)")
        #expect(try await world.root.send("GET", "/ns/\(name)/_sim/info")["namespace.clock.mode"] == "frozen")
        #expect(try await world.root.send("DELETE", "/_sim/namespaces/\(name)").status == 204)
    }

    /// A run whose last request is refused: b asks for the item of a.
    private func failedRun(_ name: String = "sku-1") async throws -> (TestWorld, item: String) {
        let world = try await TestWorld.make(settings: ["result": ["delay": "2h"]])
        _ = try await world.send("POST", "/_sim/authentications", ["brand": "Gucci", "customer_item_id": "before"])
        _ = try await world.send(
            "POST", "/_sim/outcomes", ["match": ["customer_item_id": "sku-*"], "result": "unknown"])
        let (a, b) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let item = try await world.submit(a, item: TestWorld.nike.merging(["customer_item_id": .string(name)]))
        try await world.advance("90m")
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/search"], "effect": ["status": 503], "times": 1])
        for _ in 0..<2 { _ = try await world.send("POST", "/sdk/search", [:], token: a) }
        _ = try await world.send(
            "PATCH", "/_sim/authentications/\(item)", ["result": "authentic"])
        _ = try await world.send("POST", "/_sim/authentications/\(item)/retake", ["message": "again: # please"])
        _ = try await world.send("GET", "/sdk/results/\(item)", token: a)
        _ = try await world.send("GET", "/sdk/results/\(item)", token: b)
        return (world, item)
    }

    @Test func itEndsWithTheRequestThatIsNamed() async throws {
        let (world, _) = try await failedRun()
        let list = try await world.send("GET", "/_sim/requests")["requests"].items
        let searches = list.filter { $0["path"] == "/sdk/search" }
        try #require(searches.map { $0["status"].integer } == [200, 503])
        try await withBundle(try await bundle(of: world)) { folder in
            for (search, isAnswered) in zip(searches, [true, false]) {
                let id = try #require(search["id"].text)
                let number = try #require(search["sequence"].integer)
                for name in [id, "sequence:\(number)"] {
                    let made = try await folder.from("--until", name)
                    try #require(made.status == 0, "\(made.output)")
                    let text = try folder.text()
                    #expect(text.contains("up to #\(number)"))
                    #expect(text.contains("CHOOSE: #\(number) was 503, by the fault flt_") == !isAnswered)
                    // Later requests are left out.
                    #expect(!text.contains("/sdk/results/") && !text.contains("retake:"))
                    #expect(try await folder.verify().status == 0)
                }
            }
        }
    }

    @Test func aScenarioThatWasStartedKeepsItsParts() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            name: mine
            description: mine
            clock: {freeze: 2026-01-05T09:00:00Z}
            items: [{count: 3, template: {brand: Gucci, customer_item_id: "pre-{n}"}}]
            outcomes: [{match: {brand: Nike}, result: unknown, after: 3h}]
            faults: [{match: {route: /sdk/search}, effect: {status: 503}, times: 2}]
            timeline: [{at: 1h, set_result: {customer_item_id: pre-1, result: unknown}}]
            subscriptions: [{url: "http://127.0.0.1:1/h", secret_key: top-secret-1}]
            expect: [{route: /sdk/login, status: 200}, {route: /sdk/serch, times: 2}]
            """
        let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        try #require(started.status == 200, "\(started.json)")
        _ = try await world.login("user-of-a")
        try await world.advance("2h")
        _ = try await world.send("POST", "/_sim/faults", ["match": ["route": "/sdk/late"], "effect": ["status": 500]])
        _ = try await world.send("GET", "/sdk/nothing")
        try await withBundle(try await bundle(of: world)) { folder in
            let made = try await folder.from()
            try #require(made.status == 0, "\(made.output)")
            let document = try folder.document()
            let lists = try ["items", "subscriptions", "outcomes", "faults", "timeline"].map { key in
                try #require(document[key] as? [[String: Any]], "\(key)").count
            }
            #expect(lists == [1, 1, 1, 1, 2], "the action and what it caused is there once")
            let expected = try #require(document["expect"] as? [[String: Any]]).compactMap { $0["route"] as? String }
            #expect(expected.prefix(2) == ["/sdk/login", "/sdk/serch"] && !expected.contains("/sdk/nothing"))
            let text = try folder.text()
            #expect(!text.contains("top-secret-1") && !text.contains("after the start; here it is there"))
            #expect(text.contains("--strict refuses this"), "nothing matches /sdk/late")
            try await start(folder, in: world)
        }
    }

    @Test func subscriptionsComeWithoutTheirSecrets() async throws {
        let world = try await TestWorld.make()
        let gone = try await world.send(
            "POST", "/_sim/webhooks", ["url": "http://127.0.0.1:1/gone", "secret_key": "top-secret-0"])
        _ = try await world.send("DELETE", "/_sim/webhooks/\(gone["id"].text ?? "")")
        try await world.advance("90m")
        for (index, more)
            in ([
                ["events": ["session.completed", "support.message"], "username": "DemoOrg-user-of-a"],
                ["organization": "OtherOrg", "format": "event", "signature": "hex"],
            ] as [JSONValue]).enumerated()
        {
            let made = try await world.send(
                "POST", "/_sim/webhooks",
                more.merging([
                    "url": .string("http://127.0.0.1:1/\(index)?key=top-secret-\(index + 1)&q=a:%20b"),
                    "secret_key": .string("top-secret-\(index + 1)"),
                ]))
            try #require(made.status == 201, "\(made.json)")
        }
        let own = try await world.send(
            "POST", "/v1/webhooks", ["url": "http://127.0.0.1:1/own", "secret_key": "top-secret-3"],
            token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
        try #require(own.status == 201, "\(own.json)")
        let list = try await world.send("GET", "/_sim/requests")["requests"].items
        let last = try #require(list.first?["sequence"].integer)
        _ = try await world.send(
            "POST", "/_sim/webhooks", ["url": "http://127.0.0.1:1/late", "secret_key": "late-one"])
        _ = try await world.send("GET", "/sdk/session")
        try await withBundle(try await bundle(of: world)) { folder in
            let made = try await folder.from("--until", "sequence:\(last)")
            try #require(made.status == 0, "\(made.output)")
            let text = try folder.text()
            #expect(
                !text.contains("top-secret") && text.contains("CHOOSE: the secrets that sign deliveries"), "\(text)")
            #expect(
                text.contains("Made 1h30m after the start") && text.contains("that the run deleted are not here: 1"))
            #expect(text.contains("CHOOSE: a request of the run made it") && text.contains("had the version 1.3"))
            let document = try folder.document()
            let parts = try #require(document["subscriptions"] as? [[String: Any]])
            #expect(parts.someAndAll { $0["secret_key"] as? String == "choose-a-secret" })
            let urls = parts.compactMap { $0["url"] as? String }
            #expect(urls.count == 3 && urls.contains("http://127.0.0.1:1/own"), "\(urls)")
            let first = try #require(parts.first { ($0["url"] as? String)?.contains("/0?") == true })
            #expect(first["events"] as? [String] == ["session.completed", "support.message"])
            #expect(
                first["username"] as? String == "DemoOrg-user-of-a" && first["organization"] as? String == "DemoOrg")
            let second = try #require(parts.first { ($0["url"] as? String)?.contains("/1?") == true })
            #expect(second["format"] as? String == "event" && second["signature"] as? String == "hex")
            #expect(second["organization"] as? String != "DemoOrg")
            try await start(folder, in: world)
            // Without a chosen request the newest subscription is there too.
            try #require(try await folder.from().status == 0)
            #expect(try folder.text().contains("/late"))
        }
    }

    /// Names that would end a comment, a text or a line of YAML stay values.
    @Test func hostileNamesStayValues() async throws {
        let names = [
            "a: b\n- c", "\"q\" 'r' # s", "*alias", "&anchor", "{x: [y", "- minus", "null", "0x1F", "1e3", "yes",
            "tab\there", "nel\u{85}ls\u{2028}ps\u{2029}", "bidi\u{202e}x", "%TAG", "!!int 5", "é\u{301}👟", "  spaces  ",
            "---",
        ]
        let world = try await TestWorld.make()
        for name in names {
            let item = try await world.generatedItem([
                "brand": "Nike", "customer_item_id": .string(name), "style_name": .string("sk \(TestWorld.apiToken)"),
            ])
            try await world.advance("1m")
            _ = try await world.send(
                "POST", "/_sim/authentications/\(item)/support-message", ["message": .string(name)])
            let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            _ = try await world.send("GET", "/v2/lookup/authentications/\(encoded)", token: "other-api-token")
        }
        try await withBundle(try await bundle(of: world)) { folder in
            let run = try await folder.from()
            try #require(run.status == 0, "\(run.output)")
            let (text, document) = (try folder.text(), try folder.document())
            let items = try #require(document["items"] as? [[String: Any]])
            #expect(items.compactMap { $0["customer_item_id"] as? String } == names, "\(text)")
            let messages = try #require(document["timeline"] as? [[String: Any]]).compactMap {
                $0["support_message"] as? [String: Any]
            }
            #expect(messages.compactMap { $0["message"] as? String } == names, "\(text)")
            #expect(messages.compactMap { $0["customer_item_id"] as? String } == names, "\(text)")
            #expect(!text.contains(TestWorld.apiToken))
            #expect(try await folder.verify().status == 1)
            try await start(folder, in: world)
        }
    }

    @Test func seedDataComesWithoutTokensAndPasswords() async throws {
        var seed = try #require(try await TestWorld.make().send("GET", "/_sim/export?format=json").json.members)
        seed["organizations"] = [
            [
                "name": "Fjord", "api_tokens": ["fjord-secret-token"], "bundles": ["com.example.fjord"],
                "partner_users": [
                    [
                        "username": "kim", "password": "hunter2-hunter2", "unique_user_id": "kim-kim-kim",
                        "email": "k@example.com",
                    ]
                ],
            ]
        ]
        let world = try await TestWorld.make(seed: .object(seed))
        _ = try await world.send("GET", "/v2/authentications/x", token: "fjord-secret-token")
        try await withBundle(try await bundle(of: world)) { folder in
            let made = try await folder.from()
            try #require(made.status == 0, "\(made.output)")
            let text = try folder.text()
            #expect(text.contains("Fjord") && text.contains("CHOOSE: tokens and passwords"))
            #expect(!text.contains("fjord-secret-token") && !text.contains("hunter2"))
            try await start(folder, in: world)
        }
    }

    /// A bundle of a run with the usual name, of a client that asked for a route that there is not and lost two webhooks.
    @Test func lostWebhooksAreExpectedAndUnknownRoutesAreNot() async throws {
        let world = try await TestWorld.make(settings: ["webhooks": ["retries": ["1s"]]])
        for (path, organization) in [("refused", "DemoOrg"), ("dropped", "OtherOrg")] {
            let hook: JSONValue = [
                "url": .string("http://127.0.0.1:1/\(path)"), "secret_key": "hook-secret-1",
                "organization": .string(organization), "events": ["support.message"],
            ]
            try #require(try await world.send("POST", "/_sim/webhooks", hook).status == 201)
        }
        let item = try await world.submit(try await world.login())
        _ = try await world.send("POST", "/_sim/authentications/\(item)/support-message", ["message": "Where from?"])
        try await world.advance("1m")
        _ = try await world.send("GET", "/v2/no-such-route", token: TestWorld.apiToken)
        _ = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        try await withBundle(try await bundle(of: world)) { folder in
            try #require(try await folder.from().status == 0)
            let text = try folder.text()
            #expect(
                text.contains("# Not expected: GET /v2/no-such-route: no route") && !text.contains("route: /v2/no-such")
            )
            #expect(text.contains("CHOOSE: support.message of \(item) was failed after 2 attempts"), "\(text)")
            let webhook = try #require(
                try folder.expectations().compactMap { $0["webhook"] as? [String: Any] }.first)
            #expect(webhook["event"] as? String == "support.message" && webhook["status"] as? String == "delivered")
            let (run, others) = try await BundleVerification.run(folder.file, folder.bundle, isStrict: false)
            #expect(run.verified == true && others == 1, "webhooks are not in the journal")
        }
    }

    @Test func aWebhookThatAFaultLostIsNotExpected() async throws {
        let world = try await TestWorld.make()
        let hook: JSONValue = ["url": "http://127.0.0.1:1/hook", "secret_key": "hook-secret-1"]
        _ = try await world.send("POST", "/_sim/webhooks", hook)
        let fault: JSONValue = ["match": ["webhook": "*"], "effect": ["delay": "1h"]]
        try #require(try await world.send("POST", "/_sim/faults", fault).status == 201)
        _ = try await world.send("POST", "/_sim/authentications", ["brand": "Nike"])
        _ = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        try await withBundle(try await bundle(of: world)) { folder in
            let made = try await folder.from()
            let text = try folder.text()
            #expect(made.status == 0 && text.contains("# Not expected: session.") && text.contains("by the fault flt_"))
            #expect(try !folder.expectations().contains { $0["webhook"] != nil }, "\(text)")
            #expect(!text.contains("Left out"), "\(text)")
        }
    }

    @Test func aCommentStaysOnItsLine() throws {
        var draft = ScenarioDraft(name: "x", description: "y", frozenAt: "2026-01-05T09:00:00Z")
        draft.comments = ["one\n- two\u{85}three\u{2028}four\tfive"]
        #expect(try draft.text().hasPrefix(#"# one\u{a}- two\u{85}three\u{2028}four\u{9}five"#))
    }

    // MARK: What a fault or a limit decided

    /// A client of a scenario, which makes a request `times` times and advances the clock after each.
    private struct Client {
        var effect: JSONValue?
        var limit: JSONValue = [:]
        var expect = ""
        var times = 1
        var advance: String?
        /// A further request.
        var also: String?

        func run() async throws -> TestWorld {
            let world = try await TestWorld.make()
            var text = "name: mine\ndescription: mine\nclock: {freeze: 2026-01-05T09:00:00Z}\n"
            text += "settings: {rate_limits: \(String(decoding: try WireJSON.encode(limit), as: UTF8.self))}\n"
            if let effect {
                let rule = effect.merging(["match": ["route": "/sdk/session"]])
                text += "faults: [\(String(decoding: try WireJSON.encode(rule), as: UTF8.self))]\n"
            }
            if !expect.isEmpty { text += "expect: [\(expect)]\n" }
            let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
            try #require(started.status == 200, "\(started.json)")
            let session = try await world.login("user-of-a")
            if let advance { try await world.advance(advance) }
            for _ in 0..<times {
                _ = try? await world.send("GET", "/sdk/session", token: session)
                if let advance { try await world.advance(advance) }
            }
            if let also { _ = try await world.send("GET", also, token: session) }
            return world
        }
    }

    /// Makes a scenario of the wrong client's run. It must fail for that run, and pass for the right client's.
    private func tellApart(_ wrong: Client, _ right: Client, _ body: (String) throws -> Void = { _ in }) async throws {
        try await withBundle(try await bundle(of: wrong.run())) { folder in
            let made = try await folder.from()
            try #require(made.status == 0, "\(made.output)")
            let text = try folder.text()
            #expect(try await folder.verify().status == 1, "\(text)")
            #expect(try folder.expectations().someAndAll { ![429, 503].contains($0["status"] as? Int) }, "\(text)")
            try body(text)
            try await bundle(of: right.run()).write(to: URL(fileURLWithPath: folder.bundle))
            let verified = try await folder.verify()
            #expect(verified.status == 0, "\(verified.output)")
        }
    }

    @Test(arguments: ["{route: /sdk/session, status: 200}", ""])
    func aClientThatGivesUpAfterAFaultIsToldFromOneThatTriesAgain(expect: String) async throws {
        let effects: [JSONValue] = [
            ["status": 503], ["drop_connection": true], ["lose_request": true], ["malformed_json": true],
        ]
        for effect in effects {
            let wrong = Client(effect: ["effect": effect, "times": 1], expect: expect)
            var right = wrong
            right.times = 2
            try await tellApart(wrong, right) { #expect($0.contains("CHOOSE: #")) }
        }
    }

    /// A request that broke the scenario's own `times: 0` is no right one, and the expectation is kept.
    @Test(arguments: ["times", "at_most"]) func aForbiddenRequestIsNotExpected(bound: String) async throws {
        let expect = "{route: /sdk/session, status: 200}, {route: /v1/health, \(bound): 0}"
        let wrong = Client(expect: expect, also: "/v1/health")
        try await tellApart(wrong, Client(expect: expect)) { text in
            #expect(text.components(separatedBy: "route: /v1/health").count == 2, "\(text)")
        }
    }

    @Test func aClientThatALimitRefusesIsToldFromOneThatWaits() async throws {
        let expect = "{route: /sdk/session, status: 200, times: 3}"
        let wrong = Client(limit: ["sdk_per_second": 2], expect: expect, times: 3)
        let right = Client(limit: ["sdk_per_second": 2], expect: expect, times: 3, advance: "1s")
        try await tellApart(wrong, right) { #expect($0.contains("by sdk_per_second, and is not expected")) }
        // Without the scenario's own expectation, the first answer is what is known.
        let never = Client(limit: ["sdk_per_second": 1], times: 2)
        try await tellApart(never, Client(times: 1)) { #expect($0.contains("by sdk_per_second. If your client")) }
    }

    /// An injected success is none of the platform, a delayed refusal is its own, and a fault that stays lets nobody through.
    @Test func aFaultDecidesByItsEffect() async throws {
        let injected = Client(effect: ["effect": ["status": 200]])
        try await withBundle(try await bundle(of: injected.run())) { folder in
            try #require(try await folder.from().status == 0)
            #expect(try !folder.expectations().contains { $0["route"] as? String == "/sdk/session" })
        }
        let delayed = try await TestWorld.make()
        _ = try await delayed.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/*"], "effect": ["delay": "1ms"], "times": 1])
        _ = try await delayed.send("GET", "/sdk/session")
        try await withBundle(try await bundle(of: delayed)) { folder in
            try #require(try await folder.from().status == 0)
            #expect(try folder.text().contains("was 401. If that is right, expect status 401"))
        }
        let lasting = Client(effect: ["effect": ["status": 418]], times: 2)
        try await withBundle(try await bundle(of: lasting.run())) { folder in
            try #require(try await folder.from().status == 0)
            let text = try folder.text()
            #expect(text.contains("and is not expected. Expect what your client should do"), "\(text)")
            let routes = try folder.expectations().compactMap { $0["route"] as? String }
            #expect(!routes.contains("/sdk/session") && routes.contains("/sdk/login"))
        }
    }

    // MARK: Sequences

    @Test func aScenarioExpectsASequence() async throws {
        let world = try await TestWorld.make()
        let text = """
            name: slow-retry
            description: The client waits before it asks again.
            clock: {freeze: 2026-01-05T09:00:00Z}
            faults:
              - {match: {route: /sdk/search}, effect: {status: 429}, times: 1}
            expect:
              - sequence:
                  - {route: /sdk/search, method: POST, status: 429}
                  - {route: /sdk/search, method: POST, status: 200}
                min_gap: 2s
            """
        /// Verifies the bundle of the run by now.
        func verifyBundle(_ status: Int32) async throws {
            try await withBundle(try await bundle(of: world)) { folder in
                try text.write(toFile: folder.file, atomically: true, encoding: .utf8)
                #expect(try await folder.verify().status == status)
            }
        }
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text), "replace": true])
        let token = try await world.login()
        for _ in 0..<2 { _ = try await world.send("POST", "/sdk/search", [:], token: token) }
        let early = try await world.send("POST", "/_sim/scenarios/slow-retry/verify")
        let check = early["scenario.expectations.0"]
        #expect(early.status == 409 && check["found"] == 1, "\(early.json)")
        #expect(
            check["expectation"].text
                == "POST /sdk/search -> 429, then POST /sdk/search -> 200, min_gap 2s")
        let problem = check["problem"].text ?? ""
        #expect(
            problem.contains("sequence[1] (POST /sdk/search -> 200) followed sequence[0], but not with"), "\(problem)")
        #expect(problem.contains("after the previous step (request 3), min_gap is 2s"), "\(problem)")
        #expect(check["nearest.0.sequence"] == 4)
        try await verifyBundle(1)
        try await world.advance("2s")
        _ = try await world.send("POST", "/sdk/search", [:], token: token)
        #expect(try await world.send("POST", "/_sim/scenarios/slow-retry/verify").status == 200)
        try await verifyBundle(0)
    }

    // MARK: Bad input

    @Test func aRequestThatIsNotThereIsAnError() async throws {
        let world = try await TestWorld.make()
        for _ in 0..<2 { _ = try await world.send("GET", "/sdk/session", headers: ["X-Request-Id": "same-id-1"]) }
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        let snapshot = try await world.send("GET", "/_sim/snapshots/s").body
        try await withBundle(try await bundle(of: world)) { folder in
            let unknown = try await folder.from("--until", "nothing")
            #expect(unknown.status == 1 && unknown.output.contains("has no request nothing"), "\(unknown.output)")
            #expect(unknown.output.contains("its journal has 1 to 2"))
            let missing = try await folder.from("--until", "sequence:9")
            #expect(missing.status == 1 && missing.output.contains("has no request sequence:9"))
            let ambiguous = try await folder.from("--until", "same-id-1")
            #expect(ambiguous.status == 1, "\(ambiguous.output)")
            #expect(
                ambiguous.output.contains("2 requests have the id same-id-1")
                    && ambiguous.output.contains("sequence:1, sequence:2"))
            for wrong in ["sequence:0", "sequence:x", "sequence:"] {
                await #expect(throws: (any Error).self) { _ = try await folder.from("--until", wrong) }
            }
            #expect(!FileManager.default.fileExists(atPath: folder.file))
        }
        try await withBundle(snapshot) { folder in
            let made = try await folder.from()
            #expect(made.status == 1 && made.output.contains("exported snapshot, which never has"), "\(made.output)")
        }
        let silent = try await TestWorld.make()
        try await withBundle(try await bundle(of: silent)) { folder in
            let made = try await folder.from()
            #expect(made.status == 1 && made.output.contains("none came to the namespace"), "\(made.output)")
            #expect(!made.output.contains("snapshot"), "\(made.output)")
        }
    }

    /// `#512` of a failed test is the same request in its bundle.
    @Test func requestsOfABundleKeepTheirNumbers() async throws {
        let world = try await TestWorld.make(settings: ["journal": ["entries": 2]])
        for _ in 0..<5 { _ = try await world.send("GET", "/sdk/session") }
        var archive = try TarFile(try await bundle(of: world))
        try await withBundle(archive.bytes) { folder in
            let made = try await folder.from("--until", "sequence:4")
            #expect(made.status == 0, "\(made.output)")
            #expect(try folder.text().contains("The journal begins with #4"))
        }
        let index = try #require(archive.entries.firstIndex { $0.name == "journal.json" })
        for wrong in ["0", "9223372036854775807"] {
            let text = String(decoding: archive.entries[index].bytes, as: UTF8.self)
            var broken = archive
            broken.entries[index].bytes = Data(text.replacing("\"sequence\":5", with: "\"sequence\":\(wrong)").utf8)
            try await withBundle(broken.bytes) { folder in
                let made = try await folder.from()
                #expect(made.status == 64 && made.output.contains("sequence must be from 1 to"), "\(made.output)")
            }
        }
        // Numbers that come twice are told apart by their order.
        archive.entries[index].bytes = Data(
            String(decoding: archive.entries[index].bytes, as: UTF8.self)
                .replacing("\"sequence\":5", with: "\"sequence\":4").utf8)
        try await withBundle(archive.bytes) { folder in
            let made = try await folder.from("--until", "sequence:5")
            #expect(made.status == 0, "\(made.output)")
        }
    }

    /// A bundle that was made while a request had not been answered yet has what it caused, and not the request.
    @Test func aBundleWithoutItsLastRequestSaysSo() async throws {
        let (world, _) = try await failedRun()
        _ = try await world.login("user-of-c")
        var archive = try TarFile(try await bundle(of: world))
        let index = try #require(archive.entries.firstIndex { $0.name == "journal.json" })
        let journal = try WireJSON.decode(JSONValue.self, from: archive.entries[index].bytes)
        let kept = journal["requests"].items.dropLast()
        archive.entries[index].bytes = try WireJSON.encode(["requests": .array(Array(kept))] as JSONValue)
        try await withBundle(archive.bytes) { folder in
            let made = try await folder.from()
            #expect(made.status == 0, "\(made.output)")
            #expect(try folder.text().contains("# The bundle lacks a request after the last one"))
        }
    }

    @Test func wrongScenariosAndBundlesAreErrorsOfVerify() async throws {
        let (world, _) = try await failedRun()
        try await withBundle(try await bundle(of: world)) { folder in
            func verify(_ text: String) async throws -> (status: Int32, output: String) {
                try text.write(toFile: folder.file, atomically: true, encoding: .utf8)
                return try await folder.verify()
            }
            let wrong = try await verify("name: x\ndescription: y\nexpect:\n  - {rout: /sdk/login}\n")
            #expect(wrong.status == 64 && wrong.output.contains("case.yaml:4"), "\(wrong.output)")
            let items = try await verify("name: x\ndescription: y\nexpect: [{item: {customer_item_id: sku-1}}]\n")
            #expect(items.status == 1 && items.output.contains("expects nothing about requests"), "\(items.output)")
            let item = "{item: {customer_item_id: sku-1}}"
            let both = "name: x\ndescription: y\nexpect: [\(item), {route: /sdk/login, status: 200, times: 2}]\n"
            #expect(try await verify(both).status == 0)
            #expect(try await BundleVerification.run(folder.file, folder.bundle, isStrict: false).others == 1)
            #expect(try await verify("").status == 64)
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder.bundle))
            #expect(try await verify("name: x\ndescription: y\n").status == 64)
        }
    }

    @Test func anArchiveThatIsNoneIsRefused() async throws {
        let world = try await TestWorld.make()
        _ = try await world.login()
        let good = try await world.send("GET", "/_sim/bundle").body
        var broken = try TarFile(good)
        let index = try #require(broken.entries.firstIndex { $0.name == "journal.json" })
        broken.entries[index].bytes = Data("{}".utf8)
        for (bytes, words) in [
            (Data(count: 100_000), "manifest.json"), (Data("x".utf8), "cannot be opened"),
            (broken.bytes, "journal.json"),
        ] {
            try await withBundle(bytes) { folder in
                let made = try await folder.from()
                #expect(made.status == 64 && made.output.contains(words), "\(made.output)")
            }
        }
    }

    /// Numbers in a journal that would later crash the process or break an answer.
    @Test func wrongNumbersOfAJournalAreNamed() async throws {
        let world = try await TestWorld.make()
        _ = try await world.login()
        var archive = try TarFile(try await world.send("GET", "/_sim/bundle").body)
        let index = try #require(archive.entries.firstIndex { $0.name == "journal.json" })
        let journal = try WireJSON.decode(JSONValue.self, from: archive.entries[index].bytes)
        let message: JSONObject = ["headers": [], "body": nil, "truncated": false]
        for (member, value, words) in [
            ("at", -1, "at must be"), ("at", 1e300, "at must be"), ("status", -1, "status must be"),
            ("status", nil, "status must be"), ("duration_ms", 1e308, "duration_ms must be"),
            ("started_real", 1e300, "started_real and ended_real must"), ("started_real", nil, "or both null"),
            ("ended_real", 1, "in this order"),
            ("request", .object(message.merging(["bytes": 9_223_372_036_854_775_807]) { $1 }), "bytes must be"),
            ("response", .object(message.merging(["bytes": -1]) { $1 }), "bytes must be"),
        ] as [(String, JSONValue, String)] {
            let request = try #require(journal["requests"].items.first).merging([member: value])
            archive.entries[index].bytes = try WireJSON.encode(["requests": [request]] as JSONValue)
            try await withBundle(archive.bytes) { folder in
                let said = try await folder.from().output
                #expect(said.contains("journal.json, request 0") && said.contains(words), "\(said)")
            }
        }
    }
}
