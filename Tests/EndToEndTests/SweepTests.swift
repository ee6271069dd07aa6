import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim sweep`: a command once for each call and fault, with clients that have one bug each.
@Suite struct SweepTests {
    private static let picture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("demo/sneaker.jpg").path

    private static let submit = "POST /sdk/captures/{id}/submit #1"

    /// Runs a sweep of the client below in one of its forms.
    private func sweep(_ form: String, _ options: String..., in directory: String) async throws
        -> RunningProgram.Finished
    {
        let script = directory + "/client.py"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Self.client.write(toFile: script, atomically: true, encoding: .utf8)
        return try await RunningProgram(
            ["sweep", "--out", directory + "/kept"] + options + ["--", "python3", script, form, Self.picture]
        ).finish()
    }

    private func shell(_ script: String, _ options: String..., in directory: String) async throws
        -> RunningProgram.Finished
    {
        try await RunningProgram(["sweep", "--out", directory + "/kept"] + options + ["--", "sh", "-c", script])
            .finish()
    }

    private func kept(_ directory: String) -> [String] {
        // There is no folder without a bug.
        ((try? FileManager.default.contentsOfDirectory(atPath: directory + "/kept")) ?? []).sorted()
    }

    @Test func aNewCaptureAfterALostAnswerIsDoubled() async throws {
        try await Process.withDirectory { directory in
            let faults = ["--faults", "lose_request,lose_answer", "--only", Self.submit]
            let found = try await sweep(
                "doubles", faults[0], faults[1], faults[2], faults[3], "--json", "--junit", directory + "/s.xml",
                "--summary", directory + "/s.md", "--html", directory + "/s.html", in: directory)
            #expect(found.status == 1, "\(found.errors)")
            let result = try WireJSON.decode(JSONValue.self, from: found.output)
            #expect(Set(result.members?.keys.sorted() ?? []) == ["bugs", "calls", "cells", "left_out"])
            #expect(result["calls"].items.count == 11 && result["left_out"] == [])
            #expect(result["cells"].items.map { $0["verdict"] } == ["recovered", "doubled"])
            #expect(
                result["cells"].items.first?.members?.keys.sorted() == [
                    "call", "difference", "exit", "fault", "seconds", "verdict",
                ])
            let sentence =
                "with the answer of \(Self.submit) lost, the client leaves two items for sku-1 instead of one"
            let bug = try #require(result["bugs"].items.first)
            #expect(bug["sentence"] == .string(sentence) && bug["seen"] == "3 of 3" && bug["verdict"] == "doubled")
            let file = directory + "/kept/post-sdk-captures-id-submit-1-lose-answer.yaml"
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
            let again = try await sweep("doubles", "--kept", directory + "/kept", in: directory)
            #expect(again.status == 1 && again.text.contains("(3 of 3)"), "\(again.errors)")
            let mended = try await sweep("right", "--kept", directory + "/kept", in: directory)
            #expect(mended.status == 0 && mended.text.contains("1 cell: 1 recovered"), "\(mended.errors)")
            // A kept scenario can be started by itself.
            let alone = try await RunningProgram(
                [
                    "run", "--artifacts", directory + "/run", "--scenario", file, "--", "python3",
                    directory + "/client.py", "doubles", Self.picture,
                ]
            ).finish()
            #expect(alone.status == 0, "\(alone.errors)")
        }
    }

    @Test func aRefusalThatIsIgnoredIsSilent() async throws {
        try await Process.withDirectory { directory in
            let found = try await sweep("silent", "--faults", "503", "--only", Self.submit, in: directory)
            #expect(found.status == 1, "\(found.errors)")
            #expect(
                found.text.contains(
                    "1. silent: with \(Self.submit) answered 503, the client exits 0 and leaves no items for sku-1 instead of one (3 of 3)"
                ), "\(found.text)")
            #expect(found.text.contains("POST /sdk/captures/{id}/submit  503"))
            #expect(found.errors.contains("11 calls, 1 run with a fault, about "))
        }
    }

    /// The bound of ten seconds is real. The processes of the client end with it.
    @Test func aClientThatWaitsForEverIsHungAndEnded() async throws {
        try await Process.withDirectory { directory in
            let found = try await sweep("hangs", "--faults", "lose_answer", "--only", Self.submit, in: directory)
            #expect(found.status == 1, "\(found.errors)")
            #expect(found.text.contains("1. hung: ") && found.text.contains(" s (3 of 3)"))
            #expect(try await processes(of: directory).isEmpty)
        }
    }

    @Test func aRightClientHasNoBug() async throws {
        try await Process.withDirectory { directory in
            let found = try await sweep(
                "right", "--only", Self.submit, "POST /sdk/login", "POST /sdk/captures", "--jobs", "6", in: directory)
            #expect(found.status == 0, "\(found.text)\(found.errors)")
            #expect(found.text.contains("17 cells: 17 recovered"), "\(found.text)")
            #expect(kept(directory) == [])
        }
    }

    @Test func aCommandThatFailsByItselfIsSaidAlone() async throws {
        try await Process.withDirectory { directory in
            let found = try await sweep("fails", in: directory)
            #expect(found.status == 3 && found.output.isEmpty, "\(found.errors)")
            #expect(
                found.errors.hasPrefix(
                    "  a reason of its own\nerror: the command fails without a fault: it exited with 1"))
        }
    }

    @Test func aCommandThatAsksNothingIsSaid() async throws {
        try await Process.withDirectory { directory in
            let none = try await shell("true", in: directory)
            #expect(none.status == 2 && none.errors.contains("no request came to the namespace"), "\(none.errors)")
            let elsewhere = try await shell("curl -s $ENTRUPY_SIM_SERVER/sdk/session", in: directory)
            #expect(elsewhere.status == 2 && elsewhere.errors.contains("leave out /ns/NAME"), "\(elsewhere.errors)")
            let random = try await shell("curl -s $ENTRUPY_SIM_URL/x-$$", in: directory)
            #expect(random.status == 2 && random.errors.contains("nothing repeats"), "\(random.errors)")
        }
    }

    /// A client whose test removes the fault rules tried nothing.
    @Test func aFaultThatWasNotMetIsNoPass() async throws {
        try await Process.withDirectory { directory in
            let script = "curl -s -X DELETE $ENTRUPY_SIM_URL/_sim/faults; curl -s $ENTRUPY_SIM_URL/sdk/session"
            let found = try await shell(script, "--faults", "503", in: directory)
            #expect(found.status == 2 && found.text.contains("1 cell: 1 not met"), "\(found.text)\(found.errors)")
        }
    }

    /// Daemons leave the process group. They are found on Linux.
    @Test func daemonsOfTheCommandEndWithIt() async throws {
        try await Process.withDirectory { directory in
            #if os(Linux)
                let daemon = "setsid sh -c 'sleep 600; :' \(directory) & "
            #else
                let daemon = ""
            #endif
            let script = "curl -s $ENTRUPY_SIM_URL/sdk/session; \(daemon)sh -c 'sleep 600; :' \(directory) &"
            let found = try await shell(script, "--faults", "503", in: directory)
            #expect(found.status == 0, "\(found.errors)")
            #expect(try await processes(of: directory).isEmpty)
        }
    }

    /// The processes that have a folder in their arguments.
    private func processes(of directory: String) async throws -> String {
        try await RunningProgram(["-f", directory], program: "/usr/bin/pgrep").finish().text
    }

    /// A folder that cannot be written any more hides nothing.
    @Test func aLostFolderDoesNotHideABug() async throws {
        try await Process.withDirectory { directory in
            let found = try await sweep(
                "silent-without-folder", "--faults", "503", "--only", Self.submit, "--html",
                directory + "/kept/s.html", in: directory)
            #expect(found.status == 1 && found.text.contains("1. silent: "), "\(found.text)\(found.errors)")
            #expect(found.errors.contains("error: ") && found.errors.contains("cannot be written"), "\(found.errors)")
            #expect(!found.text.contains("kept: "))
        }
    }

    @Test func aPageThatCannotBeWrittenIsNoPass() async throws {
        try await Process.withDirectory { directory in
            let script = "curl -s $ENTRUPY_SIM_URL/sdk/session; rm -rf \(directory)/pages"
            let found = try await shell(
                script, "--faults", "503", "--html", directory + "/pages/s.html", in: directory)
            #expect(found.status == 2 && found.text.contains("1 cell: 1 recovered"), "\(found.text)")
            #expect(found.errors.contains("s.html cannot be written"), "\(found.errors)")
        }
    }

    @Test func anInterruptedSweepKeepsWhatItFound() async throws {
        try await Process.withDirectory { directory in
            let calls = "for NAME in a b c d e f g h; do curl -s $ENTRUPY_SIM_URL/sdk/captures/$NAME; done"
            let late = try await shell(calls, "--faults", "503,slow", "--jobs", "1", "--for", "15s", in: directory)
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
        try await Process.withDirectory { directory in
            let script = """
                for TRY in 1 2 3; do
                  CODE=$(curl -s -o /dev/null -w '%{http_code}' $ENTRUPY_SIM_URL/sdk/session)
                  [ $CODE = 503 ] || exit 0
                  [ $TRY = 1 ] || curl -s $ENTRUPY_SIM_URL/_sim/authentications -H 'Content-Type: application/json' \
                    -d '{"template": {"customer_item_id": "a", "result": "authentic"}, "count": 1}'
                done
                """
            let found = try await shell(script, "--faults", "503", "--pairs", in: directory)
            #expect(found.status == 1 && found.text.contains("2 cells: 1 recovered, 1 doubled"), "\(found.text)")
            let sentence = "with GET /sdk/session #2 after 503 at #1 answered 503, the client leaves one item for a"
            #expect(found.text.contains("1. doubled: \(sentence) instead of none (3 of 3)"), "\(found.text)")
            #expect(found.errors.contains("pairs of faults, the second at the call that was repeated:\n1 call, 1 run"))
            let again = try await shell(script, "--kept", directory + "/kept", in: directory)
            #expect(again.status == 1 && again.text.contains("(3 of 3)"), "\(again.text)\(again.errors)")
            let right = try await shell(
                "curl -s $ENTRUPY_SIM_URL/sdk/session", "--faults", "503", "--pairs", in: directory)
            #expect(right.status == 0 && right.errors.contains("no pairs: "), "\(right.errors)")
        }
    }

    /// The client keeps an item in a namespace that it makes itself, and one more after a 503.
    @Test func theNamespacesOfTheCommandAreComparedToo() async throws {
        try await Process.withDirectory { directory in
            let script = """
                insert() {
                  curl -s $ENTRUPY_SIM_SERVER/ns/mine/_sim/authentications -H 'Content-Type: application/json' \
                    -d '{"template": {"customer_item_id": "a", "result": "authentic"}, "count": 1}'
                }
                curl -sf -X PUT $ENTRUPY_SIM_SERVER/_sim/namespaces/mine || exit 1
                insert
                CODE=$(curl -s -o /dev/null -w '%{http_code}' $ENTRUPY_SIM_URL/sdk/session)
                [ $CODE != 503 ] || insert
                curl -sf -X PUT $ENTRUPY_SIM_SERVER/_sim/namespaces/gone || exit 1
                curl -s $ENTRUPY_SIM_SERVER/ns/gone/sdk/session
                curl -s -X DELETE $ENTRUPY_SIM_SERVER/_sim/namespaces/gone
                """
            let found = try await shell(script, "--faults", "503,429", in: directory)
            #expect(found.status == 1, "\(found.text)\(found.errors)")
            #expect(found.text.contains("2 cells: 1 recovered, 1 doubled"), "\(found.text)")
            #expect(found.text.contains("leaves two items for a instead of one (3 of 3)"), "\(found.text)")
            #expect(found.errors.contains("with 1 job\nthe command makes namespaces itself"), "\(found.errors)")
            #expect(found.errors.contains("left out: calls to namespaces that the command makes"), "\(found.errors)")
            #expect(found.errors.contains("left out: namespaces that the command deletes again"), "\(found.errors)")
        }
    }

    @Test func aSweepBeginsInAScenario() async throws {
        try await Process.withDirectory { directory in
            let file = directory + "/base.yaml"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try "name: base\ndescription: x\nitems: [{customer_item_id: there}]\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let script =
                "curl -sf $ENTRUPY_SIM_URL/_sim/authentications | grep -q there && curl -s $ENTRUPY_SIM_URL/sdk/session"
            let found = try await shell(script, "--scenario", file, "--faults", "503", in: directory)
            #expect(found.status == 0 && found.text.contains("1 cell: 1 recovered"), "\(found.text)\(found.errors)")
        }
    }

    @Test(arguments: [
        ["sweep"], ["sweep", "--"], ["sweep", "--jobs", "0", "--", "true"], ["sweep", "--for", "soon", "--", "true"],
        ["sweep", "--faults", "503,twise", "--", "true"], ["sweep", "--faults", "future:member", "--", "true"],
        ["sweep", "--faults", "lose_anser", "--", "true"], ["sweep", "--faults", "", "--", "true"],
        ["sweep", "--kept", "/etc", "--pairs", "--", "true"], ["sweep", "--html", "/", "--", "true"],
        ["sweep", "--before", "a", "--after", "b", "--", "true"], ["sweep", "--kept", "x", "--before", "a"],
        ["sweep", "--before", "a", "--after", "b"], ["sweep", "--kept", "x", "--before", "a", "--after", ""],
        ["sweep", "--kept", "/nowhere", "--", "true"],
        ["sweep", "--kept", "/etc", "--faults", "503", "--", "true"],
        ["sweep", "--out", "/etc/passwd/x", "--", "true"],
        ["sweep", "--scenario", "/nowhere.yaml", "--", "true"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let run = try await RunningProgram(arguments).finish()
        #expect(run.status == 64 && run.errors.hasPrefix("error: ") && run.output.isEmpty, "\(run.errors)")
        if arguments.contains(where: { $0.contains("twise") || $0.contains("future") }) {
            let isNamed = run.errors.contains("did you mean twice?") || run.errors.contains("mean future:members?")
            #expect(isNamed, "\(run.errors)")
        }
    }

    /// Else a part that a person added would be left out silently.
    @Test(arguments: [
        ("items: [{result: unknown}]", "has \"items: [{result: unknown}]\""), ("faults: []", "one fault rule, the two"),
        ("settings: {\"quota\":1}", "one switch of the future"),
        ("faults: [{effect: {status: 503}}]", "as JSON in one line"), ("", "one fault rule, the two"),
        // In another state the bug may not show, and the gate would pass.
        (
            "# scenario: a b.yaml",
            "found in the scenario a b.yaml, and without it the bug may not show\n  add --scenario 'a b.yaml'"
        ),
    ])
    func aKeptFileWithOtherPartsIsRefused(line: String, words: String) async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try "# call: a\nname: x\n\(line)\n".write(
                toFile: directory + "/x.yaml", atomically: true, encoding: .utf8)
            let run = try await RunningProgram(["sweep", "--kept", directory, "--", "true"]).finish()
            #expect(run.status == 64 && run.errors.contains(words), "\(run.errors)")
        }
    }

    /// A client of an app that takes one picture of each region, in several forms. `right` repeats what it may repeat.
    private static let client = """
        import json, os, sys, time, urllib.error, urllib.request

        BASE, MODE = os.environ["ENTRUPY_SIM_URL"], sys.argv[1]
        PICTURE = open(sys.argv[2], "rb").read()


        def send(method, path, body=None, token=None, data=None):
            headers = {"Content-Type": "application/json"}
            if token:
                headers["Authorization"] = "Token " + token
            if body is not None:
                data = json.dumps(body).encode()
            request = urllib.request.Request(BASE + path, data=data, method=method, headers=headers)
            with urllib.request.urlopen(request, timeout=None if MODE == "hangs" else 8) as answer:
                return json.loads(answer.read() or b"{}")


        def login():
            signed = patient("POST", "/v2/integrations/authorize-user", {
                "sdk_authorization_request": "from-the-app", "unique_user_id": "seller-1", "email": "seller-1@example.com",
            }, os.environ["ENTRUPY_SIM_API_TOKEN"])["signed_authorization_request"]
            return send("POST", "/sdk/login", {"signed_authorization_request": signed})["token"]


        def patient(method, path, body=None, token=None, data=None):
            for attempt in range(4):
                try:
                    return send(method, path, body, token, data)
                except urllib.error.HTTPError as error:
                    if error.code not in (429, 503):
                        raise
                    time.sleep(float(error.headers.get("Retry-After", 0.05)))
                except OSError:
                    time.sleep(0.05)
            raise SystemExit("no answer")


        class App:
            def __init__(self):
                self.log_in()

            def log_in(self):
                for attempt in range(4):
                    try:
                        self.token = login()
                        return
                    except urllib.error.HTTPError as error:
                        time.sleep(float(error.headers.get("Retry-After", 0.05)))
                    except OSError:
                        time.sleep(0.05)
                raise SystemExit("no login")

            def call(self, method, path, body=None, data=None):
                for attempt in range(2):
                    try:
                        return patient(method, path, body, self.token, data)
                    except urllib.error.HTTPError as error:
                        if error.code == 409 and path.endswith("/submit"):
                            return json.loads(error.read())
                        if error.code != 401:
                            raise
                        self.log_in()
                raise SystemExit("no session")

            def capture(self):
                item = {"brand": "Nike", "style_name": "Air Jordan 1", "customer_item_id": "sku-1"}
                capture = "/sdk/captures/" + self.call("POST", "/sdk/captures", {"item": item})["capture_id"]
                for region in "outer_side inner_side toe_box heel outsole size_tag insole_stitching".split():
                    self.call("PUT", capture + "/images/" + region, data=PICTURE)
                return capture

            def submit(self, capture):
                if MODE == "doubles":
                    for attempt in range(3):
                        try:
                            return send("POST", capture + "/submit", {}, self.token)
                        except urllib.error.HTTPError:
                            raise
                        except OSError:
                            capture = self.capture()
                if MODE == "silent-without-folder":
                    folder = os.path.dirname(sys.argv[0]) + "/kept"
                    if os.path.isdir(folder):
                        os.rename(folder, folder + "-gone")
                if MODE.startswith("silent"):
                    try:
                        return send("POST", capture + "/submit", {}, self.token)
                    except urllib.error.HTTPError:
                        return {}
                if MODE == "hangs":
                    try:
                        return send("POST", capture + "/submit", {}, self.token)
                    except OSError:
                        while True:
                            time.sleep(1)
                return self.call("POST", capture + "/submit", {})


        app = App()
        if MODE == "fails":
            sys.exit("a reason of its own")
        print(app.submit(app.capture()))

        """
}
