import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The commands `scenario`, and scenarios on a disk. Their rules are in `ScenarioRuleTests`, `StoredScenarioTests` and their neighbours.
@Suite struct ScenarioCommandTests {
    private static func text(_ rest: String = "", description: String = "A test.") -> String {
        "name: mine\ndescription: \(description)\nclock: {freeze: 2026-01-05T09:00:00Z}\n\(rest)"
    }

    /// Runs `entrupy-sim scenario` in a namespace.
    private func run(_ world: TestWorld, _ words: String...) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(["scenario"] + words + ["-n", world.name, "--url", world.root.base])
    }

    @Test func aFileIsStartedVerifiedAndReported() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let world = try await TestWorld.make()
        #expect(try await run(world, "list").output.contains("late-result-then-disputed"))
        let file = try folder.write(
            Self.text("timeline: [{at: 1h, clear_faults: true}]\nexpect: [{route: /sdk/login, times: 1}]"),
            to: "case.yaml")
        let started = try await run(world, "start", file)
        #expect(started.status == 0 && started.output.contains("point the client at \(world.base)"), "\(started)")
        let early = try await run(world, "verify", "mine", "--junit", folder.file("early.xml"))
        #expect(early.status == 1 && early.output.contains("FAILED") && early.output.contains("2 of 2 failed"))
        let line = early.output.components(separatedBy: "\n").first { $0.contains("clear_faults waiting") }
        #expect(line?.contains("is still due: in 1h, 1h after the start; the clock is frozen") == true, "\(early)")
        #expect(try folder.text(of: "early.xml").contains("<testcase classname=\"entrupy-sim.mine\""))
        _ = try await world.login()
        try await world.advance("1h")
        let late = try await run(world, "verify", "mine", "--junit", folder.file("late.xml"))
        #expect(late.status == 0 && late.output.contains("mine verified"))
        #expect(try folder.text(of: "late.xml").contains("failures=\"0\""))
        #expect(try await run(world, "verify", "each-result").status == 1)
        #expect(try await run(world, "start", "nope").status == 1)
    }

    /// What is wrong in a file is named by its line, and a misspelt part is noted, or refused by `--strict`.
    @Test func mistakesInAFileAreNamed() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let world = try await TestWorld.make()
        let name = "cli-\(UUID().uuidString.lowercased())"
        let file = folder.file("case.yaml")
        for (rest, problem) in [
            ("expect:\n  - {route: /x, status: 999}", ":5: expect[0].status: must be"),
            ("outcomse: []\n", ":4: outcomse"),
            ("\tx: y\n", ":4:1: not YAML: a tab indents this line"),
        ] {
            try folder.write(Self.text(rest), to: "case.yaml")
            let wrong = try await run(world, "start", file)
            #expect(wrong.status == 64 && wrong.output.hasPrefix("error: \(file)\(problem)"), "\(wrong)")
        }
        try folder.write(Self.text("outcomse: []\ntimeline:\n  - {at: soon, clear_faults: true}\n"), to: "case.yaml")
        let lines = try await run(world, "start", file).output.split(separator: "\n")
        try #require(lines.count == 3, "\(lines)")
        #expect(lines[0].hasPrefix("error: \(file):4: ") && lines[1].hasPrefix("  \(file):6: timeline[0].at: "))
        try Data([0x6e, 0xff]).write(to: URL(fileURLWithPath: file))
        #expect(try await run(world, "start", file).output.contains("is not UTF-8"))
        try folder.write("", to: "case.yaml")
        for missing in [file, folder.file("none.yaml")] {
            #expect(try await run(world, "start", missing).status == 64)
        }
        try folder.write(
            Self.text("faults:\n  - {match: {route: /sdk/serch}, effect: {status: 503}}\n"), to: "case.yaml")
        let noted = try await run(world, "start", file, "--new", name)
        #expect(noted.status == 0 && noted.output.contains("note: faults[0].match.route: line 5: no route"), "\(noted)")
        let taken = try await run(world, "start", file, "--new", name)
        #expect(taken.status == 1 && taken.output.contains("--replace"), "\(taken)")
        #expect(try await run(world, "start", file, "--new", name, "--replace").status == 0)
        let strict = try await run(world, "start", file, "--new", name, "--replace", "--strict")
        #expect(strict.status == 64 && strict.output.contains("faults[0].match.route line 5: "), "\(strict)")
        #expect(strict.output.contains("--strict"), "\(strict)")
        #expect(try await run(world, "start", "late-result", "--strict").status == 0)
    }

    @Test func notesOfAVerificationAreShownAndFailIfStrict() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let world = try await TestWorld.make()
        let text = Self.text(
            "faults:\n  - {match: {route: /sdk/search}, effect: {status: 503}, times: 2}\nexpect: [{route: /sdk/search, times: 0}]\n"
        )
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
        let plain = try await run(world, "verify", "mine")
        #expect(plain.status == 0 && plain.output.contains("note: faults[0]: line 5: the fault"), "\(plain)")
        let strict = try await run(world, "verify", "mine", "--strict", "--junit", folder.file("junit.xml"))
        #expect(strict.status == 1 && strict.output.contains("1 of 2 failed"), "\(strict)")
        #expect(try folder.text(of: "junit.xml").contains("name=\"note: faults[0]\""))
    }

    @Test func theCommandLeavesTheDefaultNamespaceAlone() async throws {
        let server = try await SimProcess(["--in-memory"])
        defer { server.stop() }
        let folder = try TestFolder()
        defer { folder.remove() }
        let world = TestWorld(base: server.baseURL)
        let other = world.namespace("other")
        func list(_ more: String...) async throws -> String {
            try await SimProcess.run(["scenario", "list", "--url", server.baseURL] + more).output
        }
        let (own, changed) = (Self.text("expect: []\n", description: "From a file."), Self.text("items: []\n"))
        let file = try folder.write(own, to: "case.yaml")
        let started = try await SimProcess.run(["scenario", "start", file, "--new", "other", "--url", server.baseURL])
        #expect(started.status == 0 && started.output.contains("mine started in other"), "\(started)")
        #expect(try await !list().contains("From a file."))
        #expect(try await list("-n", "other").contains("From a file."))
        #expect(try await run(other, "verify", file).status == 0)
        // A file of the same name with another text was not started. Nor is one that was only stored since.
        let second = try folder.write(changed, to: "changed.yaml")
        let unlike = try await run(other, "verify", second)
        #expect(unlike.status == 1 && unlike.output.contains("with another text than that of"), "\(unlike)")
        #expect(try await run(world.namespace("default"), "verify", file).output.contains("no scenario was started"))
        #expect(try await other.send("PUT", "/_sim/scenarios/mine", yaml: changed).status == 200)
        #expect(try await run(other, "verify", second).status == 1)
        #expect(try await run(other, "verify", file).status == 0)
        // A name is read as the server reads it, also in JSON.
        let json = try folder.write(#"{"name": "mine", "description": "In JSON.", "expect": []}"#, to: "case.json")
        #expect(try await run(other, "start", json).status == 0)
        #expect(try await run(other, "verify", json).status == 0)
        #expect(try await !list().contains("In JSON."))
    }

    /// A scenario that is started without being stored first is stored where it starts, and nowhere else.
    @Test func aScenarioContinuesAfterARestartAndInAFork() async throws {
        try await Process.withDirectory { directory in
            let first = try await SimProcess(["--data-dir", directory])
            let world = TestWorld(base: first.baseURL)
            let text = Self.text(
                "timeline: [{at: 1h, insert_items: {customer_item_id: late}}]\nexpect: [{item: {customer_item_id: late}}]"
            )
            _ = try await world.send(
                "POST", "/_sim/scenarios/start", ["scenario": .string(text), "namespace": "own"])
            _ = try await world.namespace("own").send("PUT", "/_sim/snapshots/started")
            first.kill()
            let second = try await SimProcess(["--data-dir", directory])
            defer { second.stop() }
            let again = TestWorld(base: second.baseURL).namespace("own")
            func verified(_ world: TestWorld) async throws -> Int {
                try await world.send("POST", "/_sim/scenarios/mine/verify").status
            }
            let shown = try await again.send("GET", "/_sim/scenarios/mine")
            #expect(shown["text"].text == text && shown["run.verified"] == false)
            #expect(try await again.root.send("GET", "/_sim/scenarios/mine").status == 404)
            try await again.advance("1h")
            #expect(try await verified(again) == 200)
            _ = try await again.send("POST", "/_sim/snapshots/started/fork", ["namespace": "branch"])
            let branch = again.namespace("branch")
            #expect(try await verified(branch) == 409)
            try await branch.advance("2h")
            #expect(try await verified(branch) == 200)
        }
    }
}
