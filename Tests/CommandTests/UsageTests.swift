import ArgumentParser
import SimulationAPI
import Testing

@testable import entrupy_sim

/// Command lines and variables that are refused before anything is asked.
@Suite struct UsageTests {
    @Test(arguments: [
        ["clock", "advance"], ["clock", "advance", "1h", "--to", "next"], ["clock", "advance", "1h", "--too"],
        ["clock", "freeze", "--at"], ["clock", "show", "--timeout", "0"], ["clock", "show", "--url", "nonsense"],
        ["settle", "--timeout", "0"], ["rest"], ["nonsense"], ["namespace", "nonsense"],
        ["fault", "add", "--route", "/x"],

        ["users", "set", "DemoOrg-sim-test-user"],
        ["namespace", "drop"], ["items", "set", "ABCD2345"],
        ["items", "generate", "--template", "[1]", "--url", "http://127.0.0.1:9"], ["sessions", "revoke"],
        ["held", "release"], ["held", "release", "hld_a", "--all"],
        ["held", "release", "--all", "--status", "500"], ["held", "release", "hld_a", "--body", "x"],
        ["held", "release", "hld_a", "--status", "500", "--drop-connection"],

        ["requests", "resend", "3", "--header", "none"], ["bundle", "--max-bytes", "0"],
        ["webhooks", "add", "http://127.0.0.1:9/x"], ["webhooks", "add", "--secret", "s"],

        ["webhooks", "add", "http://127.0.0.1:9/x", "--secret", "s", "--events", ""],
        ["webhooks", "add", "http://127.0.0.1:9/x", "--secret", "s", "--events", "session.completed,"],

        ["webhooks", "add", "http://127.0.0.1:9/x", "--secret", "s", "--format", "xml"], ["webhooks", "remove"],
        ["webhooks", "listen", "--listen-url", "ftp://x"], ["webhooks", "listen", "--port", "65536"],
        ["webhooks", "listen", "--listen-url", "http://127.0.0.1:9/a?x=1"],
        ["api"], ["api", "GET"], ["api", "BREW", "/x"], ["api", "GET", "/x", "-d", "{", "--url", "http://127.0.0.1:9"],
        ["api", "GET", "/x", "-H", "x"], ["api", "GET", "/x", "-H", "A: b\r\nC: d"],
        ["api", "GET", "/x", "-H", "Host: x"],
        ["api", "GET", "/x", "-H", "A b: c"], ["settings", "set", "quota"], ["settings", "set", "{}", "3"],
        ["settings", "set", "{", "--url", "http://127.0.0.1:9"],
        ["settings", "set", String(repeating: "a.", count: 101) + "a", "3"],
        ["capture", "run"], ["scenario", "show"], ["replay"], ["replay", "a", "b"],
        ["serve", "--port", "70000"], ["serve", "--prot", "1"], ["serve", "--port", "x"],
        ["serve", "--random-seed", "-1"], ["serve", "--in-memory", "--allowed-hosts", "sim.example.com:8642"],
        ["serve", "--in-memory", "--allowed-hosts", "*"], ["serve", "--in-memory", "--allowed-hosts", "a, b c"],
        ["run"], ["run", "--"], ["run", "true"], ["run", "--timeout", "soon", "--", "true"],
        ["run", "--timeout", "0", "--", "true"], ["run", "--timeout", "-1s", "--", "true"],
        ["run", "--artifacts", "", "--", "true"], ["run", "--nonsense", "--", "true"],
        ["run", "--ignore", "x.yaml", "--", "true"],
    ])
    func aWrongCommandLineIsRefused(words: [String]) async {
        #expect(await exitCode(words) == 64)
    }

    /// The exit code of a command that reaches no server; 0 if it succeeds.
    private func exitCode(_ words: [String]) async -> Int32 {
        do {
            let command = try EntrupySim.parseAsRoot(words)
            guard var running = command as? any AsyncParsableCommand, !["run", "serve", "replay"].contains(words.first)
            else { return 0 }
            try await running.run()
            return 0
        } catch {
            return (error as? Refusal)?.code.rawValue ?? EntrupySim.exitCode(for: error).rawValue
        }
    }

    @Test(arguments: [
        "http://example.com/_sim/info", "//example.com/_sim/info", "/../x", "/_sim/../v1/health", "/_sim/%2e%2e/x",
        "/_sim/.%2E", "/a%2f..%2fb", "relative", "", "/a b", "/a\u{1b}[31m", "/a\n", "/ä", "/a#b", "/a\\..\\b",
        "/ns/y/_sim/due", "http://127.0.0.1:8/_sim/info", "file:///etc/passwd",
    ])
    func aPathOutsideIsRefused(path: String) async {
        #expect(await exitCode(["api", "GET", path, "--url", "http://127.0.0.1:9/ns/x"]) == 64)
    }

    @Test(arguments: [
        ("ENTRUPY_SIM_PROT", "ENTRUPY_SIM_PORT"), ("ENTRUPY_SIM_DATADIR", "ENTRUPY_SIM_DATA_DIR"),
        ("ENTRUPY_SIM_NAMESPACES", "ENTRUPY_SIM_NAMESPACE"), ("ENTRUPY_SIM_CONTROL_TOKN", "ENTRUPY_SIM_CONTROL_TOKEN"),
        ("ENTRUPY_SIM_READY-JSON", "ENTRUPY_SIM_READY_JSON"), ("ENTRUPY_SIM_UR", "ENTRUPY_SIM_URL"),
        ("ENTRUPY_SIM_BINARY", nil), ("ENTRUPY_SIM_URL", nil), ("ENTRUPY_SIM_NAMESPACE", nil),
        ("ENTRUPY_SIM_PORT", nil),
        ("ENTRUPY_SIM_CONTROL_TOKEN", nil), ("ENTRUPY_SIM_MY_OWN_THING", nil), ("ENTRUPY_PROT", nil),
    ])
    func aMisspeltVariableIsRefusedWithASuggestion(name: String, near: String?) {
        let problem = EnvironmentFlags.problem([name: "x"])
        #expect(problem?.code == near.map { _ in .usage })
        #expect(
            near == nil || problem?.message.contains(name) == true && problem?.next == "did you mean \(near ?? "")?")
        #expect(EnvironmentFlags.problem([name: ""]) == nil, "an empty one is absent")
    }
}
