import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import Console

/// Every kind of text that the console offers to paste, with hostile values, pasted into real shells [D console]. The programs
/// that it calls must get what was meant, and nothing else may run.
@Suite(.enabled(if: PasteShell.isWanted, "make test-shells runs these")) struct PastedSnippetTests {
    /// Commands, and the calls of programs that each must make.
    typealias Case = (text: String, calls: [[String]])

    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case words, methods, paths, queries, headerNames, headerValues, bodies, checks, ends, pages, ownPages

        var testDescription: String { rawValue }
    }

    @Test(.enabled(if: PasteShell.bash.isInstalled, "needs bash and script"), arguments: Kind.allCases)
    func bashRunsWhatWasMeant(kind: Kind) async throws { try await check(kind, in: .bash) }

    @Test(
        .enabled(if: PasteShell.zsh.isInstalled, "needs zsh and script: make test-shells installs them"),
        arguments: Kind.allCases)
    func zshRunsWhatWasMeant(kind: Kind) async throws { try await check(kind, in: .zsh) }

    private func check(_ kind: Kind, in shell: PasteShell) async throws {
        let cases = try await cases(kind)
        #expect(cases.count >= 3)
        // A terminal acts on these, whatever a shell would make of them.
        for (text, _) in cases {
            #expect(!text.unicodeScalars.contains { $0.isInvisible && $0 != "\n" }, "\(text.debugDescription)")
        }
        let outcome = try await shell.paste(
            cases.map(\.text).joined(separator: "\n"),
            variables: ["TOKEN": "the token", "URL": "http://127.0.0.1:1"])
        #expect(!outcome.ranOther, "\(outcome.shown)")
        let expected = cases.flatMap(\.calls)
        let difference = zip(outcome.calls, expected).first { $0 != $1 }
        #expect(
            outcome.calls == expected,
            "\(outcome.calls.count) calls of \(expected.count); the first that differs: \(String(describing: difference)); \(outcome.shown.suffix(2000))"
        )
    }

    private func cases(_ kind: Kind) async throws -> [Case] {
        let texts = HostileTexts.all
        switch kind {
        case .words:
            return texts.map { ("curl \(Shell.quoted($0))", [["curl", $0]]) }
        case .methods:
            // What is not a method of HTTP could be a whole other request.
            return texts.map {
                (snippet(method: $0).curl, Self.isToken($0) ? [["curl"] + Self.start($0) + [Self.url]] : [])
            }
        case .paths:
            return texts.map { curl(snippet(path: "/" + $0), path: "/" + $0) }
                // Without a slash, the text would become a part of the host.
                + texts.filter { !$0.hasPrefix("/") && !$0.isEmpty }.map { curl(snippet(path: $0), path: "/" + $0) }
        case .queries:
            return texts.map { curl(snippet(query: $0), path: "/sdk/login?\($0)") }
        case .headerNames:
            return texts.map { name in
                let words = Self.isToken(name) ? ["-H", "\(name): v"] : []
                return (snippet(header: (name, "v")).curl, [["curl", "-X", "POST", Self.url] + words])
            }
        case .headerValues:
            return texts.map { value in
                let isCarried = value.utf8.allSatisfy { $0 == 9 || $0 >= 32 && $0 != 127 }
                let isBlank = value.utf8.allSatisfy { $0 == 9 || $0 == 32 }
                let sent = value.replacing(each: "***", with: "the token")
                let words = isBlank ? ["-H", "X-A;"] : isCarried ? ["-H", "X-A: \(sent)"] : []
                return (snippet(header: ("X-A", value)).curl, [["curl", "-X", "POST", Self.url] + words])
            }
        case .bodies:
            return (texts + ["a\0b"]).map { body in
                let words = body.isEmpty || body.utf8.contains(0) ? [] : ["--data-raw", body]
                return (snippet(body: body).curl, [["curl", "-X", "POST", Self.url] + words])
            }
        case .checks: return texts.flatMap { checks($0) }
        case .ends: return try await commandEnds(texts)
        case .pages: return try await texts.asyncMap { try await exchangePage($0) }
        case .ownPages: return try await examples(texts)
        }
    }

    /// The commands that verify requests.
    private func checks(_ text: String) -> [Case] {
        let verify = ["entrupy-sim", "requests", "verify"]
        let byMethod: [String] = verify + ["--route", "/sdk/login"] + Self.option("--method", text) + Self.end
        let byPath: [String] = verify + Self.option("--route", text) + ["--method", "POST"] + Self.end
        return [(snippet(method: text).verify, [byMethod]), (snippet(path: text).verify, [byPath])]
    }

    // MARK: Requests and the arguments that they must become

    private static let url = "http://127.0.0.1:1/sdk/login"
    private static let end = ["--status", "201", "--times", "1"]

    private static func isToken(_ text: String) -> Bool {
        text.wholeMatch(of: /[!#$%&'*+.^_`|~0-9A-Za-z-]+/) != nil
    }

    private static func start(_ method: String) -> [String] { method == "HEAD" ? ["--head"] : ["-X", method] }

    private static func option(_ name: String, _ value: String) -> [String] {
        value.hasPrefix("-") ? ["\(name)=\(value)"] : [name, value]
    }

    private func request(
        method: String = "POST", path: String = "/sdk/login", query: String? = nil, header: (String, String)? = nil,
        body: String? = nil, user: String? = nil
    ) -> JournaledRequest {
        JournaledRequest(
            id: "req_1", sequence: 1, at: 0, method: method, path: path, query: query, status: 201, duration_ms: 1,
            username: user, test: nil, decided_by: DecidedRequest(fault: nil, limits: [], outcome: nil), changes: nil,
            request: JournaledMessage(
                headers: header.map { [[$0.0, $0.1]] } ?? [], body: body, bytes: body?.utf8.count ?? 0, truncated: false
            ),
            response: nil)
    }

    private func snippet(
        method: String = "POST", path: String = "/sdk/login", query: String? = nil, header: (String, String)? = nil,
        body: String? = nil
    ) -> Snippets {
        Snippets(
            request(method: method, path: path, query: query, header: header, body: body), url: "http://127.0.0.1:1")
    }

    /// The command for a path, and the URL that curl must get: the same bytes after percent-decoding, with its own flags.
    private func curl(_ snippet: Snippets, path: String) -> Case {
        let encoded = path.utf8.map { byte in
            byte <= 32 || byte >= 127 || byte == UInt8(ascii: "#")
                ? String(format: "%%%02X", byte) : String(Unicode.Scalar(byte))
        }.joined()
        var flags: [String] = []
        if encoded.contains(/[\[\]{}]/) { flags.append("--globoff") }
        if encoded.prefix(before: "?").contains("/.") { flags.append("--path-as-is") }
        return (snippet.curl, [["curl", "-X", "POST"] + flags + ["http://127.0.0.1:1\(encoded)"]])
    }

    // MARK: Pages

    private struct Stub {
        var name = "a"
        var url = "http://127.0.0.1:1/ns/a"
        var answers: [String: String] = [:]

        func html(_ path: [String]) async -> String {
            let console = Console(version: "1", proof: "proof-1")
            let request = ConsoleRequest(namespace: name, path: path, query: [:], isReadOnly: false, url: url)
            return await console.page(request) { [answers] path in
                let plain = path.split(separator: "?")[0].dropFirst("/_sim/".count)
                let missing =
                    #"{"code":"unknown_namespace","details":[],"error":"gone","request_id":"r","sdk_error":null}"#
                return answers[String(plain)].map { (200, Data($0.utf8)) } ?? (404, Data(missing.utf8))
            }.html
        }
    }

    /// The texts of the elements that a pattern finds in a page, as a browser reads them.
    private func texts(_ pattern: Regex<(Substring, Substring)>, in html: String) -> [String] {
        html.matches(of: pattern).map { match in
            var text = String(match.1)
            for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            {
                text = text.replacing(each: entity, with: character)
            }
            return text
        }
    }

    /// What the copy buttons of a request's page copy.
    private func exchangePage(_ text: String) async throws -> Case {
        let path = "/\(text)"
        let journaled = request(method: "P'", path: path, header: ("X-A", "b"), body: text)
        let answer = String(decoding: try WireJSON.encode(journaled), as: UTF8.self)
        let html = await Stub(answers: ["requests/req_1": answer, "requests/req_1/rules": #"{"rules":[]}"#]).html([
            "requests", "req_1",
        ])
        let copied = texts(/<pre data-copied="(?:curl|verify)">([^<]*)<\/pre>/, in: html)
        try #require(copied.count == 2)
        let expected = Snippets(journaled, url: "http://127.0.0.1:1/ns/a")
        #expect(copied[0] == expected.curl)
        let words = curl(expected, path: path).calls[0]
        let place = words.last?.replacingOccurrences(of: "127.0.0.1:1", with: "127.0.0.1:1/ns/a") ?? ""
        let body = text.isEmpty ? [] : ["--data-raw", text]
        return (
            copied.joined(separator: "\n"),
            [
                ["curl", "-X", "P'"] + words.dropFirst(3).dropLast() + [place, "-H", "X-A: b"] + body,
                ["entrupy-sim", "requests", "verify", "--route", path, "--method", "P'"] + Self.end
                    + ["--namespace", "a", "--url", "http://127.0.0.1:1"],
            ]
        )
    }

    /// The examples on pages that have nothing to show, with a hostile public URL.
    private func examples(_ texts: [String]) async throws -> [Case] {
        let lists = [
            "requests": #"{"requests":[],"next_cursor":null}"#, "event-log": #"{"events":[],"next_cursor":null}"#,
            "webhooks": #"{"subscriptions":[],"webhooks":[]}"#,
            "webhook-deliveries": #"{"deliveries":[],"next_cursor":null}"#, "choices": #"{"routes":[],"lists":{}}"#,
            "clock": #"{"now":"2026-01-05T09:00:00Z","epoch":1767603600,"mode":"frozen"}"#,
        ]
        var cases: [Case] = []
        for text in texts where !text.isEmpty {
            let url = "http://127.0.0.1:1/\(text)"
            for path in [[], ["webhooks"]] {
                let html = await Stub(name: "default", url: url, answers: lists).html(path)
                let commands = self.texts(
                    /<pre tabindex="0"><code data-copied="[a-z]+">((?:curl|entrupy-sim) [^<]*)<\/code><\/pre>/, in: html
                )
                try #require(!commands.isEmpty)
                for command in commands {
                    if command.hasPrefix("curl -X") {
                        cases.append(
                            (
                                command,
                                [
                                    [
                                        "curl", "-X", "POST", "-H", "Authorization: Token demo-api-token", "-H",
                                        "Content-Type: application/json", "-d",
                                        #"{"url": "http://127.0.0.1:9000/hooks", "secret_key": "example-secret", "events": ["session.completed"]}"#,
                                        "\(url)/v2/webhooks",
                                    ]
                                ]
                            ))
                    } else if command.hasPrefix("curl") {
                        cases.append(
                            (
                                command,
                                [
                                    [
                                        "curl", "-H", "Authorization: Token demo-api-token", "-H", "Api-Version: 1.3",
                                        "\(url)/v1/health",
                                    ]
                                ]
                            ))
                    } else {
                        cases.append(
                            (
                                command, [["entrupy-sim", "items", "generate", "--count", "20", "--url", url]]
                            ))
                    }
                }
            }
        }
        return cases
    }

    /// The ends of all command lines, which name the namespace and the server, and the command that makes a namespace.
    private func commandEnds(_ texts: [String]) async throws -> [Case] {
        var cases: [Case] = []
        for text in texts where !text.isEmpty {
            let html = await Stub(name: text, url: "http://127.0.0.1:1/\(text)").html(["nowhere"])
            let end = try #require(self.texts(/data-cli-end="([^"]*)"/, in: html).first)
            let server = "http://127.0.0.1:1/\(text)"
            cases.append(
                (
                    "entrupy-sim reset\(end)",
                    [["entrupy-sim", "reset"] + Self.option("--namespace", text) + ["--url", server]]
                ))
            let missing = await Stub(name: text, url: server).html(["items"])
            let standalone = StandalonePage.html(
                status: 404,
                ErrorEnvelope(error: "gone", code: "unknown_namespace", sdk_error: nil, details: [], request_id: "r"),
                server: server, namespace: text, action: "/")
            for page in [missing, standalone] {
                let command = try #require(self.texts(/<pre tabindex="0"><code>([^<]*)<\/code><\/pre>/, in: page).first)
                let words = text.hasPrefix("-") ? ["--", text] : [text]
                cases.append((command, [["entrupy-sim", "namespace", "make", "--url", server] + words]))
            }
        }
        return cases
    }

    // MARK: What a snippet says

    @Test func aMethodThatIsNoTokenIsNeverSent() {
        for method in ["GET / HTTP/1.1\r\nHost: x\r\n\r\nDELETE", "GET X", "", "GÉT"] {
            let curl = snippet(method: method).curl
            #expect(curl.hasPrefix("echo '") && !curl.contains("curl -"), "\(curl)")
        }
    }

    @Test func whatAnArgumentCannotHoldIsSaid() {
        #expect(snippet(body: "a\0b").curl.hasPrefix(": 'Left out: the body, which has a NUL"))
        let split = snippet(header: ("X-A", "b\r\nX-Evil: c")).curl
        #expect(split.hasPrefix(": 'Left out: headers that HTTP cannot carry, 1'\n") && !split.contains("Evil"))
        #expect(
            !snippet(header: ("@/etc/passwd", "b")).curl.contains("@"), "curl reads a header that begins so from a file"
        )
    }

    @Test func aPathNeverChangesTheHost() {
        for path in ["@evil.test/", ":80@evil.test/", ".evil.test/", "evil.test"] {
            let text = snippet(path: path).curl
            #expect(
                text.contains(
                    "http://127.0.0.1:1/\(path.first == ":" || path.first == "." || path.first == "@" ? path : "evil.test")"
                ))
        }
    }

    /// What curl itself does with its arguments: it takes dots out of paths, reads `[]{}` as many URLs, leaves out a header without
    /// a value, and waits for the body of a HEAD.
    @Test func curlGetsTheFlagsThatKeepARequestAsItWas() {
        #expect(snippet(path: "/a/../b").curl.contains("--path-as-is"))
        #expect(snippet(path: "/a/%2E%2e/b").curl.contains("--path-as-is"))
        #expect(snippet(query: "a=[1-3]").curl.contains("--globoff"))
        #expect(snippet(header: ("X-Empty", "")).curl.contains("-H 'X-Empty;'"))
        #expect(snippet(method: "HEAD").curl.hasPrefix("curl --head "))
        #expect(!snippet(path: "/a.b").curl.contains("--path") && !snippet().curl.contains("glob"))
    }

    /// A shell without `$'…'` gets another text, but still only an argument.
    @Test(arguments: ["sh", "dash"]) func otherShellsRunNothingElse(name: String) throws {
        guard FileManager.default.isExecutableFile(atPath: "/bin/\(name)") else { return }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("entrupy-sim-sh-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let canary = folder.appendingPathComponent("canary").path
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/\(name)")
        let texts = HostileTexts.all
        shell.arguments = [
            "-c",
            "count=0; curl() { count=$((count + 1)); }\n" + texts.map { snippet(body: $0).curl }.joined(separator: "\n")
                + "\n[ $count = \(texts.count) ]",
        ]
        shell.environment = ["CANARY": canary, "PATH": "/nowhere"]
        shell.standardInput = FileHandle.nullDevice
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0 && !FileManager.default.fileExists(atPath: canary))
    }

    /// Swift reads back what was meant. The literal has no character that ends it, and no interpolation but the token's.
    @Test func swiftLiteralsHoldAnyText() throws {
        for text in HostileTexts.all + ["\\(evil())", "a\0b", "\"#", "\\\u{301}", "\"\u{301}"] {
            let literal = SwiftLiteral.quoted(text)
            #expect(!literal.unicodeScalars.contains { $0.isInvisible }, "\(literal)")
            #expect(try Self.read(literal) == Array(text.unicodeScalars), "\(literal)")
        }
        #expect(SwiftLiteral.quoted("a***\"b", each: "***", as: "token") == #""a\(token)\"b""#)
    }

    /// Reads a literal as the Swift compiler does.
    private static func read(_ literal: String) throws -> [Unicode.Scalar] {
        var rest = Array(literal.unicodeScalars)[...]
        var scalars: [Unicode.Scalar] = []
        let (first, last) = (rest.popFirst(), rest.popLast())
        try #require(first == "\"" && last == "\"")
        while let next = rest.popFirst() {
            try #require(next != "\"")
            guard next == "\\" else {
                scalars.append(next)
                continue
            }
            let escape = rest.popFirst()
            switch try #require(escape) {
            case "n": scalars.append("\n")
            case "r": scalars.append("\r")
            case "t": scalars.append("\t")
            case "u":
                let brace = rest.popFirst()
                try #require(brace == "{")
                let digits = rest.prefix { $0 != "}" }
                rest = rest.dropFirst(digits.count + 1)
                let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16).flatMap(Unicode.Scalar.init)
                scalars.append(try #require(value))
            case let escaped:
                try #require(escaped == "\"" || escaped == "\\")
                scalars.append(escaped)
            }
        }
        return scalars
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
