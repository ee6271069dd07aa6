import Foundation
import NIOCore
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim mcp` over stdio, with messages by hand. Tests/Agents/mcp_tools.py drives it with the protocol's own client.
@Suite struct AgentToolTests {
    private static let meta: JSONValue = [
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": [:],
    ]

    private func request(_ id: Int, _ method: String, _ params: JSONObject = [:], isModern: Bool = true) -> JSONValue {
        var params = params
        if isModern { params["_meta"] = Self.meta }
        return ["jsonrpc": "2.0", "id": .number(JSONNumber(id)), "method": .string(method), "params": .object(params)]
    }

    private func call(_ id: Int, _ tool: String, _ arguments: JSONValue) -> JSONValue {
        request(id, "tools/call", ["name": .string(tool), "arguments": arguments])
    }

    /// The answers to messages, by id, from a program that works on the shared server.
    private func answers(_ messages: [JSONValue]) async throws -> [Int: JSONValue] {
        let lines = try messages.map { try WireJSON.encode($0) + Data("\n".utf8) }
        let program = try RunningProgram(["mcp", "--url", SimProcess.shared.baseURL])
        let finished = await program.finish(lines.reduce(Data(), +))
        #expect(finished.status == 0, "\(finished.errors)")
        let answers = try finished.output.split(separator: 0x0a).map { try WireJSON.decode(JSONValue.self, from: $0) }
        return try Dictionary(uniqueKeysWithValues: answers.map { (try Self.id(of: $0), $0) })
    }

    private static func id(of answer: JSONValue) throws -> Int {
        guard case .number(let number) = answer["id"] else { return -1 }
        return try #require(number.integer)
    }

    /// The answers to calls, one after the other: calls of one input run at the same time.
    private func results(_ calls: [(tool: String, arguments: JSONValue)]) async throws -> [JSONValue] {
        var results: [JSONValue] = []
        for (tool, arguments) in calls {
            let answer = try await answers([call(1, tool, arguments)])[1]
            results.append(try #require(answer)["result"])
        }
        return results
    }

    @Test func everyToolSaysWhatItDestroys() async throws {
        let listed = try await answers([request(1, "tools/list")])
        let tools = try #require(listed[1])["result"]["tools"].items
        #expect(
            tools.map { $0["name"].text } == [
                "start_case", "set_result", "break_next", "move_clock", "what_happened", "why", "diff", "check", "drop",
            ])
        for tool in tools {
            let isReader = ["what_happened", "why", "diff", "check"].contains(tool["name"].text)
            #expect(tool["annotations"]["readOnlyHint"] == .bool(isReader), "\(tool["name"])")
            let text = tool["description"].text ?? ""
            #expect(!isReader || text.contains("Changes nothing"), "\(text)")
            let destroys = tool["annotations"]["destructiveHint"] == true
            #expect(!destroys || text.contains("elete") || text.contains("removes"), "\(text)")
            #expect(tool["inputSchema"]["additionalProperties"] == false)
        }
    }

    @Test func aCaseIsStartedSteeredAndDropped() async throws {
        let name = JSONValue.string("mcp-\(getpid())-steered")
        let results = try await results([
            ("start_case", ["namespace": name, "freeze_at": "2026-01-05T09:00:00Z"]),
            ("set_result", ["namespace": name, "result": "unknown", "customer_item_id": "late-*", "after": "5"]),
            ("break_next", ["namespace": name, "route": "/sdk/session", "status": 503]),
            ("move_clock", ["namespace": name, "by": "2h"]),
            ("check", ["namespace": name, "expect": [["match": ["route": "/sdk/login"], "times": 1]]]),
            ("drop", ["namespace": name]),
            ("what_happened", ["namespace": name]),
        ])
        #expect(results.map { $0["isError"] } == [false, false, false, false, false, false, true], "\(results)")
        let started = results[0]["structuredContent"]
        #expect(started["api_token"] == "demo-api-token")
        #expect(started["base_url"].text == "\(SimProcess.shared.baseURL)/ns/\(name.text ?? "")")
        #expect(results[2]["structuredContent"]["state"]["faults"].items.count == 1)
        let moved = results[3]["structuredContent"]
        #expect(moved["state"]["clock"] == "2026-01-05T11:00:00.000000Z frozen")
        #expect(moved["events"].items.contains { $0.text?.contains("clock.advanced") == true }, "\(moved)")
        #expect(results[4]["structuredContent"]["passed"] == false)
        #expect(results[6]["structuredContent"]["way_out"].text?.contains("start_case") == true, "\(results[6])")
    }

    @Test func twoCasesAreCompared() async throws {
        let (one, other) = ("mcp-\(getpid())-one", "mcp-\(getpid())-other")
        let results = try await results([
            ("start_case", ["namespace": .string(one)]),
            ("start_case", ["namespace": .string(other), "items": [["customer_item_id": "only-here"]]]),
            ("diff", ["namespace": .string(one), "from": .string("namespace:\(one)")]),
            ("diff", ["namespace": .string(one), "from": "now", "to": .string("namespace:\(other)")]),
            ("diff", ["namespace": .string(one), "from": "snapshot:none"]),
            ("diff", ["namespace": .string(one), "from": "nonsense"]), ("diff", ["namespace": .string(one)]),
            ("drop", ["namespace": .string(one)]), ("drop", ["namespace": .string(other)]),
        ])
        #expect(results.map { $0["isError"] } == [false, false, false, false, true, true, true, false, false])
        let equal = results[2]["structuredContent"]
        #expect(equal["equal"] == true && equal["objects"] == [] && equal["state"]["mark"] != .null, "\(equal)")
        let different = results[3]["structuredContent"]
        #expect(different["equal"] == false && different["truncated"] == false)
        #expect(
            different["objects"].items.contains {
                $0.text?.hasPrefix("added item ") == true && $0.text?.contains("customer_item_id only-here") == true
            }, "\(different)")
        #expect(results[4]["structuredContent"]["error"].text?.contains("none") == true, "\(results[4])")
        #expect(results[5]["structuredContent"]["way_out"].text?.contains("snapshot:NAME") == true, "\(results[5])")
    }

    @Test func aCaseThatCannotBeMadeWholeIsNotMade() async throws {
        let name = JSONValue.string("mcp-\(getpid())-half")
        let results = try await results([
            ("start_case", ["namespace": name, "settings": ["result": ["dela": "3h"]]]),
            ("what_happened", ["namespace": name]),
        ])
        #expect(results.map { $0["isError"] } == [true, true], "\(results)")
        #expect(results[0]["structuredContent"]["error"].text?.contains("dela") == true)
    }

    private static let wrongCalls =
        [
            ("start_case", ["namespace": "Upper"], "a-z, 0-9 and -"),
            ("start_case", ["scenari": "late-result"], "did you mean scenario?"),
            ("start_case", ["scenario": "late-result", "scenario_yaml": "name: x"], "cannot both be given"),
            ("start_case", ["webhook_url": "http://127.0.0.1:9/hooks"], "belong together"),
            ("set_result", ["namespace": "default"], "result is missing"),
            ("set_result", ["namespace": "default", "entrupy_id": "NONE", "times": 2], "times cannot be given"),
            ("set_result", ["namespace": "default", "clear": true, "brand": "Nike"], "result is missing"),
            ("break_next", ["namespace": "default", "status": 503], "neither route nor webhook"),
            ("break_next", ["namespace": "default", "route": "*", "status": 600], "200 to 599"),
            ("move_clock", ["namespace": "default", "by": "1h", "to": "next"], "one of by and to"),
            ("move_clock", ["namespace": "default", "by": "3 hours"], "by"),
            ("start_case", ["scenario": "nope"], "there is no scenario"),
            ("start_case", ["items": [["customer_item_id": "a", "after": "3h"]]], "items[0] has after"),
            ("start_case", ["items": [["customer_item_id": "a"], ["result": "lost"]]], "items[1]"),
            ("start_case", ["items": [["count": 9_000_000, "template": [:]]]], "items[0] has count, template"),
            (
                "start_case", ["scenario": "late-result", "freeze_at": "2026-01-05T09:00:00Z"],
                "cannot be given with it"
            ),
            ("start_case", ["namespace": "default"], "exists already"),
            ("break_next", ["namespace": "default", "route": "*", "webhook": "*", "status": 503], "cannot both"),
            ("what_happened", ["namespace": "default", "since": "r999999999e999999999"], "has only come to"),
            ("start_case", ["webhook_url": "http://127.0.0.1:9/hooks", "webhook_secret": ""], "webhook_secret"),
            ("what_happened", ["namespace": "default", "since": "today"], "must be a mark"),
            ("why", ["namespace": "default"], "id is missing"),
            ("check", ["namespace": "default", "expect": [1]], "objects alone"),
            ("drop", [:], "namespace is missing"),
        ] as [(String, JSONValue, String)]

    @Test func wrongArgumentsAreExplainedToTheAgent() async throws {
        let answers = try await answers(Self.wrongCalls.enumerated().map { call($0, $1.0, $1.1) })
        for (number, (tool, _, problem)) in Self.wrongCalls.enumerated() {
            let result = try #require(answers[number])["result"]
            #expect(result["isError"] == true, "\(tool)")
            #expect(result["structuredContent"]["error"].text?.contains(problem) == true, "\(result)")
            #expect(result["structuredContent"]["way_out"].text?.isEmpty == false)
        }
    }

    /// Each tool names what there is, and not what its own arguments must be.
    @Test func theWayOutNamesWhatThereIs() async throws {
        let unknown =
            [
                ("set_result", ["result": "unknown"]), ("break_next", ["route": "*", "status": 503]),
                ("move_clock", ["by": "1h"]), ("what_happened", [:]), ("why", ["id": "x"]), ("check", [:]),
                ("drop", [:]),
            ] as [(String, JSONObject)]
        var messages = unknown.enumerated().map { number, wanted in
            call(number, wanted.0, .object(wanted.1.merging(["namespace": "never-made"]) { $1 }))
        }
        messages.append(call(100, "start_case", ["scenario": "nope"]))
        messages.append(
            call(101, "set_result", ["namespace": "default", "result": "unknown", "entrupy_id": "NONE"]))
        for (number, answer) in try await answers(messages) {
            let result = answer["result"]
            // The shared server may have more namespaces than are listed.
            let wanted =
                [100: "late-result", 101: "what_happened"][number] ?? "start_case makes a namespace; there are "
            #expect(result["isError"] == true)
            #expect(result["structuredContent"]["way_out"].text?.contains(wanted) == true, "\(result)")
        }
    }

    /// A back end needs an item that is pending and decided later, and the attempts of its webhook.
    @Test func anItemIsThereFromTheBeginningAndDecidedLater() async throws {
        let receiver = try await WebhookReceiver.open()
        let name = JSONValue.string("mcp-\(getpid())-items")
        let started = try await results([
            (
                "start_case",
                [
                    "namespace": name, "freeze_at": "2026-01-05T09:00:00Z", "webhook_url": .string(receiver.url),
                    "webhook_secret": "a long secret",
                    "items": [
                        ["customer_item_id": "late-1", "result": "needs_review"],
                        ["customer_item_id": "late-2", "brand": "Nkie"],
                    ],
                ]
            )
        ])[0]["structuredContent"]
        let items = started["items"].items
        try #require(items.count == 2, "\(started)")
        #expect(items[0]["customer_item_id"] == "late-1" && items[1]["entrupy_id"].text?.isEmpty == false)
        let notes = started["notes"].items.map { $0.text ?? "" }
        #expect(notes.count == 1 && notes[0].hasPrefix("items[1].brand: "), "\(notes)")
        #expect(started["state"]["items"] == 2)
        #expect(started["state"]["webhooks"].items.first?.text?.contains("0 on their way") == true, "\(started)")
        let mark = started["state"]["mark"]
        let results = try await results([
            ("set_result", ["namespace": name, "entrupy_id": items[0]["entrupy_id"], "result": "unknown"]),
            ("move_clock", ["namespace": name, "by": "1m"]),
            ("what_happened", ["namespace": name, "since": mark]),
            ("move_clock", ["namespace": name, "by": "2d"]),
            ("drop", ["namespace": name]),
        ]).map { $0["structuredContent"] }
        let deliveries = results[2]["deliveries"].items.map { $0.text ?? "" }
        #expect(deliveries.count == 1 && deliveries[0].contains("session.completed"), "\(results[2])")
        // Delivered before that, so nothing is new.
        #expect(results[3]["deliveries"].items.isEmpty, "\(results[3])")
    }

    /// A refusal that no fact explains has its answer's words, and a request has the name that what_happened gives it.
    @Test func aRequestIsExplainedByTheNumberThatIsShown() async throws {
        let name = "mcp-\(getpid())-why"
        let started = try await results([("start_case", ["namespace": .string(name)])])[0]["structuredContent"]
        let mark = started["state"]["mark"]
        let world = TestWorld(base: "\(SimProcess.shared.baseURL)/ns/\(name)")
        #expect(try await world.send("GET", "/v2/authentications/NONE").status == 401)
        let happened = try await results([("what_happened", ["namespace": .string(name), "since": mark])])[0]
        let line = happened["structuredContent"]["requests"].items.first?.text ?? ""
        let number = line.prefix { $0 != " " }
        #expect(number.hasPrefix("#"), "\(happened)")
        #expect(line.contains(" 401: the Authorization header is missing"), "\(line)")
        // A body with several mistakes: each is named.
        _ = try await world.send("POST", "/v2/integrations/authorize-user", [:], token: "demo-api-token")
        let wrong = try await results([("what_happened", ["namespace": .string(name), "since": mark])])[0]
        let reason = wrong["structuredContent"]["requests"].items.last?.text ?? ""
        #expect(reason.contains(" 400: ") && !reason.contains(" more)"), "\(reason)")
        #expect(reason.contains("sdk_authorization_request") && reason.contains("unique_user_id"), "\(reason)")
        let why = try await results([("why", ["namespace": .string(name), "id": .string(String(number))])])[0]
        let steps = why["structuredContent"]["steps"].items.map { $0.text ?? "" }
        #expect(steps.last?.contains(" -> 401: ") == true, "\(why)")
        let verdict = try await results([("check", ["namespace": .string(name)])])[0]["structuredContent"]
        let refused = Set(verdict["refused"].items.map(\.text))
        #expect(verdict["passed"] == true && refused == ["400: 1", "401: 1"], "\(verdict)")
    }

    /// A tool that fails has changed nothing, also where it would have removed something first.
    @Test func aFailureDestroysNothing() async throws {
        let name = JSONValue.string("mcp-\(getpid())-kept")
        let results = try await results([
            ("start_case", ["namespace": name]),
            ("break_next", ["namespace": name, "route": "/sdk/session", "status": 503]),
            ("set_result", ["namespace": name, "result": "unknown"]),
            ("break_next", ["namespace": name, "clear": true, "route": "*", "effect": ["explode": true]]),
            ("set_result", ["namespace": name, "clear": true, "result": "authentik"]),
            ("start_case", ["namespace": name, "replace": true, "settings": ["result": ["dela": "3h"]]]),
            ("what_happened", ["namespace": name]),
            ("break_next", ["namespace": name, "clear": true, "route": "*", "status": 500]),
            ("start_case", ["namespace": name, "replace": true]),
            ("drop", ["namespace": name]),
        ])
        #expect(
            results.map { $0["isError"] } == [false, false, false, true, true, true, false, false, false, false],
            "\(results)")
        let state = results[6]["structuredContent"]["state"]
        #expect(state["faults"].items.count == 1 && state["results"].items.count == 1, "\(state)")
        let cleared = results[7]["structuredContent"]["state"]["faults"].items
        #expect(cleared.count == 1 && cleared[0].text?.contains("500") == true, "\(cleared)")
        #expect(results[8]["structuredContent"]["state"]["faults"].items.isEmpty)
        let left = results[9]["structuredContent"]["namespaces"].items
        #expect(!left.contains { $0.text?.hasPrefix("case-") == true }, "the rehearsal stays: \(left)")
    }

    @Test func bothVersionsOfTheProtocolAreSpoken() async throws {
        let answers = try await answers([
            request(1, "initialize", ["protocolVersion": "2025-11-25"], isModern: false),
            request(2, "initialize", ["protocolVersion": "1999-01-01"], isModern: false),
            request(3, "ping", isModern: false), request(4, "server/discover"), request(5, "ping"),
            request(6, "tools/list", isModern: false),
        ])
        #expect(answers[1]?["result"]["protocolVersion"] == "2025-11-25")
        #expect(answers[2]?["result"]["protocolVersion"] == "2025-11-25", "the newest one that has the handshake")
        #expect(answers[3]?["result"] == [:])
        #expect(answers[4]?["result"]["supportedVersions"] == ["2026-07-28"])
        #expect(answers[4]?["result"]["resultType"] == "complete")
        #expect(answers[5]?["error"]["code"] == -32601, "the newest version has no ping")
        #expect(answers[6]?["result"]["resultType"] == .null)
    }

    /// Behind a proxy that adds TLS, the origin of its own page is `https:`.
    @Test func aPageOfItsOwnHostMayAskByEitherScheme() async throws {
        let program = try RunningProgram(["mcp", "--http", "127.0.0.1:0", "--url", SimProcess.shared.baseURL])
        defer { program.process.terminate() }
        let url = try #require(URL(string: program.line()))
        let host = "127.0.0.1:\(url.port ?? 0)"
        for (origin, status) in [
            ("http://\(host)", 200), ("https://\(host)", 200), ("https://127.0.0.1:1", 403),
            ("https://evil.example", 403),
        ] {
            var sent = try OutgoingRequest(.POST, url.absoluteString)
            sent.headers = ["Content-Type": "application/json", "Origin": origin]
            sent.body = .bytes(ByteBuffer(bytes: try WireJSON.encode(request(1, "ping", isModern: false))))
            let answer = try await OutgoingClient.patient.whole(sent)
            #expect(answer.status == status, "\(origin)")
        }
    }

    @Test func otherVersionsAreRefused() async throws {
        var later = request(1, "tools/list")
        if var message = later.members, var params = message["params"]?.members {
            params["_meta"] = ["io.modelcontextprotocol/protocolVersion": "2031-01-01"]
            message["params"] = .object(params)
            later = .object(message)
        }
        let error = try await answers([later])[1]?["error"] ?? .null
        #expect(error["code"] == -32022)
        #expect(error["data"] == ["supported": ["2026-07-28"], "requested": "2031-01-01"])
    }

    @Test func longListsLoseTheirMiddle() async throws {
        let world = try await TestWorld.make()
        for number in 0..<60 {
            _ = try await world.send("GET", "/sdk/session/\(String(repeating: "x", count: 300))/\(number)")
        }
        let name = JSONValue.string(String(world.base.split(separator: "/").last ?? ""))
        let result = try await results([("what_happened", ["namespace": name, "limit": 50])])[0]
        let seen = result["structuredContent"]
        #expect((result["content"].items.first?["text"].text ?? "").utf8.count <= 6000)
        #expect(seen["left_out"]["requests"] != .null)
        #expect(seen["requests"].items.last?.text?.hasPrefix("#60 ") == true, "the newest stays")
        #expect(seen["requests"].items.first?.text?.hasPrefix("#11 ") == true, "the oldest of fifty stays")
        #expect(seen["earlier"].text?.contains("requests") == true)
    }

    @Test func theTextForAgentsIsServedAndPrinted() async throws {
        let served = try await TestWorld(base: SimProcess.shared.baseURL).send("GET", "/_sim/llms.txt")
        let printed = try await SimProcess.run(["llms"])
        #expect(served.status == 200 && served.text.hasPrefix("# entrupy-sim\n"))
        #expect(printed.output == served.text)
    }

    /// As many calls run as may, and each waits for a server that does not answer. The messages after them are still read.
    @Test func aCallIsCancelledWhileAsManyRunAsMay() async throws {
        let silent = try await HostileServer(.stall(""))
        let program = try RunningProgram(["mcp", "--url", silent.url])
        var messages = (1...20).map { call($0, "what_happened", ["namespace": "a"]) }
        messages += (1...20).map {
            [
                "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": ["requestId": .number(JSONNumber($0))],
            ]
        }
        messages.append(request(99, "ping", isModern: false))
        for message in messages {
            program.input.fileHandleForWriting.write(try WireJSON.encode(message) + Data("\n".utf8))
        }
        // The first answer is that of the request which was not cancelled.
        let line = program.line()
        #expect(line.contains(#""id":99"#), "\(line)")
        #expect(await program.finish().output.isEmpty)
        silent.stop()
    }

}
