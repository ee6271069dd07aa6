import Foundation
import SimulationAPI
import Testing

@testable import Entrupy
@testable import Server
@testable import Simulation
@testable import Storage

/// Valid and invalid files for a replay. Each gets a clear answer.
@Suite struct RecordingFileTests {
    private static let now = Instant("2026-01-05T09:00:00Z")!.microseconds

    /// The first line of a recording, with one member changed if `change` is given.
    private static func head(_ change: (String, JSONValue)? = nil) throws -> String {
        let head = RecordingHead(
            version: "0", random_seed: 7, seed: try .standard(), settings: .object([:]),
            public_url: "http://127.0.0.1:1", auto_creates: false, allows_any_target: false, allowed_hosts: [],
            control_token: nil, address: nil,
            started_at: Instant(microseconds: now))
        return try changed(String(decoding: WireJSON.encode(head), as: UTF8.self), change)
    }

    private static func changed(_ line: String, _ change: (String, JSONValue)?) throws -> String {
        guard let change else { return line }
        guard case .object(var members) = try WireJSON.decode(JSONValue.self, from: Data(line.utf8)) else { return "" }
        members[change.0] = change.1
        return String(decoding: try WireJSON.encode(JSONValue.object(members)), as: UTF8.self)
    }

    /// A request that every server answers in the same way, with the places of its jobs.
    private static func health(_ places: Int..., real: Int64 = now, more: String = "") -> String {
        let jobs = places.map { "[\($0),\(real)]" }.joined(separator: ",")
        return """
            {"jobs":[\(jobs)],"request":{"method":"GET","target":"/_sim/health","headers":[],"status":200,\
            "answer_headers":[["Content-Type","application/json"],["X-Request-Id","srv_1"]],\
            "answer":{"text":"{\\"status\\":\\"ok\\"}"}\(more)}}
            """
    }

