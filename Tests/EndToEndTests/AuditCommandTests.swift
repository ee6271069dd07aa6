import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim audit`, with namespaces and bundles. `AuditReportTests` has its reports.
@Suite struct AuditCommandTests {
    private let user = "audit-user-5"

    private func name(_ world: TestWorld) -> [String] {
        ["-n", String(world.base.split(separator: "/").last!), "--url", SimProcess.shared.baseURL]
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try await body(directory)
        }
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
        try await withFolder { directory in
            let (file, junit, summary) = (directory + "/audit.yaml", directory + "/audit.xml", directory + "/s.md")
            try "ignore: [{rule: signed-request-reused, reason: the test of it}]".write(
                toFile: file, atomically: true, encoding: .utf8)
            try "# Before\n".write(toFile: summary, atomically: true, encoding: .utf8)
            for (arguments, status, words) in [
                ([], 1, "1 error, 1 warning, by 18 rules"),
                (["--level", "warning", "--summary", summary], 0, "1 warning"),
                (["--level", "warning", "--fail-on", "warning"], 1, "1 warning"),
                (["--fail-on", "never"], 0, "signed-request-reused"),
                (["--ignore", file, "--fail-on", "warning", "--junit", junit], 1, "1 finding left out by --ignore"),
                (["--ignore", directory], 64, "cannot be read"),
                (["--summary", directory + "/none/x.md"], 64, "there is no folder"),
                (["/nothing/there.tar"], 64, "/nothing/there.tar"),
            ] as [([String], Int32, String)] {
                let run = try await SimProcess.run(["audit"] + arguments + name(world))
                #expect(run.status == status && run.output.contains(words), "\(arguments): \(run.output)")
            }
            #expect(try String(contentsOfFile: junit, encoding: .utf8).contains("tests=\"18\" failures=\"1\""))
            // The namespace has its name from the option, or from the URL of clients.
            _ = try await SimProcess.run(["audit", "--summary", summary, "--level", "warning", "--url", world.base])
            let lines = try String(contentsOfFile: summary, encoding: .utf8).split(separator: "\n")
            #expect(lines.first == "# Before" && lines.count { $0.hasPrefix("## Audit of t") } == 2)
        }
        let silent = try await SimProcess.run(["audit"] + name(try await TestWorld.make()))
        #expect(silent.status == 0 && silent.output.contains("there was nothing to judge"), "\(silent.output)")
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
        try await withFolder { directory in
            let file = directory + "/case.bundle.tar"
            try await world.send("GET", "/_sim/bundle").body.write(to: URL(fileURLWithPath: file))
            let run = try await SimProcess.run(["audit", file, "--json", "--fail-on", "never"])
            #expect(run.status == 0, "\(run.output)")
            let opened = try WireJSON.decode(AuditReport.self, from: Data(run.output.utf8))
            #expect(opened.findings.map(\.rule) == live.findings.map(\.rule))
            #expect(opened.findings.map(\.requests) == live.findings.map(\.requests))
            #expect(opened.rules.map(\.looked_at) == live.rules.map(\.looked_at))
        }
    }
}
