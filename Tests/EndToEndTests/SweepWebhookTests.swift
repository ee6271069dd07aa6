import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim sweep`: faults of webhooks and switches of the future, with a receiver in the command.
@Suite struct SweepWebhookTests {
    private func sweep(_ form: String, _ options: [String], in directory: String) async throws
        -> RunningProgram.Finished
    {
        let script = directory + "/client.py"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Self.client.write(toFile: script, atomically: true, encoding: .utf8)
        return try await RunningProgram(
            ["sweep", "--out", directory + "/kept"] + options + ["--", "python3", script, form]
        ).finish()
    }

    private let faults = "lost,twice,late,reordered,future:members,future:order,future:events"

    @Test func aRightReceiverHasNoBug() async throws {
        try await Process.withDirectory { directory in
            let found = try await sweep("right", ["--faults", faults], in: directory)
            #expect(found.status == 0 && found.text.contains("14 cells: 14 recovered"), "\(found.text)\(found.errors)")
            #expect(found.errors.contains("1 call, 3 webhooks, 14 runs with a fault, about "))
            #expect(found.text.contains("WEBHOOK") && found.text.contains("WHOLE RUN   future:members"))
        }
    }

    @Test(arguments: [
        (
            "twice", "twice", "webhook session.completed", "doubled: with webhook session.completed #1 sent twice, the",
            "leaves two items for copy instead of one", "webhook-session-completed-1-twice.yaml"
        ),
        (
            "order", "reordered", "webhook session.updated #1",
            "doubled: with webhook session.updated #1 sent after the next one of its item, the",
            "leaves one item for copy instead of none", "webhook-session-updated-1-reordered.yaml"
        ),
        (
            "strict", "future:members", "every call", "doubled: with the switch future.members on, the",
            "leaves three items for copy instead of none", "every-call-future-members.yaml"
        ),
    ])
    func bugsOfReceiversAreFoundAndKept(
        form: String, fault: String, only: String, start: String, end: String, file: String
    ) async throws {
        try await Process.withDirectory { directory in
            let found = try await sweep(form, ["--faults", fault, "--only", only], in: directory)
            #expect(found.status == 1, "\(found.errors)")
            #expect(found.text.contains("1. \(start) client \(end) (3 of 3)\n"), "\(found.text)")
            let kept = directory + "/kept"
            #expect(try FileManager.default.contentsOfDirectory(atPath: kept) == [file])
            let again = try await sweep(form, ["--kept", kept], in: directory)
            #expect(again.status == 1 && again.text.contains("(3 of 3)"), "\(again.text)\(again.errors)")
            let mended = try await sweep("right", ["--kept", kept], in: directory)
            #expect(mended.status == 0 && mended.text.contains("1 cell: 1 recovered"), "\(mended.errors)")
        }
    }

    /// A backend whose receiver copies an item once too often, in several forms.
    private static let client = """
        import http.server, json, os, sys, threading, urllib.request

        BASE, MODE = os.environ["ENTRUPY_SIM_URL"], sys.argv[1]
        EVENTS = []


        def send(method, path, body=None):
            data = json.dumps(body).encode() if body else None
            request = urllib.request.Request(BASE + path, data=data, method=method, headers={
                "Content-Type": "application/json", "Authorization": "Token " + os.environ["ENTRUPY_SIM_API_TOKEN"]})
            with urllib.request.urlopen(request, timeout=8) as answer:
                return json.loads(answer.read() or b"{}")


        def insert(sku):
            template = {"customer_item_id": sku, "result": "authentic"}
            return send("POST", "/_sim/authentications", {"count": 1, "template": template})


        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                event = self.headers["X-Sim-Event"]
                if MODE == "twice" and event == "session.completed":
                    insert("copy")
                if MODE == "order" and event == "session.completed" and not EVENTS:
                    insert("copy")
                EVENTS.append(event)
                if MODE == "strict" and any(name.startswith("x_") for name in body):
                    insert("copy")
                self.send_response(200)
                self.end_headers()

            def log_message(self, *words):
                pass


        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d/hooks" % server.server_port
        send("POST", "/_sim/webhooks", {"organization": "DemoOrg", "url": url, "secret_key": "s", "format": "event"})
        item = send("POST", "/_sim/authentications", {"customer_item_id": "sku-1", "result": "authentic"})["entrupy_ids"][0]
        send("PATCH", "/_sim/authentications/" + item, {"flag": "flagged"})
        send("POST", "/_sim/settle", {"within": "8s"})
        send("GET", "/v2/lookup/authentications/sku-1")

        """
}
