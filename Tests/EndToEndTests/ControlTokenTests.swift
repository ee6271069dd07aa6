import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The control token of a server that other machines can reach.
@Suite struct ControlTokenTests {
    private func status(
        _ server: SimProcess, _ path: String, _ headers: [String: String] = [:]
    ) async throws -> Int {
        try await TestWorld(base: server.baseURL).send("GET", path, headers: headers).status
    }

    @Test func aControlTokenIsRequiredOnceSet() async throws {
        let server = try await SimProcess(["--in-memory", "--control-token", "s3cret/=;"])
        let named = ["X-Sim-Control-Token": "s3cret/=;"]
        for path in ["/_sim/info", "/_sim/clock", "/ns/default/_sim/clock", "/_sim/metrics"] {
            #expect(try await status(server, path) == 401, "\(path)")
            #expect(try await status(server, path, ["X-Sim-Control-Token": "s3cret/=,"]) == 401)
            #expect(try await status(server, path, named) == 200)
        }
        for path in ["/_sim/health", "/_sim/ready", "/_sim/ping", "/openapi.yaml", "/openapi.json"] {
            #expect(try await status(server, path) == 200, "\(path)")
        }
        #expect(
            try await status(server, "/v1/health", ["Authorization": "Token demo-api-token", "Api-Version": "1.0"])
                == 200)
        server.stop()
    }

    @Test func aPagesAddressSetsACookieThatServesAsTheToken() async throws {
        let server = try await SimProcess(["--in-memory", "--control-token", "s3cret/=;"])
        let world = TestWorld(base: server.baseURL)
        #expect(try await world.send("GET", "/_sim/docs").status == 401)
        #expect(try await world.send("GET", "/_sim/docs?token=wrong").status == 401)
        #expect(try await world.send("GET", "/_sim/clock?token=s3cret%2F%3D%3B").status == 401, "pages alone")
        let connection = try await RawConnection.open(server)
        // A browser with the cookie of an earlier server, whose token was different.
        let page = try await connection.exchange(
            """
            GET /_sim/docs?token=s3cret%2F%3D%3B HTTP/1.1\r\nHost: localhost\r\nCookie: sim_control_token=old\r\n\
            Connection: close\r\n\r\n
            """)
        #expect(page.hasPrefix("HTTP/1.1 303") && page.contains("Location: /_sim/docs\r\n"))
        let cookie = try #require(page.firstMatch(of: /Set-Cookie: ([^;]+); Path=\/; HttpOnly; SameSite=Strict/))
        let pair = String(cookie.1)
        #expect(try await status(server, "/_sim/docs", ["Cookie": "other=1; \(pair)"]) == 200)
        #expect(try await status(server, "/_sim/clock", ["Cookie": pair]) == 200)
        let docs = try await world.send("GET", "/_sim/docs", headers: ["X-Sim-Control-Token": "s3cret/=;"])
        #expect(String(decoding: docs.body, as: UTF8.self).contains(" data-control>"), "its commands have the token")
        #expect(try await status(server, "/_sim/clock", ["Cookie": "sim_control_token=x"]) == 401)
        server.stop()
    }

    @Test func aServerThatOthersCanReachGeneratesAndPrintsAToken() async throws {
        let server = try await SimProcess(["--in-memory", "--host", "0.0.0.0"])
        let local = TestWorld(base: server.baseURL.replacing("0.0.0.0", with: "127.0.0.1"))
        let token = try #require(server.greeting.firstMatch(of: /X-Sim-Control-Token: (ctl-[0-9a-z]{52})/)?.1)
        #expect(try await local.send("GET", "/_sim/clock").status == 401)
        #expect(
            try await local.send("GET", "/_sim/clock", headers: ["X-Sim-Control-Token": String(token)]).status == 200)
        server.stop()
    }

    @Test func anOpenServerNeedsNoControlToken() async throws {
        let server = try await SimProcess(["--in-memory", "--host", "0.0.0.0", "--control-open"])
        #expect(!server.greeting.contains("ctl-"))
        let local = TestWorld(base: server.baseURL.replacing("0.0.0.0", with: "127.0.0.1"))
        #expect(try await local.send("GET", "/_sim/clock").status == 200)
        server.stop()
    }

    @Test func theFlagsAreChecked() async throws {
        for arguments in [
            ["--control-open", "--control-token", "x"], ["--control-token", "a b"], ["--control-token", ""],
        ] {
            let run = try await SimProcess.run(["serve", "--in-memory"] + arguments)
            #expect(run.status == 64 && run.output.contains("--control-"), "\(run.output)")
        }
    }
}
