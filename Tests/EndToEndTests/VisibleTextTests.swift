import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Text from outside as the commands print it. `EscapedTextTests` has the escapes.
@Suite struct VisibleTextTests {
    /// A colour that this program does not use, a bell, C1's introducer of the same colour, a carriage return, three scalars that
    /// change the order of text or break lines, and the ends of cells and lines.
    static let hostile = "a\u{1b}[35mb\u{7}c\u{9b}35md\re\u{202e}f\u{2066}g\u{2028}h\ti\nj"
    static let shown = #"a\x1b[35mb\x07c\x9b35md\x0de\u{202e}f\u{2066}g\u{2028}h\x09i\x0aj"#

    /// The scalars of a text that a terminal would obey or hide, except ends of lines.
    static func hidden(in text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar != "\n"
            case .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }

    /// A namespace in which everything that takes text from outside has the hostile one.
    private func hostileWorld() async throws -> TestWorld {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let hostile = JSONValue.string(Self.hostile)
        let session = try await world.login()
        let answers = [
            try await world.send("PATCH", "/_sim/users/DemoOrg-example-user-id", ["first_name": hostile]),
            try await world.send(
                "POST", "/_sim/authentications", ["count": 1, "template": ["customer_item_id": hostile]]),
            try await world.send(
                "POST", "/_sim/faults",
                [
                    "match": ["route": hostile, "header": ["X-Device": hostile]],
                    "effect": ["status": 503, "body": hostile],
                ]),
            try await world.send(
                "POST", "/_sim/outcomes",
                ["match": ["brand": hostile, "customer_item_id": hostile], "result": "authentic"]),
            try await world.send(
                "POST", "/v2/webhooks",
                ["url": .string("http://127.0.0.1:9/" + Self.hostile), "secret_key": "s"], token: TestWorld.apiToken),
            try await world.send("POST", "/sdk/captures", ["item": ["brand": hostile]], token: session),
        ]
        #expect(answers.map(\.status) == [200, 201, 201, 201, 201, 400], "\(answers.map(\.text))")
        return world
    }

    /// The commands that print what the namespace holds, and whether they show the hostile text.
    private static let commands: [([String], Bool)] = [
        (["items", "list"], true), (["events"], true), (["fault", "list"], true), (["outcome", "list"], true),
        (["webhooks", "list"], true), (["users", "show", "DemoOrg-example-user-id"], true),
        (["requests", "list"], false), (["users", "list"], false), (["settings", "show"], false),
        (["requests", "verify", "--route", hostile], true), (["users", "show", hostile], true),
        (["snapshot", "restore", hostile], false), (["scenario", "start", hostile], false),
        (["wait", hostile], true), (["choices", hostile], true), (["seed", "load", hostile], true),
        (["clock", "freeze", "--at", hostile], true), (["settings", "set", hostile], false),
        (["bundle", "-o", "/\(hostile)/x"], true), (["reset", "--url", "http://\(hostile)"], true), (["doctor"], false),
        (["diff", "now", "namespace:default"], false),
    ]

    private func words(_ words: [String], _ world: TestWorld) -> [String] {
        let name = String(world.base.split(separator: "/").last ?? "")
        return words + (words.contains("--url") ? [] : ["--url", SimProcess.shared.baseURL]) + ["--namespace", name]
    }

    @Test func noCommandPrintsStoredTextRaw() async throws {
        let world = try await hostileWorld()
        for (command, isShown) in Self.commands {
            let printed = try await SimProcess.run(words(command, world))
            #expect(Self.hidden(in: printed.output) == [], "\(command): \(printed.output.debugDescription)")
            #expect(
                !isShown || printed.output.contains(#"\x1b[35mb"#) || printed.output.contains(#"\u001b[35mb"#)
                    || printed.output.contains("%1B%5B35m"), "\(command): \(printed.output)")
        }
        // A table has as many lines as rows.
        let items = try await SimProcess.run(words(["items", "list"], world)).output.split(separator: "\n")
        #expect(items.count == 2 && items[1].contains(Self.shown))
        // A body keeps its lines.
        let list = try await world.send("GET", "/_sim/requests?route=/sdk/captures")
        let id = try #require(list["requests.0.id"].text)
        let request = try await SimProcess.run(words(["requests", "show", id], world)).output
        #expect(Self.hidden(in: request) == [] && request.contains(#"\u001b[35mb"#) && request.contains(#"c\x9b35m"#))
    }

