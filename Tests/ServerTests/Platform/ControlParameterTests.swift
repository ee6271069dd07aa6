import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Query parameters that a route does not have, and those without a value.
@Suite struct ControlParameterTests {
    /// The first example of the operation's request body, `nil` if it takes no JSON.
    private func body(_ operation: Contract.Operation) -> JSONValue? {
        let described = Contract.shared.resolved(operation.description["requestBody"])
        guard let media = described["content"].members?["application/json"] else { return nil }
        let examples = media["examples"].members ?? [:]
        return media.members?["example"] ?? examples.keys.min().flatMap { examples[$0]?["value"] }
    }

    @Test func everyControlRouteRefusesUnknownParametersAndDoesNothing() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let before = try await world.counts()
        // Pages of the console ignore parameters: a link may be of a later version.
        let pages: Set = [
            "/_sim/console", "/_sim/console/{section}", "/_sim/console/{section}/{name}",
            "/_sim/console/{section}/{name}/{id}",
        ]
        let routes = Contract.shared.operations.filter {
            ($0.path.hasPrefix("/_sim") || $0.path.hasPrefix("/openapi.")) && !pages.contains($0.path)
        }
        #expect(routes.count > 60)
        for operation in routes where operation.path != "/_sim/ping" {
            let path = operation.path.replacing(/\{[a-z_]+\}/, with: "x")
            let answer = try await world.send(operation.method, "\(path)?nonsense=1", body(operation))
            #expect(
                answer.status == 400 && answer["details"].items.contains { $0["field"] == "nonsense" },
                "\(operation.method) \(path): \(answer.status) \(answer.json)")
        }
        #expect(try await world.counts() == before)
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 200)
        #expect(try await world.send("GET", "/_sim/docs?token=any").status == 200)
    }

    @Test func everyControlRouteThatNeedsNoBodyRefusesOne() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let before = try await world.counts()
        let json = ["Content-Type": "application/json"]
        let routes = Contract.shared.operations.filter {
            $0.path.hasPrefix("/_sim/") && $0.method != "GET" && $0.description["requestBody"] == .null
        }
        #expect(routes.count > 15)
        for operation in routes {
            let query = operation.path == "/_sim/namespaces" ? "?prefix=none-\(getpid())" : ""
            let path = operation.path.replacing(/\{[a-z_]+\}/, with: "x") + query
            for (body, field) in [(#"{"x": 1}"#, "x"), ("[]", "body"), (#""""#, "body"), ("garbage", "body")] {
                let answer = try await world.send(operation.method, path, bytes: Data(body.utf8), headers: json)
                #expect(
                    answer.status == 400 && answer["details.0.field"].text == field,
                    "\(operation.method) \(path) \(body): \(answer.status) \(answer.json)")
            }
        }
        #expect(try await world.counts() == before)
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 200)
        for body in ["", "null", "{}"] {
            let resumed = try await world.send(
                "POST", "/_sim/clock/resume", bytes: Data(body.utf8), headers: json)
            #expect(resumed.status == 200, "\(body)")
        }
        // The platforms' routes and reads have none.
        #expect(try await world.send("GET", "/_sim/clock", bytes: Data("x".utf8)).status == 200)
        let logout = try await world.send("POST", "/sdk/logout", bytes: Data("x".utf8), token: session)
        #expect(logout.status < 300)
    }

    /// A variable that a script forgot to set must not turn a filter off. An empty `cursor` means the first page, so that a loop can
    /// begin with it, and an empty `token` is none.
    @Test func everyControlRouteRefusesEmptyParameters() async throws {
        let world = try await TestWorld.make()
        let before = try await world.counts()
        var checked = 0
        for operation in Contract.shared.operations where operation.path.hasPrefix("/_sim") {
            guard !operation.path.hasPrefix("/_sim/console") else { continue }
            let path = operation.path.replacing(/\{[a-z_]+\}/, with: "x")
            for described in operation.description["parameters"].items {
                let parameter = Contract.shared.resolved(described)
                guard parameter["in"] == "query", let name = parameter["name"].text,
                    !["cursor", "token"].contains(name)
                else { continue }
                let answer = try await world.send(operation.method, "\(path)?\(name)=", body(operation))
                #expect(
                    answer.status == 400 && answer["details"].items.contains { $0["field"] == .string(name) },
                    "\(operation.method) \(path) \(name): \(answer.status) \(answer.json)")
                checked += 1
            }
        }
        #expect(checked > 40)
        #expect(try await world.counts() == before)
    }

    @Test func thePlatformsRoutesIgnoreUnknownParameters() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        #expect(try await world.send("GET", "/sdk/session?nonsense=1", token: session).status == 200)
        let health = try await world.send(
            "GET", "/v1/health?nonsense=1", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
        #expect(health.status == 200)
    }
}
