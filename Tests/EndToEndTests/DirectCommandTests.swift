import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Commands that save a script: any request, one setting, a whole item.
@Suite struct DirectCommandTests {
    private func run(_ world: TestWorld, _ arguments: String...) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(arguments + ["--url", world.base])
    }

    @Test func anyRequestIsSent() async throws {
        let world = try await TestWorld.make()
        let due = try await run(world, "api", "get", "/_sim/due")
        #expect(due.status == 0 && due.output.contains("\"due\""), "\(due.output)")
        let fault = try await run(
            world, "api", "POST", "/_sim/faults", "-d",
            #"{"match": {"route": "/v1/health"}, "effect": {"status": 503}, "times": 1}"#)
        #expect(fault.status == 0 && fault.output.contains("flt_"), "\(fault.output)")
        let header = ["-H", "Authorization: Token demo-api-token", "-H", "Api-Version: 1.3"]
        let broken = try await SimProcess.run(["api", "GET", "/v1/health", "--url", world.base] + header)
        #expect(broken.status == 1, "\(broken.output)")
        #expect(try await SimProcess.run(["api", "GET", "/v1/health", "--url", world.base] + header).status == 0)
        let deleted = try await run(world, "api", "DELETE", "/_sim/faults")
        #expect(deleted.status == 0 && deleted.output == "204, without a body\n", "\(deleted.output)")
        let own = try await run(world, "api", "GET", "\(SimProcess.shared.baseURL)/_sim/clock")
        #expect(own.status == 0 && own.output.contains("2026-01-05"), "the server's own URL is its path")
        #expect(try await run(world, "api", "GET", "/nothing").status == 1)
    }

    @Test func anErrorOfAnyFormIsShown() async throws {
        let world = try await TestWorld.make()
        let rule: JSONValue = ["match": ["route": "/sdk/**"], "effect": ["status": 418, "body": "short and stout"]]
        _ = try await world.send("POST", "/_sim/faults", rule)
        let shown = try await run(world, "api", "GET", "/sdk/session")
        #expect(shown.status == 1 && shown.output.contains("the answer is 418"), "\(shown.output)")
        #expect(shown.output.contains("short and stout"))
        let json = try await run(world, "api", "GET", "/sdk/session", "--json")
        #expect(json.status == 1 && json.output.contains("short and stout"), "\(json.output)")
    }

    @Test func theNamespaceOfThePathMayBeTheChosenOne() async throws {
        let world = try await TestWorld.make()
        let name = String(world.base.split(separator: "/").last ?? "")
        let same = try await run(world, "api", "GET", "/ns/\(name)/_sim/clock")
        #expect(same.status == 0 && same.output.contains("2026-01-05"), "\(same.output)")
        let whole = try await run(world, "api", "GET", world.base + "/_sim/clock")
        #expect(whole.status == 0 && whole.output.contains("2026-01-05"), "\(whole.output)")
        let root = SimProcess.shared.baseURL
        #expect(try await SimProcess.run(["api", "GET", "/ns/\(name)/_sim/clock", "--url", root]).status == 0)
    }

    @Test(arguments: [
        "http://example.com/_sim/info", "//example.com/_sim/info", "/../x", "/_sim/../v1/health", "/_sim/%2e%2e/x",
        "/_sim/.%2E", "/a%2f..%2fb", "relative", "", "/a b", "/a\u{1b}[31m", "/a\n", "/ä", "/a#b", "/a\\..\\b",
        "/ns/x/_sim/due",
        "http://127.0.0.1:9/_sim/info", "file:///etc/passwd",
    ])
    func aPathOutsideIsRefused(path: String) async throws {
        let world = try await TestWorld.make()
        let refused = try await run(world, "api", "GET", path)
        #expect(refused.status == 64 && refused.output.hasPrefix("error: PATH "), "\(refused.output)")
        #expect(!refused.output.contains("\u{1b}"))
    }

    @Test(arguments: [
        ["api"], ["api", "GET"], ["api", "BREW", "/x"], ["api", "GET", "/x", "-d", "{"],
        ["api", "GET", "/x", "-H", "x"],
        ["api", "GET", "/x", "-H", "A: b\r\nC: d"], ["api", "GET", "/x", "-H", "Host: x"],
        ["api", "GET", "/x", "-H", "A b: c"], ["settings", "set", "quota"], ["settings", "set", "{}", "3"],
        ["settings", "set", "{"], ["settings", "set", String(repeating: "a.", count: 101) + "a", "3"],
        ["settings", "set", "nothing.here", "3"], ["settings", "set", "quota", "many"],
        ["capture", "run"], ["scenario", "show"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let world = try await TestWorld.make()
        let run = try await SimProcess.run(arguments + ["--url", world.base])
        #expect(run.status == 64 && run.output.hasPrefix("error: "), "\(run.output)")
    }

    @Test func oneSettingIsSet() async throws {
        let world = try await TestWorld.make()
        let set = try await run(world, "settings", "set", "quota", "3")
        #expect(set.status == 0 && set.output.contains("\"quota\":3"), "\(set.output)")
        #expect(try await run(world, "settings", "set", "result.delay", "3h").status == 0)
        #expect(try await run(world, "settings", "set", "rate_limits", "off").status == 0)
        let all = try await world.send("GET", "/_sim/settings")
        #expect(all["quota"] == 3 && all["result.delay"] == "3h" && all["rate_limits"] == "off", "\(all.json)")
        #expect(try await run(world, "settings", "set", "quota", "null").status == 0)
        #expect(try await world.send("GET", "/_sim/settings")["quota"] == .null)
    }

    @Test func aScenarioIsShown() async throws {
        let world = try await TestWorld.make()
        let shown = try await run(world, "scenario", "show", "late-result")
        let file = TestWorld.root.appendingPathComponent("seed-data/scenarios/late-result.yaml")
        #expect(shown.status == 0)
        #expect(try shown.output == String(contentsOf: file, encoding: .utf8))
        #expect(try await run(world, "scenario", "show", "no-such").status == 1)
    }

    @Test func anItemIsCaptured() async throws {
        let world = try await TestWorld.make()
        let made = try await run(world, "capture", "run", "--sku", "sim-unknown")
        try #require(made.status == 0, "\(made.output)")
        try await world.advance("1h")
        let item = try await world.send("GET", "/_sim/authentications/\(made.output.dropLast())")
        #expect(item["customer_item_id"] == "sim-unknown" && item["result.id"] == "unknown", "\(item.json)")
        let shirt = try await run(
            world, "capture", "run", "--sku", "a b/'", "--brand", "Supreme", "--item-type", "t-shirt", "--user",
            "tester@x.com", "--json")
        let wrongUser = try await run(world, "capture", "run", "--sku", "x", "--user", "ü-tester x")
        #expect(wrongUser.status == 64 && wrongUser.output.contains("unique_user_id"), "\(wrongUser.output)")
        #expect(shirt.status == 0 && shirt.output.contains("entrupy_id"), "\(shirt.output)")
        _ = try await world.send("PATCH", "/_sim/settings", ["quota": 1])
        let refused = try await run(world, "capture", "run", "--sku", "x", "--user", "tester@x.com")
        #expect(refused.status == 1 && refused.output.contains("submissions made"), "\(refused.output)")
    }

    @Test func aConnectionThatAFaultClosesIsNoMissingServer() async throws {
        let world = try await TestWorld.make()
        let fault = try await run(world, "fault", "add", "--route", "/sdk/captures", "--effect", "drop_connection")
        #expect(fault.status == 0, "\(fault.output)")
        let made = try await run(world, "capture", "run", "--sku", "a")
        #expect(made.status == 69 && made.output.contains("was closed before an answer came"), "\(made.output)")
        #expect(made.output.contains("entrupy-sim fault list"), "\(made.output)")
        #expect(!made.output.contains("entrupy-sim serve"), "\(made.output)")
    }

    @Test func theDoctorNamesEqualSubscriptions() async throws {
        let world = try await TestWorld.make()
        for secret in ["a", "b"] {
            _ = try await world.send(
                "POST", "/v2/webhooks", ["url": "http://127.0.0.1:9/hooks", "secret_key": .string(secret)],
                token: TestWorld.apiToken)
        }
        let doctor = try await run(world, "doctor")
        #expect(
            doctor.status == 0 && doctor.output.contains("are equal: http://127.0.0.1:9/hooks gets each event 2 times"))
    }

    @Test func helpShowsACommandsOwnOptionsFirst() async throws {
        let help = try await SimProcess.run(["fault", "add", "--help"]).output
        let (own, connection) = (help.range(of: "  --route"), help.range(of: "  --url"))
        #expect(try #require(own).lowerBound < (try #require(connection)).lowerBound)
        #expect(try await SimProcess.run(["serve", "--help"]).output.contains("./entrupy-sim-data"))
    }
}
