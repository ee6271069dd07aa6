import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The file of a server's coverage, and the command `entrupy-sim coverage` [D coverage].
@Suite struct CoverageFileTests {
    private static let met = "POST /v2/integrations/authorize-user 200"

    private func reached(_ server: SimProcess) async throws -> Int? {
        try await TestWorld(base: server.baseURL).coverage().edge("answers", Self.met)?.reached
    }

    private func coverage(_ path: String) throws -> Coverage {
        try Coverage(file: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        try await Process.withDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try await body(path)
        }
    }

    // MARK: The server's file

    @Test func coverageSurvivesAStopAndAKill() async throws {
        try await withFolder { directory in
            let file = directory + "/coverage.json"
            let first = try await SimProcess(["--data-dir", directory])
            _ = try await TestWorld(base: first.baseURL).authorize()
            #expect(first.stop() == 0)
            #expect(try coverage(file).edge("answers", Self.met)?.reached == 1)
            let second = try await SimProcess(["--data-dir", directory])
            #expect(try await reached(second) == 1)
            let sources = try await TestWorld(base: second.baseURL).coverage().sources
            #expect(try sources.count == 1 && coverage(file).sources == sources, "the counts are the same")
            // The login is an edge that is newly met, after which the server writes the file by itself. The loop ends when it has.
            _ = try await TestWorld(base: second.baseURL).login()
            var saved: Int?
            while saved != 2 { saved = try coverage(file).edge("answers", Self.met)?.reached }
            second.kill()
            let third = try await SimProcess(["--data-dir", directory])
            defer { third.stop() }
            #expect(try await reached(third) == 2)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(left.filter { $0.hasPrefix("coverage.json") } == ["coverage.json"], "no part of a file is left")
        }
    }

    /// The counts of a namespace are not kept, and each form of the answer says so.
    @Test func aNamespaceThatIsOlderThanItsCountsSaysSo() async throws {
        try await withFolder { directory in
            let first = try await SimProcess(["--data-dir", directory])
            var root = TestWorld(base: first.baseURL)
            for name in ["kept", "reset"] { _ = try await root.send("PUT", "/_sim/namespaces/\(name)", [:]) }
            _ = try await TestWorld(base: "\(root.base)/ns/kept").authorize()
            let before = try await TestWorld(base: "\(root.base)/ns/kept").coverage()
            #expect(!before.since_restart)
            first.stop()
            let second = try await SimProcess(["--data-dir", directory])
            defer { second.stop() }
            root = TestWorld(base: second.baseURL)
            let kept = TestWorld(base: "\(root.base)/ns/kept")
            let empty = try await kept.coverage()
            #expect(empty.since_restart && empty.since > before.since)
            #expect(empty.edge("answers", Self.met)?.reached == 0)
            _ = try await kept.authorize()
            let after = try await kept.coverage()
            #expect(after.since_restart && after.since == empty.since)
            #expect(after.edge("answers", Self.met)?.reached == 1)
            let shown = try await run(["show"], kept)
            #expect(shown.output.contains(", when the server was started again"), "\(shown.output)")
            // The server's own counts go on.
            #expect(try await !root.coverage().since_restart)
            #expect(try await reached(second) == 2)
            // A state that is younger than the server has all.
            _ = try await root.send("POST", "/ns/reset/_sim/reset")
            #expect(try await !TestWorld(base: "\(root.base)/ns/reset").coverage().since_restart)
            _ = try await kept.send("DELETE", "/_sim/coverage")
            #expect(try await !kept.coverage().since_restart)
        }
    }

