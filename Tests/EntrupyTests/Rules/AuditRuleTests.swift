import Foundation
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Evidence
@testable import Simulation

/// Who sent a request, as an audit tells it: clients that look as if they broke a rule, and those that do [D audit].
@Suite struct AuditRuleTests {
    /// A request as a journal has it.
    struct Sent: JournalHeaders, JournalBody {
        /// The real time of its beginning in seconds.
        var second: Double
        var target = "/v2/authentications/ABC"
        var method = "GET"
        var status = 200
        /// The user; `nil` for one that only has a token.
        var user: String?
        var token: String? = "api-token"
        var agent: String? = "app/1.0"
        var connection: Int?
        /// The address that a proxy names.
        var forwardedFor: String?
        /// The `Retry-After` of a 429.
        var retryAfter = "\(Sent.retryAfter)"
        /// The number of seconds until its answer.
        var lasts = 0.001
        var hasArrived = true
        var sent = ""
        var answer = "{}"
        /// The number of the last event before it, and that of its own last one.
        var changes: Int64 = 0

        static let retryAfter = 5

        static func refused(_ second: Double, _ connection: Int? = nil) -> Sent {
            Sent(second: second, status: 429, connection: connection)
        }

        static func right(_ second: Double, _ connection: Int? = nil) -> Sent {
            Sent(second: second, connection: connection)
        }

        var pairs: [(name: String, value: String)] {
            [
                ("Authorization", token.map { "Token \($0)" }), ("User-Agent", agent),
                ("Content-Type", "application/json"), ("X-Forwarded-For", forwardedFor),
            ].compactMap { name, value in value.map { (name, $0) } }
        }

        var data: Data { Data(sent.utf8) }

        fileprivate struct Answered: JournalHeaders, JournalBody {
            let request: Sent
            var pairs: [(name: String, value: String)] {
                request.status == 429 ? [("Retry-After", request.retryAfter)] : []
            }
            var data: Data { Data(request.answer.utf8) }
        }

        /// - Parameter isFrozen: whether the namespace's clock stands still.
        func entry(_ sequence: Int64, generation: Int, isFrozen: Bool, realTime: Instant) -> JournalEntry {
            let passed = Span(microseconds: Int64(second * 1_000_000))
            var outcome = RequestOutcome(
                sequence, at: isFrozen ? RuleBench.morning : RuleBench.morning + passed, generation: generation,
                journal: .init(entries: 20_000, bytes: 64 << 20, bodyBytes: 1000), secrets: [])
            outcome.change { outcome in
                outcome.username = user
                outcome.changes = (changes, changes)
            }
            let parts = target.split(separator: "?", maxSplits: 1)
            let answered = Answered(request: self)
            var entry = JournalEntry(
                requestID: "r\(sequence)", method: method, path: String(parts[0]),
                query: parts.count > 1 ? "?\(parts[1])" : "", status: status, milliseconds: lasts * 1000,
                outcome: outcome,
                request: .init(length: data.count, kept: data.count, headers: self, body: self),
                response: .init(
                    length: answer.utf8.count, kept: answer.utf8.count, headers: answered, body: answered))
            let started = realTime + passed
            entry.times = RequestTimes(
                started: started, ended: started + Span(microseconds: Int64(lasts * 1_000_000)))
            entry.connection = connection
            entry.hasArrived = hasArrived
            return entry
        }
    }

    /// The judgement of a rule about requests.
    private func audit(
        _ rule: String, _ requests: [Sent], in bench: RuleBench? = nil, isFrozen: Bool = false,
        realTime: Instant = RuleBench.morning
    ) async throws -> (findings: [AuditReport.Finding], notJudged: String?) {
        var bench = bench
        if bench == nil { bench = try await RuleBench() }
        let namespace = try #require(bench).namespace
        for (index, request) in requests.enumerated() {
            await namespace.append(
                request.entry(
                    Int64(index) + 1, generation: namespace.outbox.generation, isFrozen: isFrozen, realTime: realTime))
        }
        let filter = AuditFilter(rule: rule, level: nil)
        let material = try await namespace.answer(.success(Audit(filter)), RequestHead(isControl: true)).result.get()
        let report = material.report(KnownMembers([]))
        return (report.findings, report.rules.first?.not_judged)
    }

