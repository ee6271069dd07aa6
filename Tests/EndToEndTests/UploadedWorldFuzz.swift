import Foundation
import NIOCore
import NIOHTTP1
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Uploads snapshots with damaged or hostile data. Each is refused with table, row and column, or every route works with it.
///
/// `FUZZ_ROUNDS` is the number of uploads (by default a few; `make test-fuzz` makes more), `FUZZ_SEED` their random seed:
/// `FUZZ_ROUNDS=5000 FUZZ_SEED=7 swift test --skip-build --filter UploadedWorldFuzz`.
struct UploadedWorldFuzz {
    private static func number(_ name: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
    }

    /// The results of the rounds.
    private struct Tally {
        var refused = 0
        var accepted: [String] = []
        var impossible = 0

        var summary: String {
            "\(refused) refused, \(accepted.count) accepted, \(impossible) that SQLite itself does not let be made"
        }
    }

    @Test func eachHostileValueInEachColumnIsRefusedOrHarmless() async throws {
        try await withFuzz { fuzz, tampering in
            let rounds = Self.number("FUZZ_ROUNDS", 8)
            // Uses all values if there are enough rounds, else some of each column.
            let step = max(1, tampering.values / max(1, rounds))
            for number in Swift.stride(from: Self.number("FUZZ_SEED", 1) % step, to: tampering.values, by: step) {
                try await fuzz.round(try tampering.value(number), "value \(number)")
            }
        }
    }

    @Test func aTamperedUploadIsRefusedOrHarmless() async throws {
        try await withFuzz { fuzz, tampering in
            let seed = Self.number("FUZZ_SEED", 1)
            for round in 0..<Self.number("FUZZ_ROUNDS", 8) {
                var numbers = SeededNumbers(seed: UInt64(bitPattern: Int64(seed &* 1_000_003 &+ round)))
                try await fuzz.round(try tampering.any(&numbers), "seed \(seed), round \(round)")
            }
        }
    }

