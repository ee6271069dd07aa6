import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Output, metrics and logs for the server's operator.
@Suite struct OperationsTests {
    @Test func readyJSONIsOneLineWithURLPidAndTokens() async throws {
        let server = try await SimProcess(["--in-memory", "--ready-json"])
        defer { server.stop() }
        #expect(server.greeting.filter { $0 == "\n" }.count == 1)
        let line = try WireJSON.decode(JSONValue.self, from: Data(server.greeting.utf8))
        #expect(line["url"].text == server.baseURL)
        #expect(line["tokens"] == ["DemoOrg": ["demo-api-token"], "OtherOrg": ["other-api-token"]])
        #expect(try #require(line["pid"].double) > 1)
        #expect(try await TestWorld(base: server.baseURL).send("GET", "/_sim/ready").status == 200)
    }

    @Test func thePingAnswersOnlyItsMethods() async throws {
        let root = TestWorld(base: SimProcess.shared.baseURL)
        let answer = try await root.send("GET", "/_sim/ping")
        #expect(answer.status == 200 && answer.body == Data("pong".utf8))
        #expect(try await root.send("HEAD", "/_sim/ping").status == 200)
        let refused = try await root.send("POST", "/_sim/ping")
        #expect(refused.status == 405 && refused.headers["Allow"] == ["GET, HEAD"])
    }

    @Test(arguments: [
        ("/_sim/authentications", "limit"), ("/sdk/captures", "limit"), ("/sdk/captures", "status"),
        ("/sdk/config", "config_type"),
    ])
    func anEmptyNumberOrWordIsRefused(path: String, key: String) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let answer = try await world.send("GET", "\(path)?\(key)=", token: token)
        #expect(answer.status == 400 && answer["details.0.field"] == .string(key))
        #expect(try await world.send("GET", "\(path)?cursor=", token: token).status == 200)
    }

    @Test func metricsCountAnswersByRoute() async throws {
        let server = try await SimProcess(["--in-memory", "--ready-json"])
        defer { server.stop() }
        let world = TestWorld(base: server.baseURL)
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/results/none", token: "x") }
        _ = try await world.send("GET", "/no/such")
        let answer = try await world.send("GET", "/_sim/metrics")
        #expect(answer.headers.first(name: "Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").map(String.init)
        let route = #"method="GET",route="/sdk/results/{entrupy_id}""#
        #expect(lines.contains("entrupy_sim_requests_total{\(route),status=\"401\"} 3"))
        #expect(lines.contains("entrupy_sim_request_duration_seconds_count{\(route)} 3"))
        #expect(lines.contains("entrupy_sim_request_duration_seconds_bucket{\(route),le=\"+Inf\"} 3"))
        #expect(
            lines.contains { $0.hasPrefix(#"entrupy_sim_requests_total{method="GET",route="NotFound",status="404"} "#) }
        )
        #expect(lines.contains("entrupy_sim_namespaces 1"))
        // Each metric has one type line before its values, and a histogram's buckets never decrease.
        let types = lines.filter { $0.hasPrefix("# TYPE ") }
        #expect(Set(types).count == types.count)
        let buckets = lines.filter { $0.hasPrefix("entrupy_sim_request_duration_seconds_bucket{\(route)") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(buckets == buckets.sorted() && buckets.count == 15)
    }

    /// Uses more namespaces than databases can be open, so some are closed. Clients must not notice.
    @Test func aNamespaceWhoseDatabaseWasClosedContinuesUnchanged() async throws {
        try await Process.withDirectory { directory in
            let server = try await SimProcess(["--data-dir", directory, "--ready-json"])
            defer { server.stop() }
            let world = try await TestWorld.make(in: server)
            let token = try await world.login()
            let id = try await world.submit(token)
            // The login and the capture made 10 requests.
            for _ in 0..<90 { _ = try await world.send("GET", "/sdk/session", token: token) }
            #expect(try await world.send("GET", "/sdk/session", token: token).status == 429)
            let before = try await world.send("GET", "/_sim/authentications/\(id)")
            var requestIDs: Set<String> = []
            for _ in 0..<2 {
                for _ in 0..<(requestIDs.isEmpty ? 202 : 1) { _ = try await TestWorld.make(in: server) }
                let refused = try await world.send("GET", "/sdk/session", token: token)
                #expect(refused.status == 429, "the clock stands still, and the window is what it was")
                #expect(requestIDs.insert(try #require(refused["request_id"].text)).inserted)
                #expect(try await world.send("GET", "/_sim/authentications/\(id)").json == before.json)
            }
            try await world.advance("5s")
            #expect(try await world.result(id, token)["status.result.id"] == "authentic")
            var files: [String] = []
            // Each open database has a log file. Idle databases are closed soon, but not at once.
            repeat {
                _ = try await TestWorld(base: server.baseURL).send("GET", "/_sim/health")
                files = try FileManager.default.contentsOfDirectory(atPath: directory + "/namespaces")
            } while files.count { $0.hasSuffix("-wal") } > 200
            #expect(files.count { $0.hasSuffix(".sqlite") } == 205)
        }
    }

    @Test func aRequestIsOneLineOfJSONWithoutItsToken() async throws {
        let server = try await SimProcess([
            "--in-memory", "--ready-json", "--log-format", "json", "--log-level", "info",
        ])
        defer { server.stop() }
        let world = TestWorld(base: server.baseURL)
        _ = try await world.send(
            "GET", "/ns/nowhere/sdk/session?x=secret", token: "secret", headers: ["X-Request-Id": "mine"])
        var lines: [JSONValue] = []
        while !lines.contains(where: { $0["message"] == "request" }) {
            let text = server.printed()
            #expect(!text.contains("secret"))
            lines += text.split(separator: "\n").compactMap {
                try? WireJSON.decode(JSONValue.self, from: Data($0.utf8))
            }
        }
        let line = try #require(lines.first { $0["message"] == "request" })
        #expect(line["request_id"] == "mine" && line["namespace"] == "nowhere" && line["status"] == "404")
        #expect(line["method"] == "GET" && line["path"] == "/sdk/session" && line["level"] == "info")
        #expect(line["time"].text?.hasSuffix("Z") == true)
        #expect(line["delivered"].text == nil)
    }

    @Test func theLogSaysWhichAnswersWereNotDelivered() async throws {
        let server = try await SimProcess([
            "--in-memory", "--ready-json", "--log-format", "json", "--log-level", "info",
        ])
        defer { server.stop() }
        let world = TestWorld(base: server.baseURL)
        let dropped: JSONValue = ["match": ["route": "/sdk/session"], "effect": ["drop_connection": true]]
        #expect(try await world.send("POST", "/_sim/faults", dropped).status == 201)
        await #expect(throws: (any Error).self) { try await world.send("GET", "/sdk/session") }
        var lines: [JSONValue] = []
        while !lines.contains(where: { $0["path"] == "/sdk/session" }) {
            lines += server.printed().split(separator: "\n").compactMap {
                try? WireJSON.decode(JSONValue.self, from: Data($0.utf8))
            }
        }
        let line = try #require(lines.first { $0["path"] == "/sdk/session" })
        #expect(line["delivered"] == "false")
        #expect(line["status"] == "401")
        #expect(lines.first { $0["path"] == "/_sim/faults" }?["delivered"].text == nil)
    }
}