    private func places(_ findings: [AuditReport.Finding]) -> [[Int64]] { findings.map { $0.requests.map(\.sequence) } }

    // MARK: Retries

    /// Each of two workers with a token waits its own time, on connections of their own, on shared ones, or on one for each request.
    @Test(arguments: [[1, 2, 1, 2], [1, 1, 1, 1], [nil, nil, nil, nil]] as [[Int?]])
    func workersThatWaitTheirOwnTimeAreNotBlamed(_ on: [Int?]) async throws {
        let judged = try await audit(
            "retry-too-soon", [.refused(0, on[0]), .refused(1, on[1]), .right(5.1, on[2]), .right(6.1, on[3])])
        #expect(judged.findings.isEmpty && judged.notJudged == nil, "\(judged)")
    }

    @Test(arguments: [1, nil] as [Int?])
    func aClientThatDoesNotWaitIsBlamedWhateverItsConnections(_ connection: Int?) async throws {
        let judged = try await audit("retry-too-soon", [.refused(0, connection), .right(1, connection)])
        #expect(places(judged.findings) == [[1, 2]] && judged.notJudged == nil)
    }

    @Test func aWorkerThatDoesNotWaitIsBlamedBesideOneThatDoes() async throws {
        let judged = try await audit(
            "retry-too-soon", [.refused(0, 1), .refused(0.5, 2), .right(1, 2), .right(5.1, 1), .right(6, 2)])
        #expect(places(judged.findings) == [[2, 3]])
    }

    @Test func aClientThatTriesAgainAndAgainIsBlamed() async throws {
        let judged = try await audit(
            "retry-too-soon", [.refused(0), .refused(0.2), .refused(0.4), .right(0.6)])
        #expect(judged.findings.map(\.count) == [3])
    }

    @Test func workersThatGiveUpAfterThreeTriesAreNotBlamed() async throws {
        let judged = try await audit(
            "retry-too-soon",
            [.refused(0), .refused(1), .refused(5.1), .refused(6.1), .refused(10.2), .refused(11.2)])
        #expect(judged.findings.isEmpty)
        #expect(judged.notJudged?.contains("another client with the same token") == true)
    }

    @Test func requestsOnTheirWayTogetherAreOfSeveralClients() async throws {
        var slow = Sent.refused(0)
        slow.lasts = 0.5
        let judged = try await audit("retry-too-soon", [slow, .refused(0.1), .right(1)])
        #expect(judged.findings.isEmpty && judged.notJudged != nil)
    }

    @Test func anotherConnectionMayBeAnotherClients() async throws {
        let judged = try await audit(
            "retry-too-soon", [.right(0, 1), .refused(1, 1), .right(2, 2), .right(9, 2)])
        #expect(judged.findings.isEmpty && judged.notJudged != nil)
    }

    @Test func twoDevicesOfAUserAreTwo() async throws {
        func sent(_ second: Double, _ token: String, _ status: Int) -> Sent {
            Sent(second: second, status: status, user: "DemoOrg-a", token: token)
        }
        let right = try await audit("retry-too-soon", [sent(0, "one", 429), sent(1, "two", 200), sent(6, "one", 200)])
        #expect(right.findings.isEmpty && right.notJudged == nil)
        let wrong = try await audit("retry-too-soon", [sent(0, "one", 429), sent(1, "one", 200)])
        #expect(places(wrong.findings) == [[1, 2]])
    }

    /// A proxy's connections are for all clients.
    @Test func anAgentTellsClientsApart() async throws {
        var other = Sent.right(1)
        other.agent = "other/2.0"
        #expect(try await audit("retry-too-soon", [.refused(0), other]).findings.isEmpty)
    }

    // MARK: Retries that never came

    private func going(_ second: Double) -> Sent { Sent(second: second, target: "/v1/health") }

    @Test func aClientThatGoesOnWithoutARetryIsBlamedWhenItWasDue() async throws {
        let due = try await audit("no-retry", [.refused(0), going(6)])
        #expect(due.findings.isEmpty && due.notJudged?.contains("may still have been due") == true)
        #expect(places(try await audit("no-retry", [.refused(0), going(6), going(20)]).findings) == [[1]])
    }

