import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The page that `entrupy-sim report` makes of a bundle.
@Suite struct ReportPageTests {
    /// The page of a bundle.
    private func page(of bundle: Data) async throws -> (html: String, said: String) {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/failure.tar"
            try bundle.write(to: URL(fileURLWithPath: file))
            let run = try await SimProcess.run(["report", file, "-o", directory + "/page.html"])
            try #require(run.status == 0, "\(run.output)")
            return (try String(contentsOfFile: directory + "/page.html", encoding: .utf8), run.output)
        }
    }

    private static let scenario = """
        name: mine
        description: A search must work.
        clock: {freeze: 2026-01-05T09:00:00Z}
        outcomes: [{match: {brand: Prada}, result: unknown}]
        faults: [{match: {route: /sdk/session}, effect: {drop_connection: true}, times: 1}]
        timeline: [{at: 1h, set_result: {customer_item_id: none, result: unknown}}]
        expect:
          - {route: /sdk/results/*, method: GET, status: 200}
          - {route: /sdk/login, status: 200}
        """

    @Test func itBeginsWithWhy() async throws {
        let world = try await TestWorld.make()
        let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(Self.scenario)])
        try #require(started.status == 200, "\(started.json)")
        let hook: JSONValue = ["url": "http://127.0.0.1:1/hook", "secret_key": "hook-secret-1"]
        _ = try await world.send("POST", "/v2/webhooks", hook, token: TestWorld.apiToken)
        let (a, b) = (try await world.login("user-of-a"), try await world.login("user-of-b"))
        let item = try await world.submit(a)
        _ = try await world.send("GET", "/sdk/results/\(item)?<b>=1", token: b)
        _ = try? await world.send("GET", "/sdk/session", token: a)
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/captures", token: a) }
        try await world.advance("2h")
        let (html, _) = try await page(of: try await world.send("GET", "/_sim/bundle").body)
        let why = try #require(html.firstRange(of: "<h2>Why</h2>"))
        let around = try #require(html.firstRange(of: "id=\"around\""))
        let others = try #require(html.firstRange(of: "id=\"requests\""))
        #expect(why.upperBound < around.lowerBound && around.lowerBound < others.lowerBound)
        let reasons = String(html[why.upperBound..<around.lowerBound])
        for text in [
            "GET /sdk/results/* -&gt; 200, at least once", "set_result at", "1 answer did not reach the client",
            "connection reset", "did not arrive", "session.updated", "was refused",
            "because the item belongs to DemoOrg-user-of-a; the session is DemoOrg-user-of-b&#39;s", "met nothing",
            "Prada",
            "GET /sdk/results/\(item) 404", "href=\"#request-",
        ] {
            #expect(reasons.contains(text), "\(text)")
        }
        // The refused request and its neighbours come before the others, and none of them twice.
        let near = String(html[around.upperBound..<others.lowerBound])
        #expect(near.contains("/sdk/results/\(item)?") && !html.contains("?<b>"))
        let anchors = html.matches(of: #/summary id="request-(\d+)"/#).map { String($0.1) }
        #expect(anchors.count == Set(anchors).count && anchors.count > 10)
        for match in reasons.matches(of: #/href="#request-(\d+)"/#) { #expect(anchors.contains(String(match.1))) }
        #expect(!html.contains("hook-secret-1") && !html.contains(TestWorld.apiToken))
    }

    @Test func aRunWithoutAFailureSaysSo() async throws {
        let world = try await TestWorld.make()
        _ = try await world.login()
        let (html, _) = try await page(of: try await world.send("GET", "/_sim/bundle").body)
        #expect(html.contains("Nothing here says why"))
        #expect(html.contains("(frozen). 2 requests, 0 items, 0 captures, "), "\(html.prefix(60_000).suffix(4000))")
    }

    /// Ten thousand requests, with the longest bodies and names that are all markup.
    @Test func aPageIsBoundedWhateverTheBundleHolds() async throws {
        let world = try await TestWorld.make(settings: ["journal": ["bytes": 67_108_864]])
        let session = try await world.login("user-of-a")
        for _ in 0..<3 { _ = try await world.submit(session) }
        var archive = try TarFile(try await world.send("GET", "/_sim/bundle").body)
        let index = try #require(archive.entries.firstIndex { $0.name == "journal.json" })
        let journal = try WireJSON.decode(JSONValue.self, from: archive.entries[index].bytes)
        let first = try #require(journal["requests.0"].members)
        let hostile = String(repeating: "\"'<&>", count: 120)
        let message: JSONValue = [
            "headers": .array([["X-Long", .string(hostile)]]), "body": .string(String(hostile.prefix(1200))),
            "bytes": 1200, "truncated": false,
        ]
        func entry(_ number: Int) -> JSONValue {
            var members = first
            let isRefused = number % 3 == 0
            let end = number % 2 == 0 ? String(hostile.prefix(300)) : ""
            members["id"] = .string("req-\(number)")
            members["sequence"] = .number(JSONNumber(number))
            members["path"] = .string("/sdk/results/\(number)\(end)")
            members["status"] = .number(JSONNumber(isRefused ? 404 : 200))
            members["because"] = isRefused ? .string(hostile) : .null
            members["username"] = .string(String(hostile.prefix(100)))
            members["request"] = message
            members["response"] = message
            return .object(members)
        }
        let entries = (1...10_000).map(entry)
        archive.entries[index].bytes = try WireJSON.encode(["requests": .array(entries)] as JSONValue)
        let (html, said) = try await page(of: archive.bytes)
        #expect(html.utf8.count < 2_000_000, "\(html.utf8.count)")
        #expect(html.contains("10000 requests") && html.contains("of 10000 requests are here"))
        #expect(html.contains("entrupy-sim serve --bundle FILE, then the console"))
        #expect(said.contains("note: Only "), "\(said)")
        #expect(html.contains("3333 requests were refused") && html.contains("and 3323 more, in the lists below"))
        let refused = try #require(html.split(separator: "were refused</h3>").last)
        #expect(try #require(refused.firstMatch(of: #/href="#request-(\d+)"/#)).1 == "3", "the cause comes first")
        #expect(!html.contains("<&>") && html.contains("&lt;&amp;&gt;"))
        #expect(html.hasSuffix("</html>\n"))
    }
}
