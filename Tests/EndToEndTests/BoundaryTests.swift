import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `Host` and `Origin` as HTTP/1 sends them, and the options for other names. Each route is in `RouteBoundaryTests`.
@Suite struct BoundaryTests {
    @Test func otherNamesNeedTheirOptions() async throws {
        let server = try await SimProcess([
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
        ("CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n", 404),
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
        if status == 404 { #expect(answer.contains("CONNECT asks for a proxy"), "\(answer)") }
    }

    @Test func theDoctorAndTheLogNameWhatWasRefused() async throws {
        let server = try await SimProcess(["--in-memory"])
        let root = TestWorld(base: server.baseURL)
        #expect(try await root.output("doctor").contains("no request was refused"))
        for number in 0..<30 {
            _ = try await root.send("GET", "/sdk/session", headers: ["Host": "sim\(number).example.com"])
        }
        _ = try await root.send("POST", "/sdk/login", headers: ["Origin": "http://localhost:3000"])
        let refused = try await root.send("GET", "/_sim/info")["refused"]
        #expect(refused["count"] == 31 && refused["latest"].items.count == 20)
        let doctor = try await root.output("doctor")
        #expect(doctor.contains("31 requests refused") && doctor.contains("Host sim29.example.com"), "\(doctor)")
        server.stop()
        var log = ""
        while case let text = server.printed(), !text.isEmpty { log += text }
        #expect(log.contains("a request was refused") && log.contains("sim0.example.com"), "\(log)")
    }

    // MARK: Recordings

    /// A recording has no refused request, and its other requests pass again on any machine.
    @Test func recordedRequestsPassTheBoundaryOfAReplay() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try await SimProcess([
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
