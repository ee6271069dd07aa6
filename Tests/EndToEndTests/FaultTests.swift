import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Faults that change the bytes of an answer, or when it comes. Which requests meet a fault is in `FaultRuleTests` and `FaultRequestTests`.
@Suite struct FaultTests {
    /// A namespace with a session and a fault that triggers once; its id is the fault's.
    private func world(_ effect: JSONValue, on route: JSONValue = "/sdk/session") async throws
        -> (world: TestWorld, token: String, id: String)
    {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let answer = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": route], "effect": effect, "times": 1])
        try #require(answer.status == 201, "\(answer.json)")
        return (world, token, try #require(answer["id"].text))
    }

    /// The raw bytes of the answers to some requests, until the connection closes.
    private func raw(_ world: TestWorld, _ lines: String..., token: String) async throws -> String {
        let requests = lines.enumerated().map { number, line in
            let words = line.split(separator: " ")
            return
                "\(words[0]) /ns/\(world.name)\(words[1]) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n"
                + (words[0] == "POST" ? "Content-Length: 0\r\n" : "")
                + (number == lines.count - 1 ? "Connection: close\r\n\r\n" : "\r\n")
        }
        return try await RawConnection.open(.shared).exchange(requests.joined())
    }

    /// A client would take the bytes of a body for the beginning of the next answer.
    @Test(arguments: [204, 205, 304]) func aStatusWithoutABodyHasNone(status: Int) async throws {
        let (world, token, _) = try await world(["status": .number(JSONNumber(status))])
        let answer = try await raw(world, "GET /sdk/session", token: token)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.hasSuffix("\r\n\r\n"))
    }

    @Test func aTruncatedBodyHasItsFullLengthAndLessData() async throws {
        let (world, token, _) = try await world(["truncate_body": "10 B"])
        let effect = try await world.send("GET", "/_sim/faults")["faults.0.effect.truncate_body"]
        #expect(effect == 10, "answers have a number of bytes")
        let text = try await raw(world, "GET /sdk/session", token: token)
        let length = text.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
        #expect(length > 100 && text.components(separatedBy: "\r\n\r\n").last?.utf8.count == 10)
    }

    @Test func malformedJSONHasItsDeclaredLength() async throws {
        let (world, token, _) = try await world(["malformed_json": true])
        let text = try await raw(world, "GET /sdk/session", token: token)
        let body = text.components(separatedBy: "\r\n\r\n").last ?? ""
        #expect(text.contains("200 OK") && text.contains("Content-Length: \(body.utf8.count)\r\n"))
        #expect(body.hasPrefix("{") && (try? JSONSerialization.jsonObject(with: Data(body.utf8))) == nil)
    }

    /// A byte more would be taken for the beginning of the connection's next answer.
    @Test(arguments: [["malformed_json": true], ["slow_body": 20], ["truncate_body": 0]] as [JSONValue])
    func anAnswerThatHasNoBodyGetsNone(effect: JSONValue) async throws {
        let (world, token, id) = try await world(effect, on: "/sdk/logout")
        let text = try await raw(world, "POST /sdk/logout", "GET /sdk/session", token: token)
        let answers = text.components(separatedBy: "\r\n\r\n")
        try #require(answers.count == 3, "\(text)")
        #expect(answers[0].hasPrefix("HTTP/1.1 204 No Content\r\n") && answers[0].contains("X-Sim-Fault: \(id)"))
        #expect(answers[1].hasPrefix("HTTP/1.1 401 Unauthorized\r\n"), "\(text)")
    }

    @Test(
        arguments: [["delay": "0.05s"], ["delay": ["uniform": ["0.01s", "0.05s"]]], ["slow_body": 5000]] as [JSONValue])
    func aSlowAnswerIsComplete(effect: JSONValue) async throws {
        let (world, token, id) = try await world(effect)
        let slow = try await world.send("GET", "/sdk/session", token: token)
        #expect(slow.status == 200 && slow["username"] == "DemoOrg-example-user-id")
        #expect(slow.headers["X-Sim-Fault"] == [id])
    }

    @Test func aDelayHoldsUpOnlyItsOwnRequest() async throws {
        let (world, token, _) = try await world(["delay": "30m"])
        let waiting = Task { try await world.send("GET", "/sdk/session", token: token) }
        while try await world.send("GET", "/_sim/faults")["faults.0.hits"] != 1 { await Task.yield() }
        #expect(try await world.send("GET", "/sdk/config", token: token).status == 200)
        waiting.cancel()
    }

    @Test func rulesSurviveTheDeathOfTheProcessWithTheirCounts() async throws {
        try await Process.withDirectory { directory in
            let first = try await SimProcess(["--data-dir", directory])
            let before = TestWorld(base: first.baseURL)
            let token = try await before.login()
            _ = try await before.send("POST", "/_sim/faults", ["effect": ["status": 500], "times": 3])
            for _ in 0..<2 { #expect(try await before.send("GET", "/sdk/session", token: token).status == 500) }
            first.kill()
            let second = try await SimProcess(["--data-dir", directory])
            defer { second.stop() }
            let world = TestWorld(base: second.baseURL)
            for status in [500, 200] {
                #expect(try await world.send("GET", "/sdk/session", token: token).status == status)
            }
        }
    }
}