    /// `CoverageFormTests` has the other files that are none.
    @Test func aFileThatCannotBeReadIsMovedAside() async throws {
        try await withFolder { directory in
            let (file, text) = (directory + "/own.json", Data("{\"since\": 1}".utf8))
            try text.write(to: URL(fileURLWithPath: file))
            let server = try await SimProcess(["--in-memory", "--coverage-file", file, "--log-level", "warning"])
            #expect(server.greeting.contains("moved aside"), "\(server.greeting)")
            #expect(try await reached(server) == 0)
            // An answer that no namespace decided counts for the server.
            let root = TestWorld(base: server.baseURL)
            _ = try await root.send("GET", "/sdk/session", headers: ["Host": "elsewhere.example"])
            #expect(try await root.edge("answers", "GET /sdk/session 403").reached == 1)
            #expect(try await root.edge("sdk_errors", "ErrorCodeForbiddenError").reached == 1)
            #expect(server.stop() == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file + ".unreadable")) == text)
            let facts = try FileManager.default.attributesOfItem(atPath: file)
            #expect(try facts[.posixPermissions] as? Int == 0o600 && coverage(file).edge("answers", Self.met) != nil)
        }
    }

    @Test func edgesOfAnotherVersionAreKept() async throws {
        try await withFolder { directory in
            let file = directory + "/own.json"
            let other = Coverage.Edge(id: "GET /v9/nothing 200", reached: 7, tests: ["t"])
            // The numbers of a file may be any, and the largest one stays.
            let large = Coverage.Edge(id: "POST /sdk/login 200", reached: .max, injected: .max)
            let edges = [other, .init(id: Self.met, reached: 3), large]
            let old = Coverage(since: 5, axes: [.init(id: "answers", title: "Old", edges: edges)])
            try WireJSON.encode(old).write(to: URL(fileURLWithPath: file))
            let server = try await SimProcess(["--in-memory", "--coverage-file", file])
            #expect(server.greeting.contains("edges that this version does not have"), "\(server.greeting)")
            _ = try await TestWorld(base: server.baseURL).login()
            let shown = try await TestWorld(base: server.baseURL).coverage()
            #expect(shown.since == 5)
            #expect(shown.edge("answers", other.id) == nil)
            #expect(shown.edge("answers", Self.met)?.reached == 4)
            #expect(shown.edge("answers", large.id)?.reached == .max)
            #expect(server.stop() == 0)
            #expect(try coverage(file).edge("answers", other.id)?.reached == 7)
            #expect(try coverage(file).edge("answers", Self.met)?.reached == 4)
        }
    }

    @Test func aFileThatCannotBeIsRefusedAtTheStart() async throws {
        try await withFolder { directory in
            for (path, problem) in [(directory + "/none/c.json", "there is no folder"), (directory, "it is a folder")] {
                let run = try await SimProcess.run(["serve", "--port", "0", "--in-memory", "--coverage-file", path])
                #expect(run.status == 1)
                #expect(run.output.contains(problem), "\(run.output)")
            }
            let empty = try await SimProcess.run(["serve", "--in-memory", "--coverage-file="])
            #expect(empty.status == 64, "\(empty.output)")
        }
    }

    @Test func aReplayCountsNothing() async throws {
        try await withFolder { directory in
            let recording = directory + "/run.recording"
            let server = try await SimProcess(["--in-memory", "--record", recording])
            let root = TestWorld(base: server.baseURL)
            _ = try await root.authorize()
            _ = try await root.send("GET", "/_sim/coverage")
            #expect(server.stop() == 0)
            let replayed = try await SimProcess.run(["replay", recording])
            #expect(replayed.status == 0, "\(replayed.output)")
            let going = try await SimProcess([], replaying: recording)
            defer { going.stop() }
            #expect(try await reached(going) == 0)
            _ = try await TestWorld(base: going.baseURL).authorize()
            #expect(try await reached(going) == 1)
        }
    }

    // MARK: The command

