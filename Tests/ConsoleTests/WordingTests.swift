import Foundation
import SimulationAPI
import Testing

@testable import Console

@Suite struct WordingTests {
    @Test(arguments: [
        (0.0, "now"), (0.2, "1 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (7261, "2 h 1 min"),
        (86_400, "1 d"), (-5, "now"), (1e300, "46296 d 7 h"), (.infinity, "46296 d 7 h"),
    ])
    func spans(seconds: Double, text: String) {
        #expect(Moment.span(seconds) == text)
    }

    @Test(arguments: [(5.0, "5 s"), (119, "2 min"), (5400, "2 h"), (7200, "2 h"), (200_000, "2 d"), (0, "0 s")])
    func briefSpans(seconds: Double, text: String) {
        #expect(Moment.brief(seconds) == text)
    }

    @Test func times() {
        #expect(Moment.text(1_767_603_600.987) == "2026-01-05 09:00:00")
        #expect(Moment.precise(1_767_603_600.045) == "09:00:00.045")
        #expect(Moment.precise(1_767_603_600) == "09:00:00", "a frozen clock stands at a whole second")
        #expect(Moment.iso(1_767_603_600.25) == "2026-01-05T09:00:00.250000Z")
        #expect(Moment.iso(1_767_603_600.999_999_9) == "2026-01-05T09:00:01.000000Z")
        #expect(Moment.age(90, now: 100) == "10 s ago" && Moment.age(110, now: 100) == "in 10 s")
    }

    @Test(arguments: [
        ("/sdk/captures/cap_g4k2cysikuat4uiz3mi4/submit", "/submit"),
        ("/sdk/captures/cap_g4k2cysikuat4uiz3mi4/images/box_label", "/images/box_label"),
        ("/sdk/results/QZ5HXWOU", ""), ("/v2/integrations/authorize-user", "/authorize-user"), ("/health", ""),
        ("", ""),
        ("/", ""), ("/sdk/x/\(String(repeating: "long", count: 20))", ""), ("/sdk/שלום", "/שלום"), ("(deleted)", ""),
    ])
    func aPathIsCutBeforeItsEnd(path: String, tail: String) {
        let parts = PathParts(path)
        #expect(parts.tail == tail)
        #expect(parts.head + parts.tail == path)
    }

    private func request(_ body: String?, headers: [[String]] = [], path: String = "/sdk/login") -> JournaledRequest {
        JournaledRequest(
            id: "req_1", sequence: 1, at: 0, method: "POST", path: path, query: "a=1", status: 201, duration_ms: 1,
            username: nil, test: nil, decided_by: DecidedRequest(fault: nil, limits: [], outcome: nil), changes: nil,
            request: JournaledMessage(headers: headers, body: body, bytes: body?.utf8.count ?? 0, truncated: false),
            response: nil)
    }

    /// A shell reads back what was sent, whatever is in it.
    @Test(arguments: ["{\"a\": 1}", "it's", "$HOME `id` \\ \"x\"", "zwei\nZeilen", "", "'", "👟"])
    func curlIsReadByAShell(body: String) throws {
        let curl = Snippets(request(body), url: "http://127.0.0.1:1").curl
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "curl() { for word; do printf '%s\\0' \"$word\"; done; }; " + curl]
        let pipe = Pipe()
        shell.standardOutput = pipe
        try shell.run()
        let words = pipe.fileHandleForReading.readDataToEndOfFile().split(
            separator: 0, omittingEmptySubsequences: false
        )
        .map { String(decoding: $0, as: UTF8.self) }.dropLast()
        shell.waitUntilExit()
        let expected = ["-X", "POST", "http://127.0.0.1:1/sdk/login?a=1"] + (body.isEmpty ? [] : ["--data-raw", body])
        #expect(Array(words) == expected)
    }

    @Test func aMaskedTokenIsAVariable() {
        let snippets = Snippets(
            request("{}", headers: [["Authorization", "Token ***"], ["Content-Length", "2"], ["X-A", "b\"c"]]),
            url: "http://127.0.0.1:1")
        #expect(snippets.curl.contains(#"-H 'Authorization: Token '"$TOKEN""#))
        #expect(!snippets.curl.contains("Content-Length"))
        #expect(snippets.swift.contains(#"request.setValue("Token \(token)", forHTTPHeaderField: "Authorization")"#))
        #expect(snippets.swift.contains(#""b\"c""#))
        #expect(snippets.editableHeaders == "{\n  \"X-A\": \"b\\\"c\"\n}", "the token stays as it is")
    }

    @Test func jsonIsIndented() {
        #expect(
            PrettyJSON.body(#"{"b":[1,{"c":null}],"a":{}}"#)
                == "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": null\n    }\n  ]\n}")
        #expect(PrettyJSON.body("plain") == "plain" && PrettyJSON.body("{cut") == "{cut" && PrettyJSON.body("") == "")
    }

    @Test func anEventIsShownInWordsOrByItsKind() {
        for kind in ["capture.started", "result.set", "webhook.attempted", "component.finished"] {
            #expect(EventWords.event(kind) != kind)
        }
        #expect(EventWords.event("of.a.later.version") == "of.a.later.version")
    }
}
