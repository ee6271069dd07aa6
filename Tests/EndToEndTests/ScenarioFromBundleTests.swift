import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The commands `scenario from BUNDLE` and `scenario verify FILE --bundle BUNDLE`. `ScenarioOfBundleTests` has what they write and find.
@Suite struct ScenarioFromBundleTests {
    /// Runs `body` with a folder that has a bundle of a namespace.
    private func withBundle(of world: TestWorld, _ body: (_ bundle: String, _ file: String) async throws -> Void)
        async throws
    {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let bundle = directory + "/bundle-2.tar"
            try await world.send("GET", "/_sim/bundle").body.write(to: URL(fileURLWithPath: bundle))
            try await body(bundle, directory + "/lost.yaml")
        }
    }

    @Test func aFailedRunBecomesAScenarioThatSaysWhatFailed() async throws {
        let world = try await TestWorld.make()
        let (a, b) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let item = try await world.submit(a)
        try await world.advance("90m")
        _ = try await world.send("POST", "/_sim/authentications/\(item)/retake", ["message": "again: # please"])
        _ = try await world.send("GET", "/sdk/results/\(item)", token: b)
        try await withBundle(of: world) { bundle, file in
            let made = try await SimProcess.run(["scenario", "from", bundle, "-o", file])
            try #require(made.status == 0, "\(made.output)")
            #expect(made.output.contains("up to #") && made.output.contains("1 line with CHOOSE"), "\(made.output)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            for part in [
                "name: lost\n", "freeze: \"2026-01-05T09:00:00Z\"", "at: \"90m\"", "retake:", "again: # please",
                "route: /sdk/results/*", "username: DemoOrg-user-of-b", "status: \"2xx\"",
                "404, because the item belongs to DemoOrg-user-of-a; the session is DemoOrg-user-of-b's",
            ] {
                #expect(text.contains(part), "\(part) in \(text)")
            }
            #expect(!text.contains(item), "ids of the run differ in the next one")
            func verify(_ more: String...) async throws -> (status: Int32, output: String) {
                try await SimProcess.run(["scenario", "verify", file, "--bundle", bundle] + more)
            }
            let failed = try await verify()
            #expect(failed.status == 1 && failed.output.contains("FAILED"), "\(failed.output)")
            #expect(failed.output.contains("GET /sdk/results/* -> 2xx by DemoOrg-user-of-b"))
            #expect(failed.output.contains("was 404"))
            // Once the person has chosen, the run is as expected. A file with a person's decisions stays.
            let chosen = text.replacing("status: \"2xx\"\n    at_least: 1", with: "status: 404")
            try chosen.write(toFile: file, atomically: true, encoding: .utf8)
            let junit = file + ".xml"
            let met = try await verify("--junit", junit)
            #expect(met.status == 0 && FileManager.default.fileExists(atPath: junit), "\(met.output)")
            #expect(try await verify("--json").output.contains("\"verified\":true"))
            let again = try await SimProcess.run(["scenario", "from", bundle, "-o", file])
            #expect(again.status == 64 && again.output.contains("exists already"), "\(again.output)")
            #expect(again.output.contains("--force"))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == chosen)
            #expect(try await SimProcess.run(["scenario", "from", bundle, "-o", file, "--force"]).status == 0)
            // A new namespace, whose name the environment has too.
            let name = "from-\(getpid())"
            let started = try await SimProcess.run(
                ["scenario", "start", file, "--new", name, "--url", SimProcess.shared.baseURL, "--strict"],
                environment: ["ENTRUPY_SIM_NAMESPACE": name])
            #expect(started.status == 0, "\(started.output)")
            let root = TestWorld(base: SimProcess.shared.baseURL)
            #expect(try await root.send("DELETE", "/_sim/namespaces/\(name)").status == 204)
        }
    }

    /// What the journal had forgotten when the bundle was made is not denied of it either.
    @Test func aBundleKnowsWhatItsJournalHadForgotten() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("GET", "/sdk/session")
        _ = try await world.send("DELETE", "/_sim/requests")
        _ = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        try await withBundle(of: world) { bundle, file in
            let expected = "name: q\ndescription: d\nexpect: [{route: /sdk/session, status: 401, times: 0}"
            try "\(expected)]\n".write(toFile: file, atomically: true, encoding: .utf8)
            let verified = try await SimProcess.run(["scenario", "verify", file, "--bundle", bundle])
            #expect(verified.status == 1 && verified.output.contains("has forgotten"), "\(verified.output)")
            let audit = try await SimProcess.run(["audit", bundle])
            #expect(audit.output.contains("has forgotten"), "\(audit.output)")
            // What a bundle does not have is not checked, and the last line says so.
            let other =
                "name: q\ndescription: d\nexpect: [{route: /v2/webhooks, status: 200}, {item: {customer_item_id: a}}]\n"
            try other.write(toFile: file, atomically: true, encoding: .utf8)
            let part = try await SimProcess.run(["scenario", "verify", file, "--bundle", bundle])
            #expect(part.status == 0 && part.output.contains("1 expectation about other things"), "\(part.output)")
            #expect(part.output.contains("q: 1 verified, 1 expectation not checked"), "\(part.output)")
        }
    }

    @Test func wrongFilesAreErrors() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("GET", "/sdk/session")
        try await withBundle(of: world) { bundle, file in
            for (arguments, status, words) in [
                (["from", bundle, "-o", file, "--until", "nothing"], 1, "has no request nothing"),
                (["from", bundle, "-o", file, "--until", "sequence:0"], 64, "a number from 1"),
                (["from", bundle, "-o", bundle], 64, "would replace the bundle"),
                (["from", "/nothing/there.tar", "-o", "-"], 64, "/nothing/there.tar"),
            ] as [([String], Int32, String)] {
                let run = try await SimProcess.run(["scenario"] + arguments)
                #expect(run.status == status && run.output.contains(words), "\(arguments): \(run.output)")
            }
        }
    }
}
