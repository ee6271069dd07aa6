import Foundation
import SimulationAPI
import TestSupport
import Testing
import Yams

/// `entrupy-sim scenario from BUNDLE`, and `scenario verify FILE --bundle BUNDLE`.
@Suite struct ScenarioFromBundleTests {
    /// A folder with a bundle, in which commands run.
    private struct Folder {
        let path: String
        var bundle: String { path + "/failure.bundle.tar" }
        var file: String { path + "/case.yaml" }

        func from(_ more: String...) async throws -> (status: Int32, output: String) {
            let run = try await SimProcess.run(["scenario", "from", bundle, "-o", file, "--force"] + more)
            return (run.status, run.output)
        }

        func verify(_ more: String...) async throws -> (status: Int32, output: String) {
            let run = try await SimProcess.run(["scenario", "verify", file, "--bundle", bundle] + more)
            return (run.status, run.output)
        }

        func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

        func expectations() throws -> [[String: Any]] {
            let document = try #require(try load(yaml: text()) as? [String: Any])
            return document["expect"] as? [[String: Any]] ?? []
        }

        func replace(_ old: String, by new: String) throws {
            let text = try text()
            try #require(text.contains(old), "\(text)")
            try text.replacing(old, with: new).write(toFile: file, atomically: true, encoding: .utf8)
        }
    }

