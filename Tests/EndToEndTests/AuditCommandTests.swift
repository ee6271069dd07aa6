import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import entrupy_sim

/// `entrupy-sim audit`, with namespaces and bundles.
@Suite struct AuditCommandTests {
    private let user = "audit-user-5"

    private func name(_ world: TestWorld) -> [String] {
        ["-n", String(world.base.split(separator: "/").last!), "--url", SimProcess.shared.baseURL]
    }

    /// A client that sends a signed request twice, and asks for an old version in a test with a name.
    private func misusingWorld() async throws -> TestWorld {
        let world = try await TestWorld.withoutLimits()
        let signed = try await world.signedRequest(user)
        for _ in 0..<2 { _ = try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed]) }
        _ = try await world.send(
            "GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.0", "X-Sim-Test": "old"])
        return world
    }

    @Test func theExitCodeFollowsTheLevel() async throws {
        let world = try await misusingWorld()
        let all = try await SimProcess.run(["audit"] + name(world))
        #expect(all.status == 1 && all.output.contains("signed-request-reused"), "\(all.output)")
        #expect(all.output.contains("1 error, 1 warning, by 18 rules"), "\(all.output)")
        let warnings = try await SimProcess.run(["audit", "--level", "warning"] + name(world))
        #expect(warnings.status == 0, "\(warnings.output)")
        #expect(
            try await SimProcess.run(["audit", "--level", "warning", "--fail-on", "warning"] + name(world)).status == 1)
        #expect(try await SimProcess.run(["audit", "--fail-on", "never"] + name(world)).status == 0)
    }

    @Test func theSummaryIsAddedAsMarkdown() async throws {
        let world = try await misusingWorld()
        _ = try await world.send(
            "GET", "/v1/health", token: TestWorld.apiToken,
            headers: ["Api-Version": "1.0", "X-Sim-Test": "<b>|`evil`"])
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/summary.md"
            try "# Before\n".write(toFile: file, atomically: true, encoding: .utf8)
            // The namespace has its name from the option, or from the URL of clients.
            for place in [name(world), ["--url", world.base]] {
                _ = try await SimProcess.run(["audit", "--summary", file, "--level", "warning"] + place)
            }
            let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            #expect(lines.first == "# Before" && lines.count { $0.hasPrefix("## Audit of t") } == 2)
            let rows = lines.filter { $0.hasPrefix("| :warning:") }
            #expect(
                rows.count == 4 && rows.someAndAll { $0.contains("| deprecated-version | GET /v1/health asks") },
                "\(rows)")
            #expect(rows.contains { $0.hasSuffix(#"in &lt;b&gt;\|\`evil\` |"#) }, "\(rows)")
            let wrong = try await SimProcess.run(["audit", "--summary", directory + "/none/x.md"] + name(world))
            #expect(wrong.status == 64 && wrong.output.contains("there is no folder"), "\(wrong.output)")
        }
    }

    @Test func aNamespaceWithoutRequestsSaysSo() async throws {
        let world = try await TestWorld.make()
        let run = try await SimProcess.run(["audit"] + name(world))
        #expect(run.status == 0 && run.output.contains("there was nothing to judge"), "\(run.output)")
    }

    @Test func findingsThatAreMeantAreLeftOutWithAReason() async throws {
        let world = try await misusingWorld()
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let (file, junit) = (directory + "/audit.yaml", directory + "/audit.xml")
            func run(_ text: String) async throws -> (status: Int32, output: String) {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                return try await SimProcess.run(
                    ["audit", "--ignore", file, "--fail-on", "warning", "--junit", junit] + name(world))
            }
            let one = try await run("ignore: [{rule: signed-request-reused, reason: the test of it}]")
            #expect(one.status == 1 && one.output.contains("1 finding left out by --ignore"), "\(one.output)")
            let xml = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(xml.contains("tests=\"18\" failures=\"1\""), "\(xml)")
            #expect(xml.contains("name=\"audit deprecated-version\""))
            let both = try await run(
                """
                ignore:
                  - {rule: signed-request-reused, reason: the test of it}
                  - {rule: deprecated-version, reason: an old client, test: old}
                """)
            #expect(both.status == 0, "\(both.output)")
            let other = try await run("ignore: [{rule: deprecated-version, reason: an old client, test: another}]")
            #expect(other.status == 1)
            #expect(
                other.output.contains("--ignore deprecated-version (test another) left nothing out"), "\(other.output)")
        }
    }

    @Test func aRuleThatCouldNotJudgeEverythingIsACaseThatWasSkipped() throws {
        let report = AuditReport(
            findings: [],
            rules: [
                .init(id: "one", level: .error, looked_at: 2, not_judged: "2 requests"),
                .init(id: "two", level: .error, looked_at: 2, not_judged: nil),
            ])
        let xml = JUnitReport(
            JudgedAudit(report, nil), .error, of: "x", at: Date(timeIntervalSince1970: 0), took: .zero
        ).xml
        #expect(xml.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""), "\(xml)")
        #expect(xml.contains("<skipped message=\"could not judge everything: 2 requests\"/>"), "\(xml)")
    }

    /// A rule with findings has not passed, whatever the exit code is; nor has that of logins, on a clock behind real time.
    @Test(arguments: [("never", "failures=\"0\"", 3), ("error", "failures=\"1\"", 2), ("warning", "failures=\"2\"", 1)])
    func aFindingThatDoesNotFailIsACaseThatWasSkipped(level: String, failures: String, skipped: Int) async throws {
        let world = try await misusingWorld()
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let junit = directory + "/audit.xml"
            let run = try await SimProcess.run(["audit", "--fail-on", level, "--junit", junit] + name(world))
            #expect(run.status == (level == "never" ? 0 : 1), "\(run.output)")
            let xml = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(xml.contains(failures) && xml.contains("skipped=\"\(skipped)\""), "\(xml)")
            #expect(xml.components(separatedBy: "<skipped message=").count - 1 == skipped, "\(xml)")
        }
    }

    @Test(arguments: [
        (
            "ignore: [{rule: retry-to-soon, reason: x}]",
            ":1: there is no rule \"retry-to-soon\"; did you mean retry-too-soon?"
        ),
        ("ignore:\n  - {rule: no-retry}", ":2: the entry of no-retry needs a reason"),
        ("ignore:\n  - {rule: no-retry, reason: ' '}", ":2: the entry of no-retry needs a reason"),
        ("ignore: [{reason: x}]", ":1: the entry needs a rule"),
        ("ignore: [{rule: no-retry, reason: x, tests: y}]", ":1: \"tests\" is not known"),
        ("ignored: []", ":1: must have one member, ignore"), ("ignore: [x]", ":1: must be an entry such as"),
        ("ignore: [", ":1: is not YAML"), ("", ":1: must have one member, ignore"),
    ]) func wrongFilesAreRefused(text: String, problem: String) async throws {
        let world = try await TestWorld.make()
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/audit.yaml"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let run = try await SimProcess.run(["audit", "--ignore", file] + name(world))
            #expect(run.status == 64 && run.output.contains("audit.yaml\(problem)"), "\(run.output)")
        }
    }

    /// On one connection, which tells that it was one client.
    private func fetchAPageTwice(_ world: TestWorld) async throws {
        let session = try await world.login(user)
        for _ in 0..<2 { _ = try await world.startCapture(session) }
        let cursor = try #require(
            try await world.send("GET", "/sdk/captures?limit=1", token: session)["next_cursor"].text)
        let path = world.base.dropFirst(SimProcess.shared.baseURL.count) + "/sdk/captures?limit=1&cursor=\(cursor)"
        let fields = "HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(session)\r\n"
        let answers = try await RawConnection.open(.shared).exchange(
            "GET \(path) \(fields)\r\nGET \(path) \(fields)Connection: close\r\n\r\n")
        try #require(answers.components(separatedBy: "HTTP/1.1 200").count == 3, "\(answers)")
    }

    @Test func aBundleIsJudgedAsItsNamespaceWas() async throws {
        let world = try await misusingWorld()
        let session = try await world.login(user)
        _ = try await world.send("POST", "/sdk/logout", token: session)
        _ = try await world.send("GET", "/sdk/session", token: session)
        _ = try await world.send("GET", "/sdk/session?token=\(session)")
        try await fetchAPageTwice(world)
        let live = try await world.audit()
        #expect(live.findings.count == 5, "\(live.findings)")
        let bundle = try await world.send("GET", "/_sim/bundle").body
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/case.bundle.tar"
            try bundle.write(to: URL(fileURLWithPath: file))
            let run = try await SimProcess.run(["audit", file, "--json", "--fail-on", "never"])
            #expect(run.status == 0, "\(run.output)")
            let opened = try WireJSON.decode(AuditReport.self, from: Data(run.output.utf8))
            #expect(opened.findings.map(\.rule) == live.findings.map(\.rule))
            #expect(opened.findings.map(\.requests) == live.findings.map(\.requests))
            #expect(opened.rules.map(\.looked_at) == live.rules.map(\.looked_at))
        }
    }

    @Test func aBundleThatIsNotThereIsNamed() async throws {
        let none = try await SimProcess.run(["audit", "/nothing/there.tar"])
        #expect(none.status == 64 && none.output.contains("/nothing/there.tar"))
    }
}
