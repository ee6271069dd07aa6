import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `Host`, `Origin` and methods, which are checked on every route before anything else.
@Suite struct BoundaryTests {
    /// A route of each surface.
    struct Surface: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        /// The status without a token, a body or an object; the boundary lets the request pass.
        let status: Int

        init(_ method: String, _ path: String, _ status: Int) {
            (self.method, self.path, self.status) = (method, path, status)
        }

        var testDescription: String { "\(method) \(path)" }
        var isControl: Bool { path.hasPrefix("/_sim") }
        var changes: Bool { method != "GET" }
    }

    static let surfaces = [
        Surface("POST", "/v1/search/authentications", 401), Surface("GET", "/v1/health", 401),
        Surface("POST", "/v2/integrations/authorize-user", 401), Surface("DELETE", "/v2/webhooks/x", 401),
        Surface("PATCH", "/v2/webhooks/x", 401), Surface("POST", "/sdk/login", 400),
        Surface("GET", "/sdk/session", 401),
        Surface("PUT", "/sdk/captures/x/images/y", 401), Surface("POST", "/partner/login", 400),
        Surface("GET", "/certificates/x", 404), Surface("GET", "/images/x/original", 404),
        Surface("POST", "/components/sessions", 400), Surface("GET", "/components/sessions/x", 200),
        Surface("PUT", "/components/sessions/x/document/images/front", 401), Surface("POST", "/nowhere", 404),
        Surface("GET", "/nowhere", 404), Surface("GET", "/openapi.yaml", 200),
        Surface("GET", "/openapi.json", 200), Surface("GET", "/_sim/ping", 200),
        Surface("GET", "/_sim/health", 200), Surface("GET", "/_sim/ready", 200), Surface("GET", "/_sim/docs", 200),
        Surface("GET", "/_sim/console", 200), Surface("GET", "/_sim/clock", 200),
        Surface("GET", "/_sim/metrics", 200), Surface("GET", "/_sim/requests", 200),
        Surface("POST", "/_sim/reset", 200), Surface("DELETE", "/_sim/faults", 204),
        Surface("PUT", "/_sim/users/x", 405), Surface("PATCH", "/_sim/settings", 400),
    ]

    /// The number of requests in the journal.
    private func journaled(_ world: TestWorld) async throws -> Int {
        try await world.send("GET", "/_sim/requests")["requests"].items.count
    }

    /// A page whose name an attacker points to this machine.
    @Test(arguments: surfaces) func aRebindingPageGetsNothing(surface: Surface) async throws {
        let world = try await TestWorld.make()
        for host in ["evil.test", "evil.test:8642", "127.0.0.1:80.evil.com"] {
            let answer = try await world.send(surface.method, surface.path, headers: ["Host": host])
            #expect(answer.status == 403 && answer.text.contains("--allowed-hosts"), "\(host): \(answer.text)")
        }
        #expect(try await journaled(world) == 0)
    }

    @Test(arguments: surfaces) func aPageOfAnotherOriginChangesNothing(surface: Surface) async throws {
        let world = try await TestWorld.make()
        for fields in [
            ["Origin": "https://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
            ["Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"],
        ] {
            let answer = try await world.send(surface.method, surface.path, headers: fields)
            #expect((answer.status == 403) == surface.changes, "\(fields): \(answer.status)")
            #expect(!surface.changes || answer["code"] == "forbidden")
        }
        let isJournaled = !surface.changes && !surface.isControl && !surface.path.hasPrefix("/openapi.")
        #expect(try await journaled(world) == (isJournaled ? 4 : 0))
    }

    @Test(arguments: surfaces) func otherClientsAndOwnPagesAreServed(surface: Surface) async throws {
        let world = try await TestWorld.make()
        for fields in [
            [:], ["Host": "sim:80"], ["Host": "localhost:9000", "Origin": "http://localhost:9000"],
            ["Host": "192.168.1.20:8642", "Origin": "https://192.168.1.20:8642", "Sec-Fetch-Site": "same-origin"],
        ] {
            let answer = try await world.send(surface.method, surface.path, headers: fields)
            #expect(answer.status == surface.status, "\(fields): \(answer.text)")
        }
    }

    /// A post without `Content-Type` needs no preflight.
    @Test func aPageCannotOpenASessionWithoutContentType() async throws {
        let world = try await TestWorld.make()
        let body = Data(#"{"validationCode": "x", "networkEnvironment": "sandbox"}"#.utf8)
        let stranger = try await world.send(
            "POST", "/components/sessions", bytes: body, headers: ["Origin": "http://evil.example"])
        #expect(stranger.status == 403 && stranger["sdk_error"] == .null, "\(stranger.json)")
        let client = try await world.send("POST", "/components/sessions", bytes: body)
        #expect(client.status == 401 && client["code"] == "invalid_session", "\(client.json)")
    }

    @Test func otherNamesNeedTheirOptions() async throws {
        let server = try SimProcess([
            "--in-memory", "--allowed-hosts", "sim.corp.example, .preview.example", "--cors", "http://localhost:3000",
            "--public-url", "https://public.example/sim",
        ])
        defer { server.stop() }
        let root = TestWorld(base: server.baseURL)
        for host in ["sim.corp.example:8642", "a.preview.example", "preview.example", "public.example"] {
            #expect(try await root.send("GET", "/sdk/session", headers: ["Host": host]).status == 401, "\(host)")
            #expect(try await root.send("GET", "/_sim/clock", headers: ["Host": host]).status == 200, "\(host)")
        }
        for host in ["a.corp.example", "corp.example", "evilpreview.example"] {
            #expect(try await root.send("GET", "/sdk/session", headers: ["Host": host]).status == 403, "\(host)")
        }
        #expect(try await root.send("POST", "/sdk/login", headers: ["Origin": "http://localhost:3000"]).status == 400)
        #expect(try await root.send("POST", "/_sim/reset", headers: ["Origin": "http://localhost:3000"]).status == 403)
        #expect(try await root.send("POST", "/_sim/reset", headers: ["Origin": "https://public.example"]).status == 200)
    }

    @Test(arguments: ["sim.example.com:8642", "http://sim.example.com", "*", "a, b c"])
    func aWrongNameIsRefusedAtTheStart(names: String) async throws {
        let run = try await SimProcess.run(["serve", "--in-memory", "--port", "0", "--allowed-hosts", names])
        #expect(run.status == 64 && run.output.contains("--allowed-hosts must be names like"), "\(run.output)")
    }

    // MARK: Methods

    @Test func methodsThatTheServerDoesNotKnowAreNotImplemented() async throws {
        let world = try await TestWorld.make()
        for path in [
            "/sdk/session", "/v1/health", "/components/sessions", "/nowhere", "/_sim/clock", "/_sim/ping", "/",
        ] {
            for method in ["PROPFIND", "PURGE", "LOCK", "M-SEARCH"] {
                let answer = try await world.send(method, path)
                #expect(answer.status == 501 && answer["code"] == "not_implemented", "\(method) \(path)")
            }
        }
        #expect(try await world.send("TRACE", "/sdk/session").status == 405)
        #expect(try await journaled(world) == 1)
    }

    // MARK: HTTP/1

    @Test(arguments: [
        ("GET /sdk/session HTTP/1.1\r\nHost: evil.test\r\n", 403), ("GET /sdk/session HTTP/1.1\r\nHost:\r\n", 403),
        ("GET /sdk/session HTTP/1.1\r\nhOsT:  LOCALHOST\r\n", 401),
        ("GET /sdk/session HTTP/1.1\r\nHost: user@localhost\r\n", 400),
        ("GET /sdk/session HTTP/1.1\r\nHost: localhost, evil.test\r\n", 400),
        ("GET /sdk/session HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n", 400),
        ("GET /sdk/session HTTP/1.0\r\nHost: evil.test\r\n", 403), ("GET /sdk/session HTTP/1.0\r\n", 401),
        // The host of a whole URL counts, and not the one beside it (RFC 9112, section 3.2.2).
        ("GET http://evil.test/sdk/session HTTP/1.1\r\nHost: localhost\r\n", 403),
        ("GET http://evil.test/sdk/session HTTP/1.0\r\n", 403),
        ("GET http://localhost/sdk/session HTTP/1.1\r\nHost: evil.test\r\n", 401),
        ("GET http://localhost/sdk/session HTTP/1.0\r\n", 401),
        ("GET http://localhost:80.evil.test/sdk/session HTTP/1.1\r\nHost: localhost\r\n", 403),
        ("GET http://localhost@evil.test/sdk/session HTTP/1.1\r\nHost: localhost\r\n", 400),
        ("GET http:///sdk/session HTTP/1.1\r\nHost: localhost\r\n", 400),
        ("BREW /sdk/session HTTP/1.1\r\nHost: localhost\r\n", 400), ("get /sdk/session HTTP/1.1\r\nHost: a\r\n", 400),
        ("SUBSCRIBE /sdk/session HTTP/1.1\r\nHost: evil.test\r\n", 501),
        ("CONNECT localhost:8642 HTTP/1.1\r\nHost: evil.test:80\r\n", 403),
        (
            "POST /sdk/login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.test\r\n",
            403
        ),
        ("POST /sdk/login HTTP/1.1\r\nHost: localhost\r\nOrigin:\r\n", 403),
        ("POST /sdk/login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n", 400),
        ("POST /sdk/login HTTP/1.0\r\nOrigin: http://localhost\r\n", 403), ("POST /sdk/login HTTP/1.0\r\n", 400),
    ])
    func headsAreReadExactly(head: String, status: Int) async throws {
        let answer = try await RawConnection.open(.shared).exchange("\(head)Connection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
    }

    @Test func aRequestForAProxyIsNamed() async throws {
        let answer = try await RawConnection.open(.shared).exchange(
            "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 404 ") && answer.contains("CONNECT asks for a proxy"), "\(answer)")
    }

    // MARK: What people see

    @Test func aBrowserGetsAPageThatNamesTheOption() async throws {
        for path in ["/", "/_sim/console", "/ns/x/_sim/console/items"] {
            let answer = try await TestWorld(base: SimProcess.shared.baseURL).send(
                "GET", path, headers: ["Host": "sim.example.com", "Accept": "text/html,*/*"])
            #expect(answer.status == 403 && answer.text.hasPrefix("<!doctype html>"), "\(path)")
            #expect(answer.text.contains("--allowed-hosts sim.example.com"))
        }
    }

    @Test func theDoctorAndTheLogNameWhatWasRefused() async throws {
        let server = try SimProcess(["--in-memory"])
        let root = TestWorld(base: server.baseURL)
        let before = try await SimProcess.run(["doctor", "--url", server.baseURL])
        #expect(before.status == 0 && before.output.contains("no request was refused"), "\(before.output)")
        for number in 0..<30 {
            _ = try await root.send("GET", "/sdk/session", headers: ["Host": "sim\(number).example.com"])
        }
        _ = try await root.send("POST", "/sdk/login", headers: ["Origin": "http://localhost:3000"])
        _ = try await root.send("PROPFIND", "/sdk/login")
        let refused = try await root.send("GET", "/_sim/info")["refused"]
        #expect(refused["count"] == 31 && refused["latest"].items.count == 20)
        #expect(refused["latest.0.header"] == "Origin" && refused["latest.0.value"] == "http://localhost:3000")
        let run = try await SimProcess.run(["doctor", "--url", server.baseURL])
        #expect(run.status == 0 && run.output.contains("31 requests refused"), "\(run.output)")
        #expect(run.output.contains("Host sim29.example.com") && run.output.contains("--allowed-hosts"))
        server.stop()
        var log = ""
        while case let text = server.printed(), !text.isEmpty { log += text }
        let lines = log.split(separator: "\n").filter { $0.contains("a request was refused") }
        // At most ten a minute: a busy machine may take longer for all the requests.
        #expect(lines.count >= 10 && lines.count < 31, "\(log)")
        #expect(lines.first?.contains("sim0.example.com") == true, "\(log)")
    }

    // MARK: Recordings

    /// A recording has no refused request, and its other requests pass again on any machine.
    @Test func recordedRequestsPassTheBoundaryOfAReplay() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try SimProcess([
                "--in-memory", "--record", file, "--allowed-hosts", ".corp.example", "--cors", "http://localhost:3000",
                "--public-url", "https://public.example",
            ])
            let root = TestWorld(base: server.baseURL)
            let cases: [(String, String, [String: String], Int)] = [
                ("GET", "/_sim/clock", ["Host": "sim.corp.example"], 200),
                ("POST", "/_sim/reset", ["Host": "public.example", "Origin": "https://public.example"], 200),
                ("POST", "/_sim/reset", ["Origin": "https://public.example"], 200),
                ("POST", "/sdk/login", ["Origin": "http://localhost:3000"], 400),
                ("GET", "/sdk/session", ["Host": "evil.test"], 403), ("PROPFIND", "/sdk/session", [:], 501),
                ("POST", "/_sim/reset", ["Origin": "http://localhost:3000"], 403),
            ]
            var passed = 0
            for (method, path, headers, status) in cases {
                let answer = try await root.send(method, path, headers: headers)
                #expect(answer.status == status, "\(method) \(path) \(headers): \(answer.text)")
                if ![403, 501].contains(answer.status) { passed += 1 }
            }
            server.stop()
            let run = try await SimProcess.run(["replay", file])
            #expect(run.status == 0 && run.output.contains("\(passed) requests"), "\(run.output)")
        }
    }
}