    @Test func aClientMayGiveUpAfterARetry() async throws {
        let right = try await audit("no-retry", [.refused(0), .refused(5.1), .refused(11), going(60)])
        #expect(right.findings.isEmpty)
        let wrong = try await audit("no-retry", [.refused(0), .right(5.1), .refused(11), going(60)])
        #expect(places(wrong.findings) == [[3]])
    }

    @Test func anonymousReadersAreMany() async throws {
        func sent(_ second: Double, _ target: String, _ status: Int, _ connection: Int?) -> Sent {
            Sent(second: second, target: target, status: status, token: nil, connection: connection)
        }
        let right = try await audit(
            "no-retry", [sent(0, "/certificates/A", 429, nil), sent(60, "/certificates/B", 200, nil)])
        #expect(right.findings.isEmpty && right.notJudged?.contains("anonymous") == true)
        let wrong = try await audit(
            "no-retry", [sent(0, "/certificates/A", 429, 1), sent(60, "/certificates/B", 200, 1)])
        #expect(places(wrong.findings) == [[1]])
    }

    @Test func aCancelledUploadIsNotRepeated() async throws {
        func upload(hasArrived: Bool = true) -> Sent {
            var sent = Sent(second: 0, target: "/sdk/captures/cap_1/images/heel", method: "PUT", status: 429)
            sent.hasArrived = hasArrived
            return sent
        }
        func end(_ capture: String) -> Sent {
            Sent(second: 1, target: "/sdk/captures/\(capture)/cancel", method: "POST", answer: "")
        }
        #expect(try await audit("no-retry", [upload(hasArrived: false), going(60)]).findings.isEmpty)
        #expect(try await audit("no-retry", [upload(), end("cap_1"), going(60)]).findings.isEmpty)
        #expect(places(try await audit("no-retry", [upload(), end("cap_2"), going(60)]).findings) == [[1]])
    }

    @Test func alogoutIsNoSignThatAClientGoesOn() async throws {
        let end = Sent(second: 60, target: "/sdk/logout", method: "POST", status: 204, answer: "")
        #expect(try await audit("no-retry", [.refused(0), end]).findings.isEmpty)
    }

    @Test func aWebhookThatCameMakesTheRetryNeedless() async throws {
        func judged(_ status: Int) async throws -> [AuditReport.Finding] {
            let bench = try await RuleBench()
            _ = try await bench.subscribe()
            let id = try await bench.submit(try await bench.login())
            try await bench.deliver(status)
            var poll = Sent.refused(0)
            poll.target = "/v2/authentications/\(id)"
            return try await audit("no-retry", [poll, going(60)], in: bench).findings
        }
        #expect(try await judged(200).isEmpty)
        #expect(try await judged(500).count == 1)
    }

    /// The time counts after which the delivery failed, and not the one after which it would fail now.
    @Test(arguments: [("10s", "1s", 0), ("1s", "10s", 1)])
    func aReceiverIsJudgedByTheTimeOfThen(_ then: String, _ now: String, _ count: Int) async throws {
        let bench = try await RuleBench(settings: ["webhooks": ["timeout": .string(then)]])
        _ = try await bench.subscribe()
        _ = try await bench.submit(try await bench.login())
        try await bench.deliver(200, milliseconds: 900)
        _ = try await bench.control(PatchSettings(["webhooks": ["timeout": .string(now)]]))
        #expect(try await audit("slow-receiver", [], in: bench).findings.count == count)
    }

    // MARK: Polling and pages

    private func poll(_ second: Double, _ connection: Int? = nil, token: String = "api-token", lasts: Double = 0.001)
        -> Sent
    {
        var sent = Sent(second: second, token: token, connection: connection)
        sent.answer = #"{"status": {"eta": {"epoch": 9999999999}}}"#
        sent.lasts = lasts
        return sent
    }