    private func withFuzz(_ body: (Fuzz, WorldTampering) async throws -> Void) async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let fuzz = try await Fuzz(directory)
            try await body(fuzz, WorldTampering(fuzz.sample.archive, in: directory))
            try await fuzz.restart()
            let tally = fuzz.tally.withLock { $0 }
            fuzz.stop()
            print("uploaded worlds: \(tally.summary)")
            if ProcessInfo.processInfo.environment["FUZZ_LIST"] != nil {
                for change in tally.accepted { print("accepted: \(change)") }
            }
            #expect(tally.refused > 0)
        }
    }

    /// A server, and the namespaces with uploads that it accepted since its start.
    private final class Fuzz: Sendable {
        let sample: SampleWorld.Made
        let tally = Mutex(Tally())
        private let directory: String
        private let server: Mutex<SimProcess>
        private let open = Mutex<[String]>([])

        private static let restartAfter = 8

        init(_ directory: String) async throws {
            self.directory = directory
            let first = try await SimProcess(["--data-dir", directory + "/data", "--rate-limits", "off"])
            server = Mutex(first)
            sample = try await SampleWorld.make(in: TestWorld(base: first.baseURL))
        }

        func stop() { server.withLock { _ = $0.stop() } }

        private var base: String { server.withLock { $0.baseURL } }

        /// Uploads a snapshot, and uses it if the server accepts it.
        func round(_ tampered: WorldTampering.Tampered?, _ place: String) async throws {
            guard let tampered else { return tally.withLock { $0.impossible += 1 } }
            let what = "\(place): \(tampered.change)"
            let answer = try await ask(
                "PUT", "/_sim/snapshots/tampered", tampered.archive, ["Content-Type": "application/octet-stream"],
                at: what)
            if answer.status == 400 {
                tally.withLock { $0.refused += 1 }
                if let cell = tampered.cell { expect(answer, names: cell, what) }
                return
            }
            guard [200, 201].contains(answer.status) else {
                Issue.record("\(what): the upload is answered \(answer.status) \(answer.json)")
                return
            }
            let name = tally.withLock { tally in
                tally.accepted.append(what)
                return "fuzz-\(tally.accepted.count)"
            }
            let fork = Data("{\"namespace\": \"\(name)\"}".utf8)
            let forked = try await ask("POST", "/_sim/snapshots/tampered/fork", fork, at: what)
            guard forked.status == 201 else {
                Issue.record("\(what): the fork is answered \(forked.status) \(forked.json)")
                return
            }
            try await use("/ns/\(name)", what)
            open.withLock { $0.append(name) }
            if open.withLock({ $0.count }) >= Self.restartAfter { try await restart() }
        }

        /// Expects that a refusal names table and column, or says that the whole file is unreadable.
        private func expect(_ answer: Answer, names cell: (table: String, column: String), _ what: String) {
            let text = answer["error"].text ?? ""
            let namesRow = text.contains("table ") && text.contains("row ") && text.contains("column ")
            #expect(
                namesRow || text.contains("\(cell.table).\(cell.column)") || text.contains("world.sqlite"),
                "\(what): \(text)")
        }

        /// Restarts the server, uses each accepted namespace once more, and deletes it.
        func restart() async throws {
            let names = open.withLock { names in
                defer { names = [] }
                return names
            }
            server.withLock { _ = $0.stop() }
            let again = try await SimProcess(["--data-dir", directory + "/data", "--rate-limits", "off"])
            server.withLock { $0 = again }
            for name in names {
                let what = "after a restart, \(name)"
                for path in ["info", "due", "captures", "webhook-deliveries"] {
                    try await expectNoFailure("GET", "/ns/\(name)/_sim/\(path)", at: what)
                }
                _ = try await ask("DELETE", "/_sim/namespaces/\(name)", at: what)
            }
        }

        private func expectNoFailure(
            _ method: String, _ path: String, _ body: Data? = nil, _ headers: [String: String] = [:], at what: String
        ) async throws {
            let answer = try await ask(method, path, body, headers, at: what)
            #expect(answer.status < 500, "\(what): \(method) \(path) is \(answer.status) \(answer.json)")
        }

        /// Makes requests to every kind of route.
        private func use(_ place: String, _ what: String) async throws {
            for request in requests {
                var headers = request.headers
                if request.body != nil { headers["Content-Type"] = "application/json" }
                try await expectNoFailure(
                    request.method, place + request.path, request.body.map { Data($0.utf8) }, headers, at: what)
            }
            // Old sessions may have ended, but a new user can log in.
            let signed = try await ask(
                "POST", "\(place)/v2/integrations/authorize-user",
                Data(
                    "{\"sdk_authorization_request\": \"r\", \"unique_user_id\": \"fuzz-user\", \"email\": \"a@b\"}".utf8
                ),
                ["Authorization": "Token \(TestWorld.apiToken)", "Content-Type": "application/json"], at: what)
            #expect(signed.status < 500, "\(what): authorize-user is \(signed.status) \(signed.json)")
            guard let request = signed["signed_authorization_request"].text else { return }
            let login = try await ask(
                "POST", "\(place)/sdk/login", Data("{\"signed_authorization_request\": \"\(request)\"}".utf8), at: what)
            #expect(login.status < 500, "\(what): login is \(login.status) \(login.json)")
            guard let token = login["token"].text else { return }
            for (method, path) in [("POST", "/sdk/captures"), ("GET", "/sdk/captures"), ("POST", "/sdk/search")] {
                try await expectNoFailure(
                    method, place + path,
                    method == "GET" ? nil : Data("{\"item\": {\"brand\": \"Nike\", \"style_name\": \"x\"}}".utf8),
                    ["Authorization": "Token \(token)", "Content-Type": "application/json"], at: what)
            }
        }

        private struct Wanted {
            let method: String
            let path: String
            var body: String?
            var headers: [String: String] = [:]
        }

        private var requests: [Wanted] {
            let control = [
                "info", "clock", "due", "users", "captures", "captures?status=submitted", "sessions", "settings",
                "authentications", "outcomes", "faults", "webhooks", "webhook-deliveries", "stats", "export",
                "requests",
                "requests?format=har", "snapshots", "scenarios", "scenarios/sample", "users/DemoOrg-example-user-id",
                "bundle",
            ].map { Wanted(method: "GET", path: "/_sim/\($0)") }
            let shown = sample.items.map { Wanted(method: "GET", path: "/_sim/authentications/\($0)") }
            let acts = [
                ("PATCH", "/_sim/settings", "{\"quota\": 1000}"), ("POST", "/_sim/scenarios/sample/verify", "{}"),
                ("POST", "/_sim/authentications", "{\"count\": 2, \"template\": {\"brand\": \"Nike\"}}"),
                ("POST", "/_sim/authentications/\(sample.items[1])/support-message", "{\"message\": \"x\"}"),
                ("PATCH", "/_sim/authentications/\(sample.items[1])", "{\"result\": \"invalid\"}"),
                ("POST", "/_sim/outcomes", "{\"match\": {\"brand\": \"Nike\"}, \"result\": \"unknown\"}"),
                ("POST", "/_sim/faults", "{\"match\": {\"route\": \"/none\"}, \"effect\": {\"status\": 418}}"),
                (
                    "POST", "/_sim/webhooks/trigger",
                    "{\"event\": \"session.updated\", \"entrupy_id\": \"\(sample.items[0])\"}"
                ),
                ("POST", "/_sim/clock/advance", "{\"to\": \"next\", \"max_wall\": \"2s\"}"),
                ("POST", "/_sim/clock/advance", "{\"by\": \"40d\", \"max_wall\": \"2s\"}"),
                ("PUT", "/_sim/snapshots/again", "{}"), ("POST", "/_sim/snapshots/again/restore", "{}"),
            ].map { Wanted(method: $0.0, path: $0.1, body: $0.2) }
            return control + shown + user + partner + acts + control
        }

        private var user: [Wanted] {
            let headers = ["Authorization": "Token \(sample.session)"]
            return [
                ("GET", "/sdk/session", nil), ("GET", "/sdk/captures", nil),
                ("GET", "/sdk/captures/\(sample.capture)", nil),
                ("GET", "/sdk/retakes", nil), ("POST", "/sdk/search", "{}"),
                ("POST", "/sdk/search", "{\"filters\": [{\"key\": \"customer_item_id\", \"value\": \"sku-1\"}]}"),
                ("GET", "/sdk/results/\(sample.items[0])", nil), ("GET", "/sdk/results/\(sample.items[0])/flag", nil),
                ("PUT", "/sdk/results/\(sample.items[0])/flag", "{\"flag\": true}"),
                ("POST", "/sdk/captures/\(sample.capture)/submit", nil), ("GET", "/sdk/config?config_type=debug", nil),
            ].map { Wanted(method: $0.0, path: $0.1, body: $0.2, headers: headers) }
        }

        private var partner: [Wanted] {
            let headers = ["Authorization": "Token \(TestWorld.apiToken)", "Api-Version": "1.4"]
            let backend = ["Authorization": "Token \(sample.partnerToken)"]
            let asked = ["v1", "v2"].flatMap { version in
                [
                    ("GET", "/\(version)/authentications/\(sample.items[0])", nil),
                    ("GET", "/\(version)/lookup/authentications/sku-1", nil),
                    ("POST", "/\(version)/search/authentications", "{}"), ("GET", "/\(version)/webhooks", nil),
                ] as [(String, String, String?)]
            }
            return asked.map { Wanted(method: $0.0, path: $0.1, body: $0.2, headers: headers) } + [
                Wanted(
                    method: "GET",
                    path: "/v2/authentications/\(sample.items[0])?include_images=true&include_catalog=true",
                    headers: headers),
                Wanted(
                    method: "POST", path: "/partner/authorize-entrupy-sdk-user",
                    body: "{\"sdk_authorization_request\": \"r\"}", headers: backend),
            ]
        }

        /// Sends a request. If there is no answer, the server crashed.
        private func ask(
            _ method: String, _ path: String, _ body: Data? = nil, _ headers: [String: String] = [:], at what: String
        ) async throws -> Answer {
            var request = try OutgoingRequest(HTTPMethod(rawValue: method), base + path)
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            if body != nil, headers["Content-Type"] == nil {
                request.headers.add(name: "Content-Type", value: "application/json")
            }
            if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
            do {
                let whole = try await OutgoingClient.patient.whole(request)
                return Answer(status: whole.status, headers: whole.headers, body: whole.body)
            } catch {
                Issue.record("\(what): \(method) \(path) is not answered: \(error)")
                throw error
            }
        }
    }
}
