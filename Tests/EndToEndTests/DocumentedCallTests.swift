import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Every call and command that the documents show works.
@Suite struct DocumentedCallTests {
    private static let documents = [
        "README.md", "docs/backend.md", "docs/control.md", "docs/scenarios.md", "docs/post-mortem.md", "docs/server.md",
        "docs/components.md", "docs/README.md", "docs/start-backend.md", "docs/start-app.md", "docs/start-tester.md",
        "docs/start-ci.md", "docs/why-not-a-mock.md", "docs/walk-through.md", "docs/situations.md",
    ]

    private static func text(_ document: String) throws -> String {
        try String(contentsOf: TestWorld.root.appendingPathComponent(document), encoding: .utf8)
    }

    /// A call as the documents write it: method, path, and a body if it has one.
    private struct Call: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        let body: String?

        var testDescription: String { "\(method) \(path) \(body ?? "")" }
    }

    private static func calls(_ text: String) -> [Call] {
        text.matches(of: #/`(GET|POST|PUT|PATCH|DELETE) (/[^ `]+)(?: (\{[^`]*\}))?`/#).map {
            Call(method: String($0.1), path: String($0.2), body: $0.3.map { String($0) })
        }
    }

    /// Calls that only name a route: their body is described elsewhere, or the answer never ends.
    private static let isOnlyNamed: Set = [
        "POST /_sim/outcomes", "POST /_sim/faults", "POST /_sim/authentications", "PATCH /_sim/settings",
        "GET /_sim/events", "GET /_sim/events?until=request:held", "POST /_sim/held/{id}/release", "POST /_sim/seed",
        "POST /_sim/scenarios/start",
        "PUT /_sim/scenarios/{name}",
        "GET /_sim/scenarios/{name}", "POST /_sim/scenarios/{name}/verify?strict=true",
        "POST /partner/authorize-entrupy-sdk-user", "POST /_sim/webhook-deliveries/{id}/redeliver",
        "POST /v2/webhooks/{id}/verify", "GET /v2/authentications/{entrupy_id}/support-messages",
        "POST /v2/authentications/{entrupy_id}/certificate/transfers",
    ]

    @Test(arguments: documents) func everyCallIsAnswered(document: String) async throws {
        let root = TestWorld(base: SimProcess.shared.baseURL)
        let original = try await prepared()
        _ = try await original.send("PUT", "/_sim/snapshots/prepared")
        for call in try Self.calls(Self.text(document))
        where call.body != nil || !Self.isOnlyNamed.contains("\(call.method) \(call.path)") {
            var world = original
            if call.method != "GET" {
                // The call gets a fork, since it may change everything.
                let name = "call-\(UUID().uuidString.lowercased())"
                _ = try await original.send("POST", "/_sim/snapshots/prepared/fork", ["namespace": .string(name)])
                world = TestWorld(base: "\(root.base)/ns/\(name)")
                // The journal and the snapshots are the original's.
                _ = try await world.login("sim-test-user")
                _ = try await world.send("PUT", "/_sim/snapshots/before-checkout")
            }
            let flagged =
                try await world.send("GET", "/_sim/authentications?limit=1")["authentications.0.entrupy_id"].text ?? ""
            let request = try await world.send("GET", "/_sim/requests?limit=1")["requests.0.sequence"].integer ?? 0
            let path = call.path.replacingOccurrences(of: "{entrupy_id}", with: flagged)
                .replacingOccurrences(of: "/requests/{id}", with: "/requests/sequence:\(request)")
                .replacingOccurrences(of: "/explain/{id}", with: "/explain/\(flagged)")
            let body = call.body.map { $0.replacingOccurrences(of: "ABCD2345", with: flagged) }
            let base = path.hasPrefix("/_sim/namespaces") ? root : world
            let unique = path.replacingOccurrences(
                of: "/namespaces/", with: "/namespaces/doc-\(UUID().uuidString.lowercased())-")
            let answer = try await base.send(
                call.method, unique,
                bytes: body.map {
                    Data(
                        $0.replacingOccurrences(of: "\"branch\"", with: "\"b-\(UUID().uuidString.lowercased())\"").utf8)
                },
                headers: body == nil ? [:] : ["Content-Type": "application/json"])
            #expect(
                (200..<300).contains(answer.status),
                "\(document): \(call.testDescription): \(answer.status) \(answer.json)")
        }
    }

    /// A namespace with a flagged item that has a certificate, a subscription's delivery and a snapshot.
    private func prepared() async throws -> TestWorld {
        let world = try await TestWorld.make()
        let session = try await world.login("sim-test-user")
        let item = try await world.submit(
            session, item: ["brand": "Nike", "style_name": "Air", "customer_item_id": "sim-authentic-after-0s"])
        _ = try await world.send("PUT", "/sdk/results/\(item)/flag", ["flag": true], token: session)
        _ = try await world.send("PUT", "/_sim/snapshots/before-checkout")
        return world
    }

    /// A row of docs/errors.md whose last cell is calls.
    private struct ErrorRow: Sendable, CustomTestStringConvertible {
        let cells: [String]

        var testDescription: String { cells.prefix(2).joined(separator: " ") }
    }

    private static func errorRows() throws -> [ErrorRow] {
        // Rows that begin with a status. Those of the app's own errors begin with a name.
        try text("docs/errors.md").split(separator: "\n").filter { $0.contains(/^\| [0-9]{3} \|/) }
            .map { ErrorRow(cells: $0.dropFirst(2).dropLast(2).components(separatedBy: " | ")) }
    }

    /// The rows whose last cell says in words what to send.
    private static let inWords: [String: @Sendable (TestWorld, String) async throws -> Answer] = [
        "start a capture, advance the clock by 2 h, submit": { world, token in
            let capture = try await world.startCapture(token)
            try await world.advance("2h")
            return try await world.send("POST", "/sdk/captures/\(capture.id)/submit", token: token)
        },
        "send a JSON body of more than 1,000,000 bytes": { world, token in
            let body = Data("{\"item\": \"\(String(repeating: "x", count: 1_000_000))\"}".utf8)
            return try await world.send(
                "POST", "/sdk/captures", bytes: body, token: token, headers: ["Content-Type": "application/json"])
        },
        "get a picture with `Range: bytes=999999999-`": { world, token in
            let capture = try await world.startCapture(token)
            let sha256 = try await world.upload(capture.id, capture.regions[0], token)["sha256"].text ?? ""
            return try await world.send(
                "GET", "/images/\(sha256)/original", headers: ["Range": "bytes=999999999-"])
        },
        "send `Content-Type: text/plain`": { world, token in
            try await world.send(
                "POST", "/sdk/captures", bytes: Data("{}".utf8), token: token, headers: ["Content-Type": "text/plain"])
        },
    ]

    /// All rows, one after another in one namespace: a row that left something behind would change the answers of later ones.
    @Test(arguments: [false, true]) func everyErrorIsProvokedInOneNamespace(isReversed: Bool) async throws {
        let rows = try Self.errorRows()
        try #require(rows.count > 20)
        let world = try await TestWorld.make()
        let token = try await world.login("sim-test-user")
        for row in isReversed ? rows.reversed() : rows {
            let answer: Answer
            if let send = Self.inWords[row.cells[4]] {
                answer = try await send(world, token)
            } else {
                let calls = Self.calls(row.cells[4])
                let last = try #require(calls.last, "\(row.testDescription) says neither calls nor known words")
                for call in calls.dropLast() { try await prepare(call, world) }
                let base = last.path.hasPrefix("/ns/") ? TestWorld(base: SimProcess.shared.baseURL) : world
                answer = try await send(last, base, token)
            }
            #expect(String(answer.status) == row.cells[0], "\(row.testDescription): \(answer.json)")
            #expect(answer["code"].text == row.cells[1], "\(row.testDescription): \(answer.json)")
            #expect((answer["sdk_error"].text ?? "null") == row.cells[2], "\(row.testDescription): \(answer.json)")
        }
        let left = try await world.send("GET", "/_sim/faults")["faults"].items
        #expect(left.someAndAll { $0["hits"] == $0["times"] }, "a fault is left: \(left)")
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200)
    }

    private func send(_ call: Call, _ world: TestWorld, _ token: String) async throws -> Answer {
        try await world.send(
            call.method, call.path, bytes: call.body.map { Data($0.utf8) },
            token: call.path.hasPrefix("/sdk/") ? token : nil,
            headers: call.body == nil ? [:] : ["Content-Type": "application/json"])
    }

    private func prepare(_ call: Call, _ world: TestWorld) async throws {
        let answer = try await send(call, world, "")
        #expect((200..<300).contains(answer.status), "\(call.testDescription): \(answer.json)")
    }

    /// A fault that is pasted to see one error must not stay and spoil what is pasted next.
    @Test(arguments: ["README.md", "docs/situations.md", "docs/errors.md"]) func everyFaultEnds(document: String) throws
    {
        let faults = Self.calls(try Self.text(document)).filter { $0.path == "/_sim/faults" && $0.method == "POST" }
        #expect(faults.count > 2)
        for fault in faults {
            let body = try WireJSON.decode(JSONValue.self, from: Data((fault.body ?? "").utf8))
            #expect(body["times"].double != nil, "\(document): \(fault.testDescription)")
        }
    }

    @Test func everyCommandIsKnown() async throws {
        var helps: [[String]: (status: Int32, output: String)] = [:]
        for document in Self.documents {
            let text = try Self.text(document)
            let inline = text.matches(of: #/`entrupy-sim ([a-z][^`]*)`/#).map { String($0.1) }
            let blocks = text.matches(of: #/(?:^|\n|  )entrupy-sim ([a-z][^#\n]*?)(?=  |\n|$)/#).map { String($0.1) }
            for command in inline + blocks {
                try await check(command, document, &helps)
            }
        }
        #expect(helps.count > 20)
    }

    private func check(
        _ command: String, _ document: String, _ helps: inout [[String]: (status: Int32, output: String)]
    ) async throws {
        for words in Self.commands(command) {
            let run: (status: Int32, output: String)
            if let known = helps[words] { run = known } else { run = try await SimProcess.run(words + ["--help"]) }
            helps[words] = run
            // The help of a group answers a misspelt command of it.
            let usage = "USAGE: entrupy-sim \(words.joined(separator: " "))"
            #expect(run.status == 0 && run.output.contains(usage), "\(document): entrupy-sim \(command)")
            for flag in command.matches(of: #/--[a-z-]+/#) {
                #expect(run.output.contains(flag.0) || SimProcess.isGlobal(String(flag.0)), "\(command): \(flag.0)")
            }
        }
    }

    /// The commands that a line names: `clock show|freeze` is two, `reset, settle` too.
    private static func commands(_ line: String) -> [[String]] {
        line.components(separatedBy: ", ").flatMap { part -> [[String]] in
            let words = part.split(separator: " ").map(String.init).prefix { word in
                word.allSatisfy { $0.isLetter || $0 == "|" || $0 == "-" } && !word.hasPrefix("-")
            }
            guard let first = words.first else { return [] }
            guard groups.contains(first), words.count > 1 else { return [[first]] }
            return words[1].split(separator: "|").map { [first, String($0)] }
        }
    }

    private static let groups: Set = [
        "capture", "clock", "namespace", "requests", "webhooks", "fault", "outcome", "users", "seed", "items",
        "snapshot", "scenario",
    ]
}

extension SimProcess {
    /// Whether a flag is one of the whole program.
    fileprivate static func isGlobal(_ flag: String) -> Bool {
        flag == "--generate-completion-script" || flag == "--help"
    }
}