    private func run(_ arguments: [String], _ world: TestWorld? = nil) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(
            ["coverage"] + arguments, environment: world.map { ["ENTRUPY_SIM_URL": $0.base] } ?? [:])
    }

    @Test func aLostEdgeOfTheBaselineExits1() async throws {
        try await withFolder { directory in
            let (base, page, junit) = (directory + "/b.json", directory + "/c.html", directory + "/c.xml")
            let (before, after) = (try await TestWorld.withoutLimits(), try await TestWorld.withoutLimits())
            _ = try await before.authorize()
            #expect(try await run(["--save", base], before).status == 0)
            let kept = try await run(["--baseline", base], before)
            #expect(kept.status == 0)
            #expect(kept.output.contains("0 edges of the baseline lost"), "\(kept.output)")
            let lost = try await run(["--baseline", base, "--html", page, "--junit", junit], after)
            #expect(lost.status == 1)
            #expect(lost.output.contains("lost: answers: \(Self.met)"), "\(lost.output)")
            let html = try String(contentsOfFile: page, encoding: .utf8)
            #expect(html.contains("1 edge of the baseline lost"))
            #expect(html.contains("class=\"edge lost\""))
            #expect(!html.contains("<script") && !html.contains("http-equiv=\"refresh\"") && !html.contains(" src="))
            let xml = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(xml.contains("tests=\"1\" failures=\"1\""), "\(xml)")
            #expect(xml.contains("<failure message=\"no test meets \(Self.met) any more"), "\(xml)")
            _ = try await after.authorize()
            _ = try await after.send("GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.4"])
            let more = try await run(["--baseline", base], after)
            #expect(more.status == 0)
            #expect(more.output.contains("lost, 1 new"), "\(more.output)")
        }
    }

    /// A file has the ids of its counts: a server's own and a namespace's, which the server's have too.
    @Test func shardsAreAddedUpAndTheSameCountsOnce() async throws {
        try await withFolder { directory in
            func file(_ name: String) -> String { directory + "/\(name).json" }
            let server = try await SimProcess(["--in-memory"])
            defer { server.stop() }
            let root = TestWorld(base: server.baseURL)
            let (one, two) = (try await TestWorld.make(in: server), try await TestWorld.withoutLimits())
            for (name, count, place) in [("one", 1, one), ("two", 2, two)] {
                var world = place
                world.headers = ["X-Sim-Test": name]
                for _ in 0..<count { _ = try await world.authorize() }
                #expect(try await run(["--save", file(name)], world).status == 0)
            }
            #expect(try await run(["--save", file("server")], root).status == 0)
            func merged(_ names: String..., counted: Bool = false) async throws -> Coverage.Edge? {
                let run = try await run(["merge"] + names.map(file) + ["-o", file("sum")])
                #expect(run.status == 0 && run.output.contains("counted once") == counted, "\(run.output)")
                return try coverage(file("sum")).edge("answers", Self.met)
            }
            let sum = try #require(try await merged("one", "two"))
            #expect(sum.reached == 3 && sum.tests == ["one", "two"] && sum.meet_with == nil)
            #expect(try coverage(file("sum")).axes.first?.reached == 1)
            #expect(try await merged("one", "server", "one", counted: true)?.reached == 1)
            // Counts that begin anew are others.
            _ = try await root.send("DELETE", "/_sim/coverage")
            _ = try await one.authorize()
            #expect(try await run(["--save", file("new")], root).status == 0)
            #expect(try await merged("server", "new")?.reached == 2)
        }
    }

    @Test func aFileThatIsNoCoverageIsAWrongFile() async throws {
        try await withFolder { directory in
            let wrong = directory + "/w.json"
            try Data("{\"since\": 1, \"axes\": 3}".utf8).write(to: URL(fileURLWithPath: wrong))
            let world = try await TestWorld.withoutLimits()
            for arguments in [["--baseline", wrong], ["merge", wrong, "-o", directory + "/o.json"]] {
                let run = try await run(arguments, world)
                #expect(run.status == 64)
                #expect(run.output.contains("is not a file of coverage"), "\(run.output)")
            }
            let missing = try await run(["--baseline", directory + "/none.json"], world)
            #expect(missing.status == 64)
            #expect(missing.output.contains("cannot be read"), "\(missing.output)")
            let both = try await run(["--prefix", "a"], world)
            #expect(both.status == 64)
            #expect(both.output.contains("--prefix is for the whole server"), "\(both.output)")
        }
    }

    /// The name of a test is a client's text.
    @Test func hostileNamesAreTextInEveryForm() async throws {
        try await withFolder { directory in
            let (base, page, junit) = (directory + "/b.json", directory + "/c.html", directory + "/c.xml")
            let name = "\"><script>alert(1)</script>&'`$(id)"
            let world = try await TestWorld.withoutLimits()
            var named = world
            named.headers = ["X-Sim-Test": name]
            _ = try await named.authorize()
            let shown = try await run(["--save", base, "--html", page, "--junit", junit, "--all"], world)
            #expect(shown.status == 0)
            let html = try String(contentsOfFile: page, encoding: .utf8)
            #expect(!html.contains("<script"))
            #expect(html.contains("&quot;&gt;&lt;script&gt;alert(1)"))
            // Names of edges are a file's text.
            let edge = Coverage.Edge(id: "a\"><b>\u{1b}[31m\u{0}", reached: 1, tests: [name])
            let hostile = Coverage(since: 1, axes: [.init(id: "x\"<", title: "<i>", edges: [edge])])
            try WireJSON.encode(hostile).write(to: URL(fileURLWithPath: base))
            let compared = try await run(["--baseline", base, "--html", page, "--junit", junit], world)
            #expect(compared.status == 0, "an edge of another version does not fail")
            #expect(compared.output.contains("or of the whole server: "), "\(compared.output)")
            #expect(!compared.output.contains("\u{1b}"), "\(compared.output)")
            let xml = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(xml.contains("name=\"a&quot;&gt;&lt;b&gt;[31m\""), "\(xml)")
            #expect(try !String(contentsOfFile: page, encoding: .utf8).contains("<b>"))
        }
    }

    // MARK: A run

    @Test func aRunWritesTheFirstBaselineAndKeepsIt() async throws {
        try await withFolder { directory in
            let base = directory + "/b.json"
            let login = "'\(SimProcess.path)' users login"
            func run(_ script: String, _ options: String...) async throws -> RunningProgram.Finished {
                try await RunningProgram(
                    ["run", "--artifacts", directory + "/kept", "--coverage", base] + options
                        + ["--", "sh", "-c", script]
                ).finish()
            }
            let failed = try await run("exit 3")
            #expect(failed.status == 3)
            #expect(!FileManager.default.fileExists(atPath: base), "a run that failed writes none")
            let first = try await run(login)
            #expect(first.status == 0, "\(first.errors)")
            let written = try Data(contentsOf: URL(fileURLWithPath: base))
            #expect(try Coverage(file: written).edge("answers", "POST /sdk/login 200")?.reached == 1)
            let same = try await run(login)
            #expect(same.status == 0, "\(same.errors)")
            let less = try await run("exit 0")
            #expect(less.status == 1)
            #expect(less.errors.contains("lost: answers: POST /sdk/login 200"), "\(less.errors)")
            let told = try await run("exit 0", "--json")
            let summary = try WireJSON.decode(
                JSONValue.self, from: Data((told.errors.split(separator: "\n").last ?? "").utf8))
            #expect(summary["exit_code"] == 1)
            #expect(summary["coverage.lost"].items.contains("answers: POST /sdk/login 200"), "\(told.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: base)) == written, "a run never changes the baseline")
            try Data("{".utf8).write(to: URL(fileURLWithPath: base))
            let wrong = try await run("exit 0")
            #expect(wrong.status == 64)
            #expect(wrong.errors.contains("is not a file of coverage"), "\(wrong.errors)")
        }
    }
}
