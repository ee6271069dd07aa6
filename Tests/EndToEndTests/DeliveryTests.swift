import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Whether the client got the answer: in the journal, in archives, pages and verifications.
@Suite struct DeliveryTests {
    private func add(_ world: TestWorld, _ match: JSONValue, _ effect: JSONValue, times: JSONValue = 1) async throws
        -> JSONValue
    {
        let answer = try await world.send("POST", "/_sim/faults", ["match": match, "effect": effect, "times": times])
        try #require(answer.status == 201, "\(answer.json)")
        return answer["id"]
    }

    private func newest(_ world: TestWorld) async throws -> JSONValue {
        try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
    }

    private func verify(_ world: TestWorld, _ match: JSONValue, times: JSONValue? = nil) async throws -> Answer {
        try await world.send("POST", "/_sim/requests/verify", ["match": match, "times": times ?? .null])
    }

    /// The bytes of requests on one raw connection.
    private func raw(_ world: TestWorld, _ path: String, _ token: String, count: Int = 1) -> String {
        let target = String(world.base.dropFirst(SimProcess.shared.baseURL.count)) + path
        let one = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
        return String(repeating: one, count: count)
    }

    /// Reads the journal until every request of it is undelivered. Ends early if that does not come.
    private func untilLost(_ world: TestWorld, count: Int) async throws -> [JSONValue] {
        var lost: [JSONValue] = []
        for _ in 0..<5_000 {
            lost = try await world.send("GET", "/_sim/requests?delivered=false")["requests"].items
            if lost.count == count { break }
        }
        return lost
    }

