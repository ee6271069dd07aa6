import Foundation
import SimulationAPI
import Testing

@testable import Exploration

/// The names of calls, the verdicts, the sentences and the kept scenarios of a sweep.
@Suite struct SweepRuleTests {
    private let names = CallNames([
        .init(method: "POST", path: "/sdk/login"), .init(method: "GET", path: "/sdk/captures/*"),
        .init(method: "GET", path: "/sdk/captures/open"), .init(method: "POST", path: "/sdk/captures/*/submit"),
    ])

    private func request(_ method: String, _ path: String, user: String? = "ann", fault: String? = nil, at: Double = 0)
        -> JournaledRequest
    {
        JournaledRequest(
            id: "a", sequence: 1, at: 0, method: method, path: path, query: nil, status: 200, duration_ms: 1,
            started_real: at, username: user, test: nil,
            decided_by: DecidedRequest(fault: fault, limits: [], outcome: nil), changes: nil, request: nil,
            response: nil)
    }

    private func object(
        _ kind: String, _ key: JSONObject, _ change: ObjectDifference.Change, _ members: [ObjectDifference.Member] = []
    ) -> ObjectDifference {
        ObjectDifference(kind: kind, key: key, change: change, members: members)
    }

    private func state(_ objects: ObjectDifference..., without leftOut: LeftOut = LeftOut()) -> EndState {
        EndState(StateDifference(objects: objects, ignored: [], truncated: false), without: leftOut)
    }

    // MARK: Calls