    @Test func onATerminalNothingButOurColoursIsObeyed() async throws {
        let world = try await hostileWorld()
        for (command, _) in Self.commands {
            let printed = try await PseudoTerminal.run(words(command, world))
            let plain = printed.output.replacing(#/\u{1b}\[(0|1|2|31|32|33)m/#, with: "")
            #expect(Self.hidden(in: plain) == [], "\(command): \(printed.output.debugDescription)")
        }
        let doctor = try await PseudoTerminal.run(words(["doctor"], world))
        #expect(doctor.output.contains("\u{1b}[32mok   \u{1b}[0m  server: "), "\(doctor.output.debugDescription)")
        let refused = try await PseudoTerminal.run(words(["users", "show", Self.hostile], world))
        #expect(refused.output.hasPrefix("\u{1b}[31merror:\u{1b}[0m "), "\(refused.output.debugDescription)")
    }

    @Test func jsonIsTheServersBytesInAPipeAndEscapedOnATerminal() async throws {
        let world = try await hostileWorld()
        for (command, path) in [
            (["items", "list"], "/_sim/authentications?limit=100"), (["fault", "list"], "/_sim/faults"),
            (["users", "show", "DemoOrg-example-user-id"], "/_sim/users/DemoOrg-example-user-id"),
        ] {
            let answer = try await world.send("GET", path)
            let piped = try await SimProcess.run(words(command, world) + ["--json"])
            #expect(piped.output == answer.text + "\n")
            #expect(Self.hidden(in: piped.output).contains("\u{202e}"))
            let shown = try await PseudoTerminal.run(words(command, world) + ["--json"])
            #expect(Self.hidden(in: shown.output) == [], "\(shown.output.debugDescription)")
            #expect(try WireJSON.decode(JSONValue.self, from: Data(shown.output.utf8)) == answer.json)
        }
        // Documents too: seed data, and an archive of requests.
        for command in [["seed", "export"], ["requests", "list", "--har"]] {
            let shown = try await PseudoTerminal.run(words(command, world))
            #expect(shown.status == 0 && shown.output.utf8.count > 1000, "\(command): \(shown.output.prefix(1000))")
            #expect(Self.hidden(in: shown.output) == [], "\(command): \(shown.output.debugDescription)")
        }
        let archive = try await PseudoTerminal.run(words(["bundle", "-o", "-"], world))
        #expect(archive.status == 64 && archive.output.contains("the archive is not text for a terminal"))
    }

    /// What follows a line break of a server's text must not look like a line of this program.
    @Test func errorsOfServersAreEscapedAndIndented() async throws {
        let error = JSONValue.object([
            "code": "bad_request", "error": .string("wrong" + Self.hostile + "\nerror: all is well"),
            "details": .array([.object(["field": .string(Self.hostile), "problem": .string(Self.hostile)])]),
            "request_id": "x", "sdk_error": "ErrorCodeBadRequest",
        ])
        let body = String(decoding: try WireJSON.encode(error), as: UTF8.self)
        let server = try await HostileServer(
            .end("HTTP/1.1 400 Bad Request\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"))
        let printed = try await SimProcess.run(["clock", "show", "--url", server.url]).output
        #expect(!Self.hidden(in: printed).contains { $0 != "\t" }, "\(printed.debugDescription)")
        #expect(printed.hasPrefix(#"error: wronga\x1b[35mb\x07c"#))
        #expect(printed.split(separator: "\n").dropFirst().someAndAll { $0.hasPrefix("  ") })
        let place = String(Self.hostile.filter { !$0.isNewline })
        let moved = try await HostileServer(.end("HTTP/1.1 302 Found\r\nLocation: \(place)\r\n\r\n"))
        let refused = try await SimProcess.run(["clock", "show", "--url", moved.url]).output
        #expect(Self.hidden(in: refused) == [], "\(refused.debugDescription)")
    }

    @Test func theGreetingShowsNamesAsTheyAre() async throws {
        let directory = NSTemporaryDirectory() + "greeting-\(UUID().uuidString)" + "\u{1b}[35m\u{202e}\u{9b}"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = try await SimProcess(["--data-dir", directory])
        #expect(Self.hidden(in: server.greeting) == [] && server.greeting.contains(#"\x1b[35m\u{202e}\x9b)"#))
        server.stop()
    }
}