    @Test func aDroppedAnswerIsNoSuccess() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let fault = try await add(world, ["method": "POST"], ["drop_connection": true])
        let item: JSONValue = ["item": TestWorld.nike]
        await #expect(throws: (any Error).self) {
            _ = try await world.send("POST", "/sdk/captures", item, token: token)
        }
        _ = try await world.send("DELETE", "/_sim/faults")
        let entry = try await newest(world)
        #expect(entry["status"] == 201 && entry["delivered"] == false && entry["decided_by.fault"] == fault)
        #expect(entry["effect"] == ["drop_connection": true], "the rule is deleted")
        let missed = try await verify(world, ["route": "/sdk/captures", "status": 201])
        #expect(missed.status == 409 && missed["count"] == 0)
        #expect(missed["nearest.0.request.delivered"] == false)
        #expect(
            missed["nearest.0.differences"] == [
                "was not delivered: connection reset; \"delivered\": \"any\" counts it too"
            ])
        for delivered: JSONValue in ["any", false, "false"] {
            let found = try await verify(
                world, ["route": "/sdk/captures", "status": "2xx", "delivered": delivered], times: 1)
            #expect(found.status == 200, "\(delivered)")
        }
        // The client tries again. Both count where no status is asked for.
        #expect(try await world.send("POST", "/sdk/captures", item, token: token).status == 201)
        #expect(try await verify(world, ["route": "/sdk/captures", "status": 201], times: 1).status == 200)
        #expect(try await verify(world, ["route": "/sdk/captures"], times: 1)["count"] == 2)
        #expect(try await verify(world, ["route": "/sdk/captures"], times: 2).status == 200)
        #expect(try await verify(world, ["route": "/sdk/captures", "delivered": true], times: 1).status == 200)
        let late = try await verify(world, ["route": "/sdk/captures", "delivered": false], times: 2)
        #expect(late["nearest.0.differences"] == ["was delivered"])
        #expect(try await world.send("GET", "/_sim/requests?status=201")["requests"].items.count == 2)
        #expect(try await world.send("GET", "/_sim/requests?delivered=false")["requests"].items.count == 1)
        let bad = try await verify(world, ["delivered": "maybe"])
        #expect(bad.status == 400 && bad["details.0.field"] == "match.delivered")
        let archive = try await world.send("GET", "/_sim/requests?format=har&delivered=false")
        #expect(archive["log.entries.0._delivered"] == false && archive["log.entries.0.response.status"] == 201)
        #expect(archive["log.entries.0._effect"] == ["drop_connection": true])
        #expect(archive["log.entries.0.response.statusText"] == "not delivered: connection reset")
        for page in ["/_sim/console", "/_sim/console/requests/\(entry["id"].text ?? "")"] {
            let text = try await world.send("GET", page, headers: ["Accept": "text/html"]).text
            #expect(text.contains("not delivered: connection reset"), "\(page)")
        }
    }

    @Test func aLostRequestIsNotHandledAndUsesNoLimit() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["logins_per_minute": 1]])
        let signed: JSONValue = ["signed_authorization_request": try await world.signedRequest()]
        let fault = try await add(world, ["route": "/sdk/login"], ["lose_request": true], times: 2)
        for _ in 0..<2 {
            await #expect(throws: (any Error).self) { _ = try await world.send("POST", "/sdk/login", signed) }
        }
        #expect(try await world.counts()["sessions"] == 0)
        let lost = try await newest(world)
        #expect(lost["status"] == .null && lost["delivered"] == false && lost["effect"] == ["lose_request": true])
        #expect(lost["decided_by.fault"] == fault && lost["changes.after"] == lost["changes.through"])
        let shown = try await world.send("GET", "/_sim/requests/\(lost["sequence"].integer ?? 0)")
        #expect(shown["response.headers"] == [] && shown["response.bytes"] == 0 && shown["request.bytes"] != 0)
        // Neither the limit nor the signed request is used.
        #expect(try await world.send("POST", "/sdk/login", signed).status == 200)
        for (match, count) in [
            (["route": "/sdk/login"], 3), (["route": "/sdk/login", "status": "2xx"], 1),
            (["route": "/sdk/login", "status": "5xx", "delivered": "any"], 0),
        ] as [(JSONValue, Int)] {
            let found = try await verify(world, match, times: .number(JSONNumber(count)))
            #expect(found.status == 200, "\(match): \(found.json)")
        }
        let missed = try await verify(world, ["route": "/sdk/login", "status": 401, "delivered": "any"])
        #expect(
            missed["nearest"].items.contains { $0["differences"] == ["status is null (the request was lost), not 401"] }
        )
        #expect(try await world.send("GET", "/_sim/stats")["requests.by_status.5xx"] == 0)
        let archive = try await world.send("GET", "/_sim/requests?format=har&delivered=false")
        #expect(archive["log.entries.0.response.status"] == 0 && archive["log.entries.0._delivered"] == false)
        let metrics = try await TestWorld(base: SimProcess.shared.baseURL).send("GET", "/_sim/metrics").text
        #expect(metrics.contains("route=\"/sdk/login\",status=\"none\""))
        for page in ["/_sim/console", "/_sim/console/requests/\(lost["id"].text ?? "")"] {
            let text = try await world.send("GET", page, headers: ["Accept": "text/html"]).text
            #expect(text.contains("not delivered: connection reset before the request was handled"), "\(page)")
        }
    }

    @Test func onlyABodyThatIsCutIsNotDelivered() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for (bytes, method, delivered) in [(10, "GET", false), (100_000, "GET", true), (10, "HEAD", true)] {
            _ = try await add(world, ["route": "/sdk/session"], ["truncate_body": .number(JSONNumber(bytes))])
            // A body that is cut ends the connection, which is an error here.
            _ = try? await world.send(method, "/sdk/session", token: token)
            let entry = try await newest(world)
            #expect(entry["method"].text == method && entry["status"] == 200)
            #expect(entry["delivered"] == .bool(delivered), "\(bytes) \(method)")
        }
        for effect: JSONValue in [
            ["status": 503], ["malformed_json": true], ["delay": "0.01s"], ["slow_body": 100_000],
        ] {
            _ = try await add(world, ["route": "/sdk/session"], effect)
            _ = try await world.send("GET", "/sdk/session", token: token)
            let entry = try await newest(world)
            #expect(entry["delivered"] == true && entry["effect"] == effect)
        }
        _ = try await world.send("GET", "/sdk/session", token: token)
        #expect(try await newest(world)["effect"] == .null)
    }

    @Test func anAnswerWhoseClientGoesIsNotDelivered() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await add(world, ["route": "/sdk/session"], ["slow_body": 20])
        let begun = try await RawConnection.open(.shared).exchange(raw(world, "/sdk/session", token)) {
            $0.contains("\r\n\r\n")
        }
        #expect(begun.contains("200 OK"))
        let lost = try await untilLost(world, count: 1)
        #expect(lost.first?["path"] == "/sdk/session" && lost.first?["status"] == 200)
        let missed = try await verify(world, ["route": "/sdk/session", "status": 200])
        let words = missed["nearest.0.differences.0"].text ?? ""
        #expect(words.hasPrefix("was not delivered: connection ended before the last byte was sent"), "\(words)")
    }

    /// A client that gives up has asked all the same: `times: 1` must find its retry to be the second request.
    ///
    /// Without a reset the client's system says no more than that it sends nothing more, as one does that still reads.
    @Test(arguments: [true, false])
    func anAnswerThatIsHeldBackCountsAtOnceAndIsLostIfItsClientGoes(resets: Bool) async throws {
        struct Gone: Error {}
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await add(world, ["route": "/sdk/session"], ["delay": "30m"])
        let connection = try await RawConnection.open(.shared, resets: resets)
        await #expect(throws: Gone.self) {
            _ = try await connection.exchange(
                raw(world, "/_sim/clock", token) + raw(world, "/sdk/session", token), orUntil: "never",
                until: { $0.contains("200 OK") }
            ) {
                for _ in 0..<5_000 {
                    if try await verify(world, ["route": "/sdk/session"], times: 1).status == 200 { break }
                }
                throw Gone()
            }
        }
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200)
        #expect(try await verify(world, ["route": "/sdk/session"], times: 1)["count"] == 2)
        let lost = try await untilLost(world, count: 1)
        #expect(lost.first?["effect"] == ["delay": "30m"] && (lost.first?["duration_ms"].double ?? 0) >= 1_800_000)
        #expect(try await verify(world, ["route": "/sdk/session", "status": 200], times: 1).status == 200)
    }

    /// HTTP/1.0 has no interim answers: a proxy that speaks it closes the connection when its own client has gone.
    @Test(arguments: [true, false])
    func aClientOfHTTP10ThatGoesHasNoAnswer(resets: Bool) async throws {
        struct Gone: Error {}
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await add(world, ["route": "/sdk/session"], ["hold": true])
        let old = raw(world, "/sdk/session", token).replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0")
        let connection = try await RawConnection.open(.shared, resets: resets)
        await #expect(throws: Gone.self) {
            _ = try await connection.exchange(
                raw(world, "/_sim/clock", token) + old, orUntil: "never", until: { $0.contains("200 OK") }
            ) {
                for _ in 0..<5_000 {
                    if try await !world.send("GET", "/_sim/held")["held"].items.isEmpty { break }
                }
                throw Gone()
            }
        }
        _ = try await world.send("DELETE", "/_sim/held")
        let lost = try await untilLost(world, count: 1)
        #expect(lost.first?["path"] == "/sdk/session" && lost.first?["delivered"] == false)
        #expect(try await verify(world, ["route": "/sdk/session", "status": 200], times: 0).status == 200)
    }

    @Test func aClientOfHTTP10ThatHasEndedItsSideAndReadsIsServed() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let old = raw(world, "/sdk/session", token).replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0")
        for effect: JSONValue in [["delay": "200ms"], ["delay": "1ms"]] {
            _ = try await add(world, ["route": "/sdk/session"], effect)
            let text = try await RawConnection.open(.shared, ends: true).exchangeAndEnd(old)
            #expect(text.split(separator: "HTTP/1.").count == 1 && text.hasSuffix("}"), "\(text)")
            #expect(try await newest(world)["delivered"] == true)
        }
    }

    /// Clients such as `nc -N` end their side and read on.
    @Test func aClientThatHasEndedItsSideAndReadsIsServed() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await add(world, ["route": "/sdk/session"], ["delay": "200ms"])
        let text = try await RawConnection.open(.shared, ends: true).exchangeAndEnd(raw(world, "/sdk/session", token))
        #expect(text.hasPrefix("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n"), "\(text)")
        #expect(try await verify(world, ["route": "/sdk/session", "status": 200], times: 1).status == 200)
        #expect(try await newest(world)["delivered"] == true)
    }

    /// The interim answer that finds out whether a client reads must not stand within an answer.
    @Test func anAnswerThatHasBegunHasNoOtherWithin() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await add(world, ["route": "/sdk/session"], ["slow_body": 2000])
        let text = try await RawConnection.open(.shared, ends: true).exchangeAndEnd(raw(world, "/sdk/session", token))
        // A busy server may have asked before it began.
        let interim = "HTTP/1.1 102 Processing\r\n\r\n"
        let answer = text.hasPrefix(interim) ? String(text.dropFirst(interim.count)) : text
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.split(separator: "HTTP/1.1 ").count == 1, "\(text)")
        #expect(try await newest(world)["delivered"] == true)
    }

    /// The bytes of these answers wait for the client, or for those before them.
    @Test func answersThatWaitForAClientThatGoesAreNotDelivered() async throws {
        struct Gone: Error {}
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let large = String(repeating: "x", count: 900_000)
        _ = try await add(world, [:], ["status": 200, "body": .string(large)], times: nil)
        let connection = try await RawConnection.open(.shared, receiveBuffer: 4096)
        @Sendable func count() async throws -> Int {
            Int(try await world.send("GET", "/_sim/stats")["requests.journaled"].double ?? 0)
        }
        await #expect(throws: Gone.self) {
            _ = try await connection.exchange(
                raw(world, "/sdk/session", "none", count: 40), orUntil: "never", until: { $0.contains("200 OK") }
            ) {
                // The kernel takes some megabytes. After them one answer waits in the server's buffer, and one for its turn.
                var (last, same) = (0, 0)
                while last < 2 || same < 100 {
                    let now = try await count()
                    (last, same) = (now, now == last ? same + 1 : 0)
                }
                throw Gone()
            }
        }
        var lost: [JSONValue] = []
        for _ in 0..<5_000 where lost.count < 2 {
            lost = try await world.send("GET", "/_sim/requests?delivered=false")["requests"].items
        }
        #expect(lost.count >= 2)
    }

    @Test func aScenarioCountsDeliveredAnswers() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            name: lost
            description: One answer is lost.
            faults:
              - {match: {route: /v1/health}, effect: {drop_connection: true}, times: 1}
            expect:
              - {route: /v1/health, status: 200, times: 0}
              - {route: /v1/health, status: 200, delivered: any, times: 1}
              - {route: /v1/health, delivered: false, times: 1}
              - {route: /v1/health, times: 1}
            """
        _ = try await world.send(
            "PUT", "/_sim/scenarios/lost", bytes: Data(scenario.utf8), headers: ["Content-Type": "application/yaml"])
        #expect(try await world.send("POST", "/_sim/scenarios/lost/start").status == 200)
        let token = TestWorld.apiToken
        _ = try? await world.send("GET", "/v1/health", token: token, headers: ["Api-Version": "1.4"])
        let verified = try await world.send("POST", "/_sim/scenarios/lost/verify")
        #expect(verified.status == 200, "\(verified.json)")
        let texts = verified["expectations"].items.compactMap { $0["expectation"].text }
        #expect(
            texts.contains { $0.contains("-> 200 delivered or not") }
                && texts.contains { $0.contains("not delivered") }, "\(texts)")
    }
}
