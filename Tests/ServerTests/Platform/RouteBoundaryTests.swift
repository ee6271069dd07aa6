import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `Host`, `Origin` and methods, which are checked on every route before anything else. Heads are read exactly in the `BoundaryTests`
/// of `EndToEndTests`.
@Suite struct RouteBoundaryTests {
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

    @Test func aBrowserGetsAPageThatNamesTheOption() async throws {
        for path in ["/", "/_sim/console", "/ns/x/_sim/console/items"] {
            let answer = try await TestWorld.server.send(
                "GET", path, headers: ["Host": "sim.example.com", "Accept": "text/html,*/*"])
            #expect(answer.status == 403 && answer.text.hasPrefix("<!doctype html>"), "\(path)")
            #expect(answer.text.contains("--allowed-hosts sim.example.com"))
        }
    }
}