    @Test func callsAreNamedByMethodRouteAndPlace() {
        let (calls, unknown) = names.calls(of: [
            request("POST", "/sdk/login"), request("POST", "/sdk/captures/a/submit"), request("GET", "/nowhere"),
            request("POST", "/sdk/captures/b/submit"),
        ])
        #expect(
            calls.map(\.name) == [
                "POST /sdk/login #1", "POST /sdk/captures/{id}/submit #1", "POST /sdk/captures/{id}/submit #2",
            ])
        #expect(calls.last?.plainName == "POST /sdk/captures/{id}/submit")
        #expect(unknown == ["GET /nowhere"])
        #expect(calls.map { $0.takes(.sessionEnded) } == [false, true, true], "a login has no session yet")
        #expect(!names.calls(of: [request("POST", "/sdk/captures/a/submit", user: nil)]).found[0].takes(.sessionEnded))
        #expect(calls[0].takes(.slow))
    }

    /// A glob matches requests of other routes too, and the rule counts them.
    @Test func aRuleTriggersAtItsCallWhereAnotherRouteMatchesToo() {
        let (calls, _) = names.calls(of: [
            request("GET", "/sdk/captures/open"), request("GET", "/sdk/captures/a"), request("GET", "/sdk/captures/b"),
        ])
        #expect(calls.map(\.name).last == "GET /sdk/captures/{id} #2")
        #expect(
            calls[2].setup(.unavailable).faults == [
                [
                    "match": ["route": "/sdk/captures/*", "method": "GET"], "effect": ["status": 503],
                    "after_requests": 2, "times": 1,
                ]
            ])
    }

    @Test func callsThatNotEveryRunMakesAreLeftOut() {
        let one = names.calls(of: [request("POST", "/sdk/login"), request("GET", "/sdk/captures/a")])
        let other = names.calls(of: [request("POST", "/sdk/login"), request("GET", "/x")])
        var leftOut = LeftOut()
        let calls = Sweep.commonCalls([one, other, one], &leftOut)
        #expect(calls.map(\.name) == ["POST /sdk/login #1"])
        #expect(leftOut.calls == ["GET /sdk/captures/{id} #1", "GET /x"])
    }

    // MARK: Verdicts

    @Test func verdictsFollowFromTheEndAndTheState() {
        let equal = state()
        let more = state(object("item", ["customer_item_id": "sku-1", "nth": 2], .added))
        let fewer = state(object("item", ["customer_item_id": "sku-1"], .removed))
        func verdict(
            _ state: EndState, code: Int32 = 0, isLate: Bool = false, isMet: Bool = true, misuse: [String] = []
        ) -> Verdict {
            Verdict(ClientEnding(code: code, isLate: isLate, seconds: 1), isMet: isMet, state, misuse: misuse)
        }
        #expect(verdict(equal) == .recovered && verdict(equal, code: 1) == .gaveUp)
        #expect(verdict(more) == .doubled && verdict(more, code: 1) == .doubled, "whatever the exit code")
        #expect(verdict(fewer) == .silent && verdict(fewer, code: 1) == .gaveUp)
        #expect(verdict(more, code: 137, isLate: true) == .hung)
        #expect(verdict(equal, misuse: ["retry-too-soon"]) == .misuse)
        #expect(verdict(equal, isMet: false) == .notMet && verdict(more, isLate: true, isMet: false) == .notMet)
        #expect(!Verdict.notMet.isPass && !Verdict.notRun.isPass && !Verdict.notRun.isBug)
        #expect(Set(Verdict.allCases.map(\.legend.mark)).count == Verdict.allCases.count)
    }

    @Test func tracesOfARetryAreNoDifference() {
        #expect(
            state(
                object("session", ["username": "ann", "nth": 2], .added), object("fault", [:], .added),
                object("signed_request", ["nth": 2], .added)
            ).isEqual)
        // The open capture of a lost answer is matched with the submitted one.
        let open = ObjectDifference.Member(name: "status", from: "submitted", to: "started")
        #expect(
            state(object("capture", [:], .changed, [open]), object("capture", ["nth": 2], .added)).isEqual)
        #expect(!state(object("capture", [:], .changed, [open])).isEqual)
    }

    @Test func whatDiffersWithoutAFaultDoesNotCount() {
        let note = ObjectDifference.Member(name: "note", from: "a", to: "b")
        let result = ObjectDifference.Member(name: "result", from: "a", to: "b")
        var leftOut = LeftOut()
        leftOut.add(
            StateDifference(
                objects: [object("item", [:], .changed, [note]), object("message", ["message": "x"], .added)],
                ignored: [], truncated: false))
        #expect(leftOut.members == ["item.note"] && leftOut.kinds == ["message"])
        #expect(state(object("item", [:], .changed, [note]), without: leftOut).isEqual)
        #expect(state(object("item", [:], .changed, [note, result]), without: leftOut).objects[0].members.count == 1)
        let (gone, come) = (object("message", ["message": "y"], .removed), object("message", ["message": "z"], .added))
        #expect(state(gone, come, without: leftOut).isEqual)
        #expect(state(gone, come, object("message", ["message": "w"], .added), without: leftOut).hasMore)
        // Of random SKUs too, a capture whose answer was lost stays open.
        leftOut.kinds = ["capture", "item"]
        func capture(_ sku: String, _ change: ObjectDifference.Change) -> ObjectDifference {
            object("capture", ["customer_item_id": .string(sku)], change)
        }
        let (first, again, open) = (capture("a", .removed), capture("b", .added), capture("c", .added))
        #expect(state(first, again, open, without: leftOut).isEqual)
        #expect(!state(first, without: leftOut).isEqual)
    }

    /// A receiver that ends with its client leaves deliveries that are tried again at another time.
    @Test func theTimesOfADeliveryAreNoDifference() {
        let next = ObjectDifference.Member(name: "next_attempt_at", from: "2026-01-05T09:00:00Z", to: nil)
        #expect(state(object("delivery", ["event": "session.updated"], .changed, [next])).isEqual)
        #expect(!state(object("delivery", ["event": "session.updated"], .removed)).isEqual)
    }

    /// Where the keys say nothing, a sentence counts.
    @Test func objectsWithRandomKeysAreCounted() {
        var leftOut = LeftOut()
        leftOut.kinds = ["item"]
        func item(_ sku: String, _ change: ObjectDifference.Change) -> ObjectDifference {
            object("item", ["customer_item_id": .string(sku)], change)
        }
        let more = state(item("a", .removed), item("b", .added), item("c", .added), without: leftOut)
        let text = BugSentence.text(.doubled, .loseAnswer, at: "POST /a #1", more, limit: 10, misuse: [])
        #expect(text.hasSuffix("leaves two items instead of one"))
    }

    // MARK: Words

    private func sentence(_ verdict: Verdict, _ objects: ObjectDifference..., misuse: [String] = []) -> String {
        BugSentence.text(
            verdict, .loseAnswer, at: "POST /a #1",
            EndState(StateDifference(objects: objects, ignored: [], truncated: false), without: LeftOut()), limit: 10,
            misuse: misuse)
    }

    @Test func sentencesNameTheObjects() {
        let start = "with the answer of POST /a #1 lost, the client"
        let user = object("user", ["username": "ann"], .changed, [.init(name: "submissions", from: 1, to: 2)])
        let item = object("item", ["customer_item_id": "sku-1", "nth": 2, "username": "ann"], .added)
        #expect(sentence(.doubled, user, item) == "\(start) leaves two items for sku-1 instead of one")
        let gone = object("item", ["customer_item_id": "sku-1", "username": "ann"], .removed)
        #expect(sentence(.silent, gone) == "\(start) exits 0 and leaves no items for sku-1 instead of one")
        let flag = object("item", ["customer_item_id": "a"], .changed, [.init(name: "flag", from: "flagged", to: nil)])
        #expect(
            sentence(.silent, flag)
                == "\(start) exits 0 and leaves the item for a with flag null instead of \"flagged\"")
        #expect(sentence(.hung) == "\(start) has not ended after 10 s")
        #expect(sentence(.misuse, misuse: ["a-rule: b"]) == "\(start) breaks a rule: a-rule: b")
        let others = (1...4).map { object("delivery", ["event": .string("e\($0)")], .added) }
        #expect(
            sentence(.doubled, others[0], others[1], others[2], others[3], item)
                == "\(start) leaves two items for sku-1 instead of one and one delivery for e1 instead of none, and 3 more differences"
        )
    }

    @Test func aSKUOfTheClientStaysInItsLine() throws {
        let item = object("item", ["customer_item_id": "a\nname: evil\u{2028}#\u{1b}"], .added)
        let text = sentence(.doubled, item)
        #expect(!text.contains("\n") && !text.contains("\u{2028}") && !text.contains("\u{1b}"))
    }

    /// A delivery that is missing follows from the item, and says less.
    @Test func anItemIsNamedBeforeTheDeliveriesThatFollowFromIt() {
        let text = sentence(
            .silent, object("delivery", ["event": "session.updated", "nth": 2], .removed),
            object("item", ["customer_item_id": "sku-1"], .changed, [.init(name: "flag", from: "flagged", to: "none")]))
        #expect(text.contains("leaves the item for sku-1 with flag \"none\" instead of \"flagged\" and one delivery"))
    }

    @Test func marksThatTurnTheTextAreShown() {
        let text = sentence(.doubled, object("item", ["customer_item_id": "a\u{202e}b"], .added))
        #expect(text.contains(#"a\u{202E}b"#))
    }

    @Test func aKeptScenarioIsShortAndQuoted() throws {
        let call = try #require(names.calls(of: [request("POST", "/sdk/captures/a/submit")]).found.first)
        let cell = SweepCell(call, .loseAnswer)
        let outcome = SweepOutcome(cell, .doubled, sentence: "two items for \"x: #\"")
        let kept = try KeptScenario(SweepBug(outcome, seen: 3, of: 3), cell.setup, base: "a: b.yaml")
        #expect(kept.name == "post-sdk-captures-id-submit-1-lose-answer")
        #expect(kept.text.split(separator: "\n").count < 15)
        #expect(kept.text.contains("# verdict: doubled, 3 of 3\n"))
        #expect(kept.text.contains("description: \"two items for \\\"x: #\\\"\"\n"))
        #expect(kept.text.contains("\"drop_connection\":true"))
        #expect(KeptScenario.comment("call", in: kept.text) == "POST /sdk/captures/{id}/submit #1")
        #expect(KeptScenario.comment("scenario", in: kept.text) == "a: b.yaml")
        #expect(KeptScenario.comment("nothing", in: kept.text) == nil)
        let long = KeptScenario.name("POST /" + String(repeating: "abc/", count: 30) + " #1", "slow")
        #expect(long.utf8.count <= 63 && long.hasSuffix("abc-1-slow") && long.first != "-")
    }

    @Test func theRequestsAroundAFaultHaveGaps() {
        func lines(_ count: Int) -> [String] {
            let journal = (0..<count).map {
                request("POST", "/sdk/login", fault: $0 == 3 ? "f" : nil, at: Double($0) / 2)
            }
            return RequestLines.around(["f"], journal, [], names)
        }
        #expect(lines(9).count == 8 && lines(9)[2] == ">  +0.50 s  POST /sdk/login  200")
        // What a client did at the end of a long way, too.
        #expect(
            lines(12).count == 10 && lines(12)[7].hasSuffix("and 2 more") && lines(12)[9].contains("POST /sdk/login"))
        let journal = (0..<9).map { _ in request("POST", "/sdk/login") }
        #expect(RequestLines.around(["other"], journal, [], names).isEmpty)
    }
}