    private func replay(_ bytes: Data) async throws -> ReplayReport {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID())").path
        defer { unlink(path) }
        try bytes.write(to: URL(fileURLWithPath: path))
        return try await ReplayServer.run(ReplayPlan(path: path, version: "0"))
    }

    private func replay(_ lines: [String], end: String = "\n") async throws -> ReplayReport {
        try await replay(Data((lines.joined(separator: "\n") + end).utf8))
    }

    /// The reason why a file is refused. `nil` if it is accepted.
    private func refusal(_ bytes: Data) async throws -> String? {
        do {
            _ = try await replay(bytes)
            return nil
        } catch let refusal as ReplayRefusal {
            return refusal.description
        }
    }

    private func refusal(_ lines: [String]) async throws -> String? {
        try await refusal(Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    @Test func completeEntriesAreReplayed() async throws {
        let report = try await replay([Self.head(), Self.health(1), Self.health(0), Self.health(2)])
        #expect(report.difference == nil && report.incomplete == nil, "\(report)")
        #expect(report.requests == 3 && report.recorded == 3 && report.compared == 3)
    }

    @Test func entriesAfterAMissingPlaceAreLeftOut() async throws {
        let lines = [try Self.head(), Self.health(0), Self.health(1), Self.health(3), Self.health(4)]
        let report = try await replay(lines)
        #expect(
            report.incomplete == "the recording is truncated: entries are missing" && report.difference == nil,
            "\(report)")
        #expect(report.requests == 2 && report.recorded == 4)
        // One job of the second request comes after the missing place, so the request is cut short and not compared.
        let spanning = try await replay(Array(lines.prefix(2)) + [Self.health(1, 7), Self.health(2), Self.health(4)])
        #expect(spanning.incomplete != nil && spanning.requests == 3 && spanning.recorded == 4, "\(spanning)")
        // The first job is missing.
        let none = try await replay([Self.head(), Self.health(1)])
        #expect(none.incomplete != nil && none.requests == 0 && none.recorded == 1)
    }

    @Test func aDifferenceBeforeAMissingPlaceIsReported() async throws {
        let wrong = Self.health(1).replacing("\"status\":200", with: "\"status\":404")
        let report = try await replay([Self.head(), Self.health(0), wrong, Self.health(4)])
        #expect(report.difference?.lines == ["- status: 404", "+ status: 200"] && report.difference?.number == 2)
        #expect(report.incomplete == "the recording is truncated: entries are missing")
        let later = try await replay([Self.head(), Self.health(0), wrong.replacing("[[1,", with: "[[4,")])
        #expect(later.difference == nil && later.incomplete != nil, "a request that is left out is not compared")
    }

    @Test func halfALineAtTheEndIsLeftOut() async throws {
        let lines = [try Self.head(), Self.health(0), Self.health(1)]
        for length in [1, 2, 40, Self.health(2).utf8.count - 1] {
            let report = try await replay(lines + [String(Self.health(2).prefix(length))], end: "")
            #expect(report.incomplete == "the recording is truncated: entries are missing", "\(length): \(report)")
            #expect(report.requests == 2 && report.recorded == 2)
        }
        // The last line is complete even without a line end.
        let whole = try await replay(lines, end: "")
        #expect(whole.incomplete == nil && whole.requests == 2)
    }

    @Test func aRecordingWithoutRequestsIsIncomplete() async throws {
        for end in ["\n", ""] {
            let report = try await replay([Self.head()], end: end)
            #expect(report.incomplete == "the recording holds no requests" && report.recorded == 0)
        }
    }

    @Test func aMissingBodyEndsTheRecordingThere() async throws {
        let blob = #","body":{"sha256":"\#(String(repeating: "ab", count: 32))"}"#
        let report = try await replay([Self.head(), Self.health(0), Self.health(1, more: blob), Self.health(2)])
        #expect(report.incomplete != nil && report.requests == 1 && report.recorded == 3, "\(report)")
    }

    @Test(arguments: [
        ("", ":1: is not a recording"), ("x", ":1: is not a recording"), ("{}", ":1: is not a recording"),
        ("\n", ":1: is not a recording"), ("\u{0}", ":1: is not a recording"),
        (#"{"format":"entrupy-sim recording"}"#, ":1: is not a recording"),
        (#"{"format":"entrupy-sim recording","format_version":0}"#, ":1: is not a recording"),
        (#"{"format":"entrupy-sim recording","format_version":2}"#, "newer version"),
        (#"{"format":"entrupy-sim recording","format_version":99999999999999999999}"#, ":1: is not a recording"),
        (#"{"format":"entrupy-sim recording","format_version":1}"#, ":1: is not as entrupy-sim writes it"),
    ])
    func anInvalidRecordingIsReported(text: String, problem: String) async throws {
        let found = try #require(try await refusal(Data(text.utf8)))
        #expect(found.contains(problem), "\(found)")
    }

    @Test func bytesThatAreNotTextAreReported() async throws {
        #expect(try await refusal(Data([0xff, 0xfe, 0x00, 0x0a]))?.contains(":1:") == true)
        let bytes = Data((try Self.head() + "\n").utf8) + Data([0xff, 0xc0, 0x0a]) + Data(Self.health(0).utf8)
        #expect(try await refusal(bytes)?.contains(":2: is damaged") == true)
    }

    @Test(arguments: [
        ("random_seed", "-1"), ("random_seed", "9007199254740992"), ("started_at", "-1"),
        ("started_at", "9223372036854775807"), ("settings", "{\"nonsense\":1}"), ("settings", "3"),
        ("seed_text", "\"a: [\""), ("seed_text", "\"\""), ("seed_text", "1"), ("allowed_hosts", "[1]"),
        ("public_url", "null"),
    ])
    func anInvalidHeadIsReported(member: String, value: String) async throws {
        let value = try WireJSON.decode(JSONValue.self, from: Data(value.utf8))
        let found = try #require(try await refusal([Self.head((member, value)), Self.health(5)]), "\(member)")
        #expect(found.contains(":1: "), "\(found)")
    }

    @Test(arguments: [
        ("{\"jobs\":[[0", "is damaged"), ("null", "is damaged"), ("[]", "is damaged"), ("{\"jobs\":3}", "is damaged"),
        ("{\"jobs\":[[0]]}", "is damaged"), ("{\"jobs\":[]}", "exactly one kind"),
        ("{\"jobs\":[[0,0]]}", "exactly one kind"),
        (#"{"jobs":[],"ticked":"default"}"#, "it has no jobs"),
        (#"{"jobs":[[0,0]],"ticked":"default","dropped":"x"}"#, "exactly one kind"),
        (#"{"jobs":[[0,0]],"blob":{"text":"x"}}"#, "a blob must have no jobs"),
        (health(-1), "at least 0"), (health(2, 1), "and increase"), (health(1, 1), "and increase"),
        (health(0).replacing("[0,", with: "[99999999999999999999,"), "is damaged"),
        (health(0).replacing("[0,", with: "[1e99,"), "is damaged"),
        (health(0).replacing("[0,", with: "[0.5,"), "is damaged"),
        (health(0, real: -1), "from 1970 to 9999"), (health(0, real: .max), "from 1970 to 9999"),
        (health(0, real: .min), "from 1970 to 9999"), (health(0, more: #","notes":[-1]"#), "count of webhooks"),
        (health(0, more: #","notes":[9223372036854775807]"#), "count of webhooks"),
        (health(0, more: #","body":{}"#), "a body"), (health(0, more: #","body":{"base64":"*"}"#), "a body"),
        (health(0, more: #","body":{"base64":"","text":""}"#), "a body"),
        (health(0).replacing("GET", with: "GET / HTTP/1.1"), "the method"),
        (health(0).replacing("GET", with: ""), "the method"),
        (health(0).replacing("/_sim/health", with: ""), "the target"),
        (health(0).replacing("/_sim/health", with: "/a b"), "the target"),
        (health(0).replacing("\"headers\":[]", with: #""headers":[["a"]]"#), "a header"),
        (health(0).replacing("\"headers\":[]", with: #""headers":[["a b","c"]]"#), "a header"),
        (health(0).replacing("\"headers\":[]", with: #""headers":[["a","b\r\nc: d"]]"#), "a header"),
        (health(0, more: #","host":"a\nb""#), "a header"),
        (outcome(#""milliseconds":1e300"#), "duration"), (outcome(#""milliseconds":-1"#), "duration"),
        (outcome(#""milliseconds":1,"status":9223372036854775807"#), "status"),
    ])
    func anInvalidLineIsReported(line: String, problem: String) async throws {
        let found = try #require(try await refusal([Self.head(), Self.health(5), "", line, Self.health(6)]), "\(line)")
        #expect(found.contains(":4: ") && found.contains(problem), "\(found)")
    }

    private static func outcome(_ members: String) -> String {
        #"{"jobs":[[0,0]],"outcome":{"namespace":"default","delivery":"d","number":1,"at":0,"was_replaced":false,\#(members)}}"#
    }

    @Test func aDuplicatePlaceIsReported() async throws {
        let found = try await refusal([Self.head(), Self.health(0), Self.health(1), Self.health(0, 2)])
        #expect(found?.contains(":4: the place 0 is already taken by line 2") == true, "\(found ?? "")")
    }

    @Test(arguments: [
        outcome(#""milliseconds":1"#), #"{"jobs":[[0,0]],"ticked":"nowhere"}"#,
        #"{"jobs":[[0,0]],"dropped":"nowhere"}"#,
        #"{"jobs":[[0,0]],"dropped":"default"}"#, health(0, 1, 2, 3), health(0, real: 0),
        health(0, real: 253_402_300_799_999_999), health(0, more: #","waits":[true],"notes":[1]"#),
        health(0, more: #","unrepeatable":true"#), health(9_223_372_036_854_775_807),
        health(0, 9_223_372_036_854_775_807),
        health(0).replacing("/_sim/health", with: "*"), health(0).replacing("/_sim/health", with: "@example.com/"),
        health(0).replacing("/_sim/health", with: "http://example.com/"),
        health(0).replacing("/_sim/health", with: "/#?%"),
        health(0).replacing("\"GET\"", with: "\"CONNECT\""), health(0).replacing("\"GET\"", with: "\"TRACE\""),
        health(0).replacing(
            "\"headers\":[]", with: #""headers":[["Content-Length","5"],["Transfer-Encoding","chunked"]]"#),
        health(0).replacing("\"headers\":[]", with: #""headers":[["Expect","100-continue"],["Upgrade","h2c"]]"#),
    ])
    func aReplayOfUnusualLinesEnds(line: String) async throws {
        // Some lines differ and some are cut. None blocks the replay or ends the process.
        let report = try await replay([Self.head(), line, Self.health(4)])
        #expect(report.recorded >= 1 && report.requests <= report.recorded, "\(report)")
    }

    /// Two requests that each wait for a job of the other. No server records that.
    @Test func aReplayOfAContradictoryRecordingEnds() async throws {
        let make = Self.health(0, 1, 5).replacing("GET", with: "PUT").replacing(
            "/_sim/health", with: "/_sim/namespaces/a")
        let ask = Self.health(2, 3).replacing("/_sim/health", with: "/ns/a/v1/health")
        let report = try await replay([Self.head(), make, ask, Self.health(4)])
        #expect(report.incomplete?.contains("contradicts itself: job 3 ") == true, "\(report)")
        #expect(report.difference == nil && report.requests == 0)
    }

    @Test func aPathThatIsNotAFileIsReported() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("recordings-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        mkfifo(directory + "/pipe", 0o600)
        for (path, problem) in [
            (directory, "not a file"), (directory + "/pipe", "not a file"), ("/dev/zero", "not a file"),
            (directory + "/none", "No such file"),
        ] {
            let error = await #expect(throws: ReplayRefusal.self) {
                try await ReplayServer.run(ReplayPlan(path: path, version: "0"))
            }
            #expect(error?.description.contains(problem) == true, "\(path): \(error?.description ?? "")")
        }
    }

    @Test func aTaskThatIsCancelledEndsTheReplay() async throws {
        let lines = try [Self.head()] + (0..<3000).map { Self.health($0) }
        let task = Task { try await replay(lines) }
        task.cancel()
        let report = try await task.value
        #expect(report.incomplete?.contains("interrupted") == true && report.requests < 3000, "\(report)")
    }
}