    @Test func twoDevicesThatPollAreNotBlamed() async throws {
        let tokens = try await audit(
            "polling-too-tight",
            [poll(0, token: "a"), poll(0.5, token: "b"), poll(1, token: "a"), poll(1.5, token: "b")])
        #expect(tokens.findings.isEmpty && tokens.notJudged == nil)
        let connections = try await audit("polling-too-tight", [poll(0, 1), poll(0.5, 2), poll(1, 1), poll(1.5, 2)])
        #expect(connections.findings.isEmpty)
        let unknown = try await audit("polling-too-tight", [poll(0), poll(0.5), poll(1), poll(1.5)])
        #expect(unknown.findings.isEmpty && unknown.notJudged?.contains("two clients") == true)
    }

    @Test func aDeviceThatPollsTooOftenIsBlamed() async throws {
        #expect(places(try await audit("polling-too-tight", [poll(0, 1), poll(0.5, 1)]).findings) == [[1, 2]])
        #expect(places(try await audit("polling-too-tight", [poll(0), poll(0.2), poll(0.4)]).findings) == [[2, 3]])
    }

    /// It may have been known by a webhook.
    @Test func anAnswerThatHasChangedMayBeAskedForAtOnce() async throws {
        var changed = poll(0.5, 1)
        changed.answer = "{}"
        #expect(try await audit("polling-too-tight", [poll(0, 1), changed]).findings.isEmpty)
    }

    @Test func aClientThatGaveUpWaitingMayAskAgain() async throws {
        let right = try await audit("polling-too-tight", [poll(0, 1, lasts: 0.7), poll(0.5, 1, lasts: 0.7)])
        #expect(right.findings.isEmpty)
        func page(_ second: Double, lasts: Double) -> Sent {
            Sent(second: second, target: "/v2/authentications?cursor=abc", connection: 1, lasts: lasts)
        }
        #expect(try await audit("page-fetched-twice", [page(0, lasts: 0.7), page(0.5, lasts: 0.1)]).findings.isEmpty)
        let wrong = try await audit("page-fetched-twice", [page(0, lasts: 0.1), page(0.5, lasts: 0.1)])
        #expect(places(wrong.findings) == [[1, 2]])
    }

    @Test func aPageMayBeFetchedAgainAfterAWrite() async throws {
        func pages(_ changes: Int64...) async throws -> [[Int64]] {
            let sent = changes.enumerated().map { index, change in
                Sent(
                    second: Double(index) / 2, target: "/v2/authentications?cursor=abc", connection: 1, changes: change)
            }
            return places(try await audit("page-fetched-twice", sent).findings)
        }
        #expect(try await pages(1, 2) == [])
        #expect(try await pages(2, 2) == [[1, 2]])
    }

    @Test func twoDevicesThatPageAreNotBlamed() async throws {
        func page(_ second: Double, _ connection: Int?, token: String = "api-token") -> Sent {
            Sent(second: second, target: "/v2/authentications?cursor=abc", token: token, connection: connection)
        }
        let right = try await audit("page-fetched-twice", [page(0, nil, token: "a"), page(0.5, nil, token: "b")])
        #expect(right.findings.isEmpty && right.notJudged == nil)
        let unknown = try await audit("page-fetched-twice", [page(0, nil), page(0.5, nil)])
        #expect(unknown.findings.isEmpty && unknown.notJudged != nil)
        let wrong = try await audit("page-fetched-twice", [page(0, nil), page(0.3, nil), page(0.6, nil)])
        #expect(places(wrong.findings) == [[2, 3]])
    }

    // MARK: Logins

    private func login(
        _ second: Double, _ token: String, _ connection: Int? = nil, lasts: Double = 0.001, life: Int = 3600
    )
        -> Sent
    {
        var sent = Sent(
            second: second, target: "/sdk/login", method: "POST", user: "DemoOrg-a", token: nil, connection: connection,
            lasts: lasts)
        sent.sent = #"{"signed_authorization_request": "\#(token)"}"#
        sent.answer = #"{"token": "\#(token)", "expiration_time": \#(RuleBench.morning.epoch + Double(life))}"#
        return sent
    }

    private func call(_ second: Double, _ token: String, _ connection: Int? = nil, _ target: String = "/sdk/session")
        -> Sent
    {
        Sent(
            second: second, target: target, method: target == "/sdk/logout" ? "POST" : "GET",
            user: "DemoOrg-a", token: token, connection: connection, answer: "")
    }

