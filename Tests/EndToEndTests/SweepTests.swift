import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim sweep`: a command once for each call and fault, with clients for `sh` that have one bug each.
@Suite struct SweepTests {
    private static let ask = "curl -s -o /dev/null $ENTRUPY_SIM_URL/sdk/session"
    /// Inserts an item, which is how a client of these tests shows what it did.
    private static func insert(into url: String = "$ENTRUPY_SIM_URL") -> String {
        "curl -s -o /dev/null \(url)/_sim/authentications -H 'Content-Type: application/json' "
            + #"-d '{"template": {"customer_item_id": "sku-1", "result": "authentic"}, "count": 1}'"#
    }

    private func sweep(_ script: String, _ options: String..., in directory: String) async throws
        -> RunningProgram.Finished
    {
        try await RunningProgram(["sweep", "--out", directory + "/kept"] + options + ["--", "sh", "-c", script])
            .finish()
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try await body(directory)
        }
    }

    private func kept(_ directory: String) -> [String] {
        // There is no folder without a bug.
        ((try? FileManager.default.contentsOfDirectory(atPath: directory + "/kept")) ?? []).sorted()
    }

    /// The processes that have a folder in their arguments.
    private func processes(of directory: String) async throws -> String {
        try await RunningProgram(["-f", directory], program: "/usr/bin/pgrep").finish().text
    }

    @Test func aRepetitionAfterALostAnswerIsDoubled() async throws {
        try await withFolder { directory in
            let doubles = "\(Self.insert()); \(Self.ask) || \(Self.insert())"
            let found = try await sweep(
                doubles, "--faults", "lose_answer,503", "--json", "--junit", directory + "/s.xml",
                "--summary", directory + "/s.md", "--html", directory + "/s.html", in: directory)
            #expect(found.status == 1, "\(found.errors)")
            let result = try WireJSON.decode(JSONValue.self, from: found.output)
            #expect(Set(result.members?.keys.sorted() ?? []) == ["bugs", "calls", "cells", "left_out"])
            #expect(result["calls"].items.count == 1 && result["left_out"] == [])
            let verdicts = result["cells"].items.map { "\($0["fault"].text ?? "") \($0["verdict"].text ?? "")" }
            #expect(verdicts.sorted() == ["503 recovered", "lose_answer doubled"])
            let members = ["call", "difference", "exit", "fault", "seconds", "verdict"]
            #expect(result["cells"].items.first?.members?.keys.sorted() == members)
            let sentence =
                "with the answer of GET /sdk/session #1 lost, the client leaves two items for sku-1 instead of one"
            let bug = try #require(result["bugs"].items.first)
            #expect(bug["sentence"] == .string(sentence) && bug["seen"] == "3 of 3" && bug["verdict"] == "doubled")
            let file = directory + "/kept/get-sdk-session-1-lose-answer.yaml"
            #expect(bug["scenario"] == .string(file) && kept(directory) == [(file as NSString).lastPathComponent])
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.split(separator: "\n").count < 15 && text.contains("# verdict: doubled, 3 of 3"))
            let junit = try String(contentsOfFile: directory + "/s.xml", encoding: .utf8)
            #expect(junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("two items for sku-1"))
            #expect(try String(contentsOfFile: directory + "/s.md", encoding: .utf8).contains("**doubled**"))
            let page = try String(contentsOfFile: directory + "/s.html", encoding: .utf8)
            for text in [sentence, "3 of 3", "recovered, ", "not delivered: connection reset", "sku-1", file] {
                #expect(page.contains(text), "\(text)")
            }
            // Kept scenarios are a gate: they fail with the bug, and pass when it is mended.
            let again = try await sweep(doubles, "--kept", directory + "/kept", in: directory)
            #expect(again.status == 1 && again.text.contains("(3 of 3)"), "\(again.errors)")
            let mended = try await sweep(
                "\(Self.insert()); \(Self.ask); true", "--kept", directory + "/kept", in: directory)
            #expect(mended.status == 0 && mended.text.contains("1 cell: 1 recovered"), "\(mended.errors)")
            // A kept scenario can be started by itself.
            let alone = try await RunningProgram(
                ["run", "--artifacts", directory + "/run", "--scenario", file, "--", "sh", "-c", doubles]
            ).finish()
            #expect(alone.status == 0, "\(alone.errors)")
        }
    }

    /// The bound of ten seconds is real. The processes of the client end with it.
    @Test func aClientThatWaitsForEverIsHungAndEnded() async throws {
        try await withFolder { directory in
            let script = "\(Self.ask) || sh -c 'sleep 600; :' \(directory)"
            let found = try await sweep(script, "--faults", "lose_answer", in: directory)
            #expect(found.status == 1, "\(found.errors)")
            #expect(found.text.contains("1. hung: ") && found.text.contains(" s (3 of 3)"))
            #expect(try await processes(of: directory).isEmpty)
        }
    }

    @Test func aRightClientHasNoBug() async throws {
        try await withFolder { directory in
            let script = "\(Self.ask); curl -s $ENTRUPY_SIM_URL/sdk/config; \(Self.insert())"
            let found = try await sweep(
                script, "--only", "GET /sdk/session", "GET /sdk/config", "--jobs", "6", in: directory)
            #expect(found.status == 0, "\(found.text)\(found.errors)")
            #expect(found.text.contains(#/([0-9]+) cells: \1 recovered/#), "\(found.text)")
            #expect(kept(directory) == [])
        }
    }

    @Test func whatCannotBeSweptIsSaid() async throws {
        try await withFolder { directory in
            for (script, options, status, words) in [
                (
                    "echo a reason of its own >&2; exit 1", [], 3,
                    "  a reason of its own\nerror: the command fails without a fault: it exited with 1"
                ),
                ("true", [], 2, "no request came to the namespace"),
                ("curl -s $ENTRUPY_SIM_SERVER/sdk/session", [], 2, "leave out /ns/NAME"),
                ("curl -s $ENTRUPY_SIM_URL/x-$$", [], 2, "nothing repeats"),
                (Self.ask, ["--faults", "twice"], 2, "nothing was tried"),
            ] as [(String, [String], Int32, String)] {
                let found = try await RunningProgram(
                    ["sweep", "--out", directory + "/kept"] + options + ["--", "sh", "-c", script]
                ).finish()
                #expect(found.status == status && found.errors.contains(words), "\(script): \(found.errors)")
            }
            // A client whose test removes the fault rules tried nothing.
            let removing = try await sweep(
                "curl -s -X DELETE $ENTRUPY_SIM_URL/_sim/faults; \(Self.ask)", "--faults", "503", in: directory)
            #expect(removing.status == 2 && removing.text.contains("1 cell: 1 not met"), "\(removing.text)")
        }
    }

    /// Daemons leave the process group. They are found on Linux.
    @Test func daemonsOfTheCommandEndWithIt() async throws {
        try await withFolder { directory in
            #if os(Linux)
                let daemon = "setsid sh -c 'sleep 600; :' \(directory) & "
            #else
                let daemon = ""
            #endif
            let script = "\(Self.ask); \(daemon)sh -c 'sleep 600; :' \(directory) &"
            let found = try await sweep(script, "--faults", "503", in: directory)
            #expect(found.status == 0, "\(found.errors)")
            #expect(try await processes(of: directory).isEmpty)
        }
    }

    /// A folder that cannot be written any more hides no bug, and is no pass.
    @Test func aLostFolderIsSaidAndHidesNothing() async throws {
        try await withFolder { directory in
            let lose = "[ ! -d \(directory)/kept ] || mv \(directory)/kept \(directory)/gone"
            let script =
                "\(lose); [ $(curl -s -o /dev/null -w '%{http_code}' $ENTRUPY_SIM_URL/sdk/session) = 503 ] || \(Self.insert())"
            let found = try await sweep(script, "--faults", "503", "--html", directory + "/kept/s.html", in: directory)
            #expect(found.status == 1, "\(found.errors)")
            #expect(
                found.text.contains(
                    "1. silent: with GET /sdk/session #1 answered 503, the client exits 0 and leaves no items for sku-1 instead of one (3 of 3)"
                ), "\(found.text)")
            #expect(found.errors.contains("1 call, 1 run with a fault, about "))
            #expect(found.errors.contains("error: ") && found.errors.contains("cannot be written"), "\(found.errors)")
            #expect(!found.text.contains("kept: "))
            let page = directory + "/pages/s.html"
            let right = try await sweep(
                "\(Self.ask); rm -rf \(directory)/pages", "--faults", "503", "--html", page, in: directory)
            #expect(right.status == 2 && right.text.contains("1 cell: 1 recovered"), "\(right.text)")
            #expect(right.errors.contains("s.html cannot be written"), "\(right.errors)")
        }
    }

    @Test func anInterruptedSweepKeepsWhatItFound() async throws {
        try await withFolder { directory in
            // The seventh run waits until the time is over: some of the cells are run by then, and some are not.
            let wait = "echo >> \(directory)/runs; [ $(wc -l < \(directory)/runs) -lt 7 ] || sleep 600"
            let calls = "\(wait); for NAME in a b c d e f g h; do curl -s $ENTRUPY_SIM_URL/sdk/captures/$NAME; done"
            let late = try await sweep(calls, "--faults", "503,slow", "--jobs", "1", "--for", "30s", in: directory)
            #expect(late.status == 2 && late.errors.contains("the time of --for is over"), "\(late.errors)")
            #expect(late.text.contains("not run") && late.text.contains("recovered"), "\(late.text)")
            let running = try RunningProgram(
                ["sweep", "--out", directory, "--", "sh", "-c", "echo $$ > \(directory)/pid; sleep 600; :"])
            while !FileManager.default.fileExists(atPath: directory + "/pid") { await Task.yield() }
            kill(running.process.processIdentifier, SIGINT)
            let ended = await running.finish()
            #expect(ended.status == 2 && ended.errors.contains("no fault was tried"), "\(ended.errors)")
            #expect(try await processes(of: directory).isEmpty)
        }
    }

    /// The client inserts an item when its second attempt fails too.
    @Test func aSecondFaultIsTriedAtTheRepeatedCall() async throws {
        try await withFolder { directory in
            let script = """
                for TRY in 1 2 3; do
                  CODE=$(curl -s -o /dev/null -w '%{http_code}' $ENTRUPY_SIM_URL/sdk/session)
                  [ $CODE = 503 ] || exit 0
                  [ $TRY = 1 ] || \(Self.insert())
                done
                """
            let found = try await sweep(script, "--faults", "503", "--pairs", in: directory)
            #expect(found.status == 1 && found.text.contains("2 cells: 1 recovered, 1 doubled"), "\(found.text)")
            let sentence = "with GET /sdk/session #2 after 503 at #1 answered 503, the client leaves one item for sku-1"
            #expect(found.text.contains("1. doubled: \(sentence) instead of none (3 of 3)"), "\(found.text)")
            #expect(found.errors.contains("pairs of faults, the second at the call that was repeated:\n1 call, 1 run"))
            let again = try await sweep(script, "--kept", directory + "/kept", in: directory)
            #expect(again.status == 1 && again.text.contains("(3 of 3)"), "\(again.text)\(again.errors)")
            let right = try await sweep(Self.ask, "--faults", "503", "--pairs", in: directory)
            #expect(right.status == 0 && right.errors.contains("no pairs: "), "\(right.errors)")
        }
    }

    /// The client keeps an item in a namespace that it makes itself, and one more after a 503.
    @Test func theNamespacesOfTheCommandAreComparedToo() async throws {
        try await withFolder { directory in
            let insert = Self.insert(into: "$ENTRUPY_SIM_SERVER/ns/mine")
            let script = """
                curl -sf -X PUT $ENTRUPY_SIM_SERVER/_sim/namespaces/mine || exit 1
                \(insert)
                CODE=$(curl -s -o /dev/null -w '%{http_code}' $ENTRUPY_SIM_URL/sdk/session)
                [ $CODE != 503 ] || \(insert)
                curl -sf -X PUT $ENTRUPY_SIM_SERVER/_sim/namespaces/gone || exit 1
                curl -s $ENTRUPY_SIM_SERVER/ns/gone/sdk/session
                curl -s -X DELETE $ENTRUPY_SIM_SERVER/_sim/namespaces/gone
                """
            let found = try await sweep(script, "--faults", "503,429", in: directory)
            #expect(found.status == 1, "\(found.text)\(found.errors)")
            #expect(found.text.contains("2 cells: 1 recovered, 1 doubled"), "\(found.text)")
            #expect(found.text.contains("leaves two items for sku-1 instead of one (3 of 3)"), "\(found.text)")
            for words in [
                "with 1 job\nthe command makes namespaces itself",
                "left out: calls to namespaces that the command makes",
                "left out: namespaces that the command deletes again",
            ] {
                #expect(found.errors.contains(words), "\(found.errors)")
            }
        }
    }

    @Test func aSweepBeginsInAScenario() async throws {
        try await withFolder { directory in
            let file = directory + "/base.yaml"
            try "name: base\ndescription: x\nitems: [{customer_item_id: there}]\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let script = "curl -sf $ENTRUPY_SIM_URL/_sim/authentications | grep -q there && \(Self.ask)"
            let found = try await sweep(script, "--scenario", file, "--faults", "503", in: directory)
            #expect(found.status == 0 && found.text.contains("1 cell: 1 recovered"), "\(found.text)\(found.errors)")
        }
    }

    /// `SweepOptionTests` has what the options themselves refuse.
    @Test(arguments: [
        ["--faults", "503,twise"], ["--html", "/"], ["--kept", "/nowhere"], ["--kept", "/etc"],
        ["--out", "/etc/passwd/x"], ["--scenario", "/nowhere.yaml"],
    ])
    func wrongUsageIs64(options: [String]) async throws {
        let run = try await RunningProgram(["sweep"] + options + ["--", "true"]).finish()
        #expect(run.status == 64 && run.errors.hasPrefix("error: ") && run.output.isEmpty, "\(run.errors)")
        #expect(!options.contains("503,twise") || run.errors.contains("did you mean twice?"), "\(run.errors)")
    }
}