    private func withBundle(_ bundle: Data, _ body: (Folder) async throws -> Void) async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let folder = Folder(path: directory)
            try bundle.write(to: URL(fileURLWithPath: folder.bundle))
            try await body(folder)
        }
    }

    /// What the journal had forgotten when the bundle was made is not denied of it either.
    @Test func aBundleKnowsWhatItsJournalHadForgotten() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("GET", "/sdk/session")
        _ = try await world.send("DELETE", "/_sim/requests")
        _ = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        try await withBundle(bundle(of: world)) { folder in
            let quiet = "name: q\ndescription: d\nexpect: [{route: /sdk/session, status: 401, times: 0}]\n"
            try quiet.write(toFile: folder.file, atomically: true, encoding: .utf8)
            let verified = try await folder.verify()
            #expect(verified.status == 1 && verified.output.contains("has forgotten"), "\(verified.output)")
            let audit = try await SimProcess.run(["audit", folder.bundle])
            #expect(audit.output.contains("has forgotten"), "\(audit.output)")
        }
    }

    private func bundle(of world: TestWorld) async throws -> Data { try await world.send("GET", "/_sim/bundle").body }

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

    @Test func aFailedRunBecomesAScenarioThatSaysWhatFailed() async throws {
        let (world, item) = try await failedRun()
        try await withBundle(try await bundle(of: world)) { folder in
            let made = try await folder.from()
            try #require(made.status == 0, "\(made.output)")
            let text = try folder.text()
            #expect(made.output.contains("1 line with CHOOSE"))
            for part in [
                "freeze: \"2026-01-05T09:00:00Z\"", "delay: ", "customer_item_id: before", "result: unknown",
                "at: \"90m\"", "fault:", "retake:", "again: # please", "route: /sdk/results/*",
                "username: DemoOrg-user-of-b", "status: \"2xx\"",
                "404, because the item belongs to DemoOrg-user-of-a; the session is DemoOrg-user-of-b's",
            ] {
                #expect(text.contains(part), "\(part) in \(text)")
            }
            #expect(!text.contains(item), "ids of the run differ in the next one")
            let statuses = try folder.expectations().map { $0["status"] as? Int }
            #expect(!statuses.contains(503), "the client came again after the fault")
            let failed = try await folder.verify()
            #expect(failed.status == 1 && failed.output.contains("FAILED"), "\(failed.output)")
            #expect(failed.output.contains("GET /sdk/results/* -> 2xx by DemoOrg-user-of-b"))
            #expect(failed.output.contains("was 404"))
            // Once the person has chosen, the run is as expected.
            try folder.replace("status: \"2xx\"\n    at_least: 1", by: "status: 404")
            let met = try await folder.verify("--junit", folder.path + "/junit.xml")
            #expect(met.status == 0, "\(met.output)")
            #expect(FileManager.default.fileExists(atPath: folder.path + "/junit.xml"))
            let json = try await folder.verify("--json")
            #expect(json.output.contains("\"verified\":true"))
            try await start(folder, in: world, strict: true)
        }
    }

    /// Starts the scenario in a new namespace, whose name the environment has too.
    private func start(_ folder: Folder, in world: TestWorld, strict: Bool = false) async throws {
        let name = "from-\(UUID().uuidString.lowercased().prefix(8))"
        let run = try await SimProcess.run(
            ["scenario", "start", folder.file, "--new", name, "--url", SimProcess.shared.baseURL]
                + (strict ? ["--strict"] : []),
            environment: ["ENTRUPY_SIM_NAMESPACE": name])
        #expect(run.status == 0, "\(run.output)")
        let root = TestWorld(base: SimProcess.shared.baseURL)
        #expect(try await root.send("GET", "/ns/\(name)/_sim/info")["namespace.clock.mode"] == "frozen")
        #expect(try await root.send("DELETE", "/_sim/namespaces/\(name)").status == 204)
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
            let document = try #require(try load(yaml: folder.text()) as? [String: Any])
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
            let document = try #require(try load(yaml: text) as? [String: Any])
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
    @Test(arguments: [
        "a: b\n- c", "\"q\" 'r' # s", "*alias", "&anchor", "{x: [y", "- minus", "null", "0x1F", "1e3", "yes",
        "tab\there", "nel\u{85}ls\u{2028}ps\u{2029}", "bidi\u{202e}x", "%TAG", "!!int 5", "é\u{301}👟", "  spaces  ",
        "---",
    ])
    func hostileNamesStayValues(name: String) async throws {
        let world = try await TestWorld.make()
        let made = try await world.send(
            "POST", "/_sim/authentications",
            ["brand": "Nike", "customer_item_id": .string(name), "style_name": .string("sk \(TestWorld.apiToken)")])
        try #require(made.status < 300, "\(made.json)")
        let item = try #require(made["entrupy_ids.0"].text)
        try await world.advance("1m")
        _ = try await world.send("POST", "/_sim/authentications/\(item)/support-message", ["message": .string(name)])
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        _ = try await world.send("GET", "/v2/lookup/authentications/\(encoded)", token: "other-api-token")
        try await withBundle(try await bundle(of: world)) { folder in
            let run = try await folder.from()
            try #require(run.status == 0, "\(run.output)")
            let text = try folder.text()
            let document = try #require(try load(yaml: text) as? [String: Any])
            let items = try #require(document["items"] as? [[String: Any]])
            #expect(items.count == 1 && items[0]["customer_item_id"] as? String == name, "\(text)")
            let action = try #require(
                (document["timeline"] as? [[String: Any]])?.first?["support_message"] as? [String: Any])
            #expect(action["message"] as? String == name && action["customer_item_id"] as? String == name, "\(text)")
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
        let bundle = try await bundle(of: world)
        try await withBundle(bundle) { folder in
            let (file, named) = (folder.path + "/lost.yaml", folder.path + "/bundle-2.tar")
            try bundle.write(to: URL(fileURLWithPath: named))
            let made = try await SimProcess.run(["scenario", "from", named, "-o", file])
            try #require(made.status == 0, "\(made.output)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("name: lost\n"), "every run calls its bundle so: \(text)")
            #expect(
                text.contains("# Not expected: GET /v2/no-such-route: no route") && !text.contains("route: /v2/no-such")
            )
            #expect(text.contains("CHOOSE: support.message of \(item) was failed after 2 attempts"), "\(text)")
            let document = try #require(try load(yaml: text) as? [String: Any])
            let expected = try #require(document["expect"] as? [[String: Any]])
            let webhook = try #require(expected.compactMap { $0["webhook"] as? [String: Any] }.first)
            #expect(webhook["event"] as? String == "support.message" && webhook["status"] as? String == "delivered")
            let verified = try await SimProcess.run(["scenario", "verify", file, "--bundle", named])
            #expect(verified.status == 0 && !verified.output.contains("lost verified"), "\(verified.output)")
            #expect(verified.output.contains("verified, 1 expectation not checked"), "\(verified.output)")
            // A file with a person's decisions stays.
            let again = try await SimProcess.run(["scenario", "from", named, "-o", file])
            #expect(again.status == 64 && again.output.contains("exists already"), "\(again.output)")
            #expect(again.output.contains("--force"))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            #expect(try await SimProcess.run(["scenario", "from", named, "-o", file, "--force"]).status == 0)
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
        }
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
                #expect(try await folder.from("--until", wrong).status == 64)
            }
            #expect(!FileManager.default.fileExists(atPath: folder.file))
            let same = try await SimProcess.run(["scenario", "from", folder.bundle, "-o", folder.bundle])
            #expect(same.status == 64 && same.output.contains("would replace the bundle"))
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
        try await withBundle(Data("not a bundle".utf8)) { folder in
            let made = try await folder.from()
            #expect(made.status == 64 && made.output.contains("cannot be opened"), "\(made.output)")
        }
        let none = try await SimProcess.run(["scenario", "from", "/nothing/there.tar", "-o", "-"])
        #expect(none.status == 64 && none.output.contains("/nothing/there.tar"))
    }

    /// `#512` of a failed test is the same request in its bundle.
    @Test func requestsOfABundleKeepTheirNumbers() async throws {
        let world = try await TestWorld.make(settings: ["journal": ["entries": 2]])
        for _ in 0..<5 { _ = try await world.send("GET", "/sdk/session") }
        var archive = try TarFile(try await bundle(of: world))
        try await withBundle(archive.bytes) { folder in
            let made = try await folder.from("--until", "sequence:4")
            #expect(made.status == 0 && made.output.contains("up to #4 GET /sdk/session 401"), "\(made.output)")
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
            #expect(made.status == 0 && made.output.contains("lacks a request after the last one"), "\(made.output)")
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
            let both = try await verify(
                "name: x\ndescription: y\nexpect: [{item: {customer_item_id: sku-1}}, {route: /sdk/login, status: 200, times: 2}]\n"
            )
            #expect(both.status == 0 && both.output.contains("1 expectation about other things"), "\(both.output)")
            #expect(both.output.contains("x: 1 verified, 1 expectation not checked"), "\(both.output)")
            #expect(try await verify("").status == 64)
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder.bundle))
            #expect(try await verify("name: x\ndescription: y\n").status == 64)
        }
    }
}