    @Test func aProxyTellsItsCallersApart() async throws {
        func asked(_ second: Double, _ address: String, _ status: Int) -> Sent {
            Sent(second: second, status: status, connection: 1, forwardedFor: address)
        }
        let two = try await audit("retry-too-soon", [asked(0, "1.1.1.1", 429), asked(1, "1.1.1.2", 200)])
        #expect(two.findings.isEmpty)
        let one = try await audit("retry-too-soon", [asked(0, "1.1.1.1", 429), asked(1, "1.1.1.1", 200)])
        #expect(places(one.findings) == [[1, 2]])
    }

    @Test func theOrderOfAQueryIsNoDifference() async throws {
        let target = "/v2/authentications/ABC"
        let judged = try await audit(
            "retry-too-soon",
            [
                Sent(second: 0, target: target + "?a=1&b=2", status: 429, connection: 1),
                Sent(second: 1, target: target + "?b=2&a=1", connection: 1),
                Sent(second: 2, target: target + "?b=2&a=2", connection: 1),
            ])
        #expect(places(judged.findings) == [[1, 2]])
    }

    /// Many libraries write members in another order each time.
    @Test func theOrderOfMembersIsNoDifference() async throws {
        func asked(_ second: Double, _ body: String, _ status: Int = 200) -> Sent {
            Sent(
                second: second, target: "/v2/authentications/search", method: "POST", status: status, connection: 1,
                sent: body)
        }
        let judged = try await audit(
            "retry-too-soon",
            [
                asked(0, #"{"limit": 5, "filters": {"a": [1, 2], "b": 1.0}}"#, 429),
                asked(1, #"{"limit": 5, "filters": {"a": [2, 1], "b": 1}}"#),
                asked(2, #"{"filters":{"b":1,"a":[1,2]},"limit":5}"#),
            ])
        #expect(places(judged.findings) == [[1, 3]])
    }

    /// jQuery and others add it so that no cache answers.
    @Test func aParameterAgainstCachesIsNoDifference() async throws {
        func asked(_ second: Double, _ query: String) -> Sent {
            var sent = poll(second, 1)
            sent.target += query
            return sent
        }
        let judged = try await audit("polling-too-tight", [asked(0, "?_=17000000001"), asked(0.2, "?_=17000000002")])
        #expect(places(judged.findings) == [[1, 2]])
        #expect(try await audit("polling-too-tight", [asked(0, "?a=1"), asked(0.2, "?a=2")]).findings.isEmpty)
    }

    @Test func aRetryAfterThatIsNoNumberIsNotJudged() async throws {
        let date = Sent(second: 0, status: 429, connection: 1, retryAfter: "Sun, 06 Nov 2044 08:49:37 GMT")
        let judged = try await audit("retry-too-soon", [date, .right(1, 1)])
        #expect(judged.findings.isEmpty && judged.notJudged?.contains("no number of seconds") == true)
    }

    @Test func aListThatBeginsAnewWasTriedAgain() async throws {
        let list = "/sdk/captures?limit=5"
        let refused = Sent(second: 1, target: list + "&cursor=x", status: 429, connection: 1)
        let next = Sent(second: 60, connection: 1)
        let again = Sent(second: 30, target: list, connection: 1)
        #expect(try await audit("no-retry", [refused, again, next]).findings.isEmpty)
        #expect(try await audit("no-retry", [refused, next]).findings.count == 1)
    }

    /// A session is renewed at its soft end, as the vendor asks.
    @Test func aLoginAtTheSoftEndIsNotBlamed() async throws {
        let logins = (1...4).map { number -> Sent in
            var sent = login(Double(number * 100), "\(number)", 1, life: 36_000)
            let end = RuleBench.morning.epoch + Double(number * 100 + 100)
            sent.answer = sent.answer.dropLast() + #", "soft_expiration_time": \#(end)}"#
            return sent
        }
        let judged = try await audit("login-each-time", logins)
        #expect(judged.findings.isEmpty && judged.notJudged == nil, "\(judged)")
    }

    /// Without lasting connections one program cannot be told from tablets, which is said.
    @Test func loginsThatMayBeOfSeveralDevicesAreNotJudged() async throws {
        let judged = try await audit(
            "login-each-time",
            (1...3).flatMap {
                [login(Double($0), "\($0)"), call(Double($0) + 0.1, "\($0)"), call(Double($0) + 0.2, "\($0)")]
            })
        #expect(judged.findings.isEmpty && judged.notJudged?.contains("cannot be told from devices") == true)
    }

    @Test func threeTabletsOfAnAccountAreNotBlamed() async throws {
        let inUse = try await audit(
            "login-each-time",
            (1...3).flatMap { [login(Double($0), "\($0)", 1), call(Double($0) + 0.1, "\($0)", 1)] }
                + (1...3).map { call(5, "\($0)", 1) })
        #expect(inUse.findings.isEmpty)
        let apart = try await audit(
            "login-each-time",
            (1...3).flatMap { [login(Double($0), "\($0)", $0), call(Double($0) + 0.1, "\($0)", $0)] })
        #expect(apart.findings.isEmpty)
    }

    @Test(arguments: [1, nil] as [Int?]) func aLoginForEachCallIsBlamed(_ connection: Int?) async throws {
        let judged = try await audit(
            "login-each-time",
            (1...3).flatMap { [login(Double($0), "\($0)", connection), call(Double($0) + 0.1, "\($0)", connection)] })
        #expect(places(judged.findings) == [[1, 5]])
        #expect(judged.findings.first?.text.hasPrefix("login 3 of DemoOrg-a while 2 sessions") == true)
    }

    @Test func aLogoutAroundEachCallIsBlamed() async throws {
        func work(_ calls: Int) -> [Sent] {
            (1...4).flatMap { number -> [Sent] in
                let (second, token) = (Double(number), "\(number)")
                return [login(second, token, number)] + (0..<calls).map { _ in call(second + 0.1, token, number) }
                    + [call(second + 0.2, token, number, "/sdk/logout")]
            }
        }
        #expect(places(try await audit("login-each-time", work(1)).findings) == [[10]])
        #expect(try await audit("login-each-time", work(0)).findings.isEmpty)
        #expect(try await audit("login-each-time", work(2)).findings.isEmpty)
    }

    @Test func aLoginWhoseAnswerTookTooLongIsNoSession() async throws {
        let judged = try await audit(
            "login-each-time", [login(0, "a", 1, lasts: 3), login(1, "b", 1, lasts: 3), login(2, "c", 1)])
        #expect(judged.findings.isEmpty)
        var again = login(1, "b", 1)
        again.sent = login(0, "a").sent
        let reused = try await audit("signed-request-reused", [login(0, "a", 1, lasts: 3), again])
        #expect(reused.findings.isEmpty)
    }

    /// A client with the real time takes a token of January for expired.
    @Test func aClockBehindRealTimeIsSaidInsteadOfBlamingTheApp() async throws {
        let logins = (1...3).map { login(Double($0), "\($0)", 1) }
        let behind = try await audit(
            "login-each-time", logins, isFrozen: true, realTime: RuleBench.morning + Span("300d")!)
        #expect(behind.findings.isEmpty)
        #expect(behind.notJudged?.contains("clock is behind real time") == true)
        let frozen = try await audit("login-each-time", logins, isFrozen: true)
        #expect(places(frozen.findings) == [[1, 3]] && frozen.notJudged == nil)
    }

    /// Such a client never uses its session, and may not even log in again.
    @Test func aSessionThatIsOverOnTheDeviceIsSaid() async throws {
        let late = RuleBench.morning + Span("8h")!
        let unused = try await audit("login-each-time", [login(1, "1", 1)], isFrozen: true, realTime: late)
        #expect(unused.notJudged?.contains("clock is behind real time") == true)
        let used = try await audit(
            "login-each-time", [login(1, "1", 1), call(2, "1", 1)], isFrozen: true, realTime: late)
        #expect(used.findings.isEmpty && used.notJudged == nil)
    }

    /// All rules take time in proportion to the journal.
    @Test func aLongJournalIsJudged() async throws {
        let requests = (1...8000).map { login(Double($0) / 1000, "\($0)", 1) }
        let judged = try await audit("login-each-time", requests)
        #expect(judged.findings.map(\.count) == [7998])
    }
}
