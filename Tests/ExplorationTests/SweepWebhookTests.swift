import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import Exploration

extension WebhookDelivery {
    /// A delivery with an attempt for each status; `nil` is one that no receiver answered.
    static func made(
        _ id: String, _ event: String, subscription: String = "s", item: String? = "i", at: Double = 0,
        statuses: [Int?] = [200], fault: String? = nil
    ) -> WebhookDelivery {
        WebhookDelivery(
            id: id, subscription_id: subscription, url: nil, event: event, event_id: id, format: nil, entrupy_id: item,
            status: "delivered", created_at: at, next_attempt_at: nil, fault: fault, body: .null,
            attempts: statuses.enumerated().map {
                Attempt(
                    number: $0.offset + 1, at: at + Double($0.offset), status: $0.element, error: nil, duration_ms: 1,
                    answer: nil, fault: nil, signature: nil)
            })
    }
}

/// Faults of webhooks and switches of the future: their names, rules and own traces.
@Suite struct SweepWebhookTests {
    private let completed = "session.completed"
    private let updated = "session.updated"

    @Test func webhooksAreNamedByEventAndPlaceOfTheirSubscription() {
        let (found, others) = SweepTarget.webhooks(of: [
            .made("a", completed), .made("b", completed, subscription: "t"), .made("c", updated, at: 1),
            .made("d", "verification", item: nil), .made("e", updated, item: "j", at: 2, statuses: [nil, nil]),
            .made("f", completed, item: "j", at: 3), .made("g", updated, item: "j", at: 4, statuses: [nil]),
        ])
        #expect(
            found.map(\.name) == [
                "webhook session.completed #1", "webhook session.completed of subscription 2 #1",
                "webhook session.updated #1", "webhook session.completed #2",
            ])
        #expect(others == ["webhook session.updated #2", "webhook session.updated #3"])
        #expect(found[1].plainName == "webhook session.completed of subscription 2")
        #expect(found.map { $0.takes(.reordered) } == [true, false, false, false], "of the same item and subscription")
        #expect(found[1].takes(.twice))
        #expect(!found[0].takes(.slow) && !found[0].takes(.future(.order)) && !SweepTarget.wholeRun.takes(.late))
    }

    /// A rule counts each attempt that it matches, and `duplicate` and `reorder` match first attempts alone.
    @Test func aRuleTriggersAtItsWebhookAfterRetriesOfOthers() {
        let found = SweepTarget.webhooks(of: [
            .made("a", completed, statuses: [500, 200]), .made("b", updated, at: 1),
            .made("c", completed, item: "j", at: 5), .made("d", updated, item: "j", at: 6),
        ]).found
        func rule(_ fault: SweepFault, _ effect: JSONValue, after: Int) -> SweepSetup {
            SweepSetup(faults: [
                [
                    "match": ["webhook": "session.completed"], "effect": effect,
                    "after_requests": .number(JSONNumber(after)), "times": 1,
                ]
            ])
        }
        #expect(found[2].setup(.lost) == rule(.lost, ["drop": true], after: 2))
        #expect(found[2].setup(.late) == rule(.late, ["delay": "3s"], after: 2))
        #expect(found[2].setup(.twice) == rule(.twice, ["duplicate": true], after: 1))
        #expect(found[2].setup(.reordered) == rule(.reordered, ["reorder": true], after: 1))
        #expect(found[2].setup(.twice).event == "session.completed")
        #expect(SweepTarget.wholeRun.setup(.future(.order)) == SweepSetup(settings: ["future": ["order": true]]))
    }

    @Test func everyFaultHasItsName() {
        #expect(Set(SweepFault.allCases.map(\.rawValue)).count == 15)
        #expect(SweepFault.allCases.someAndAll { SweepFault(rawValue: $0.rawValue) == $0 })
        #expect(SweepFault(rawValue: "future:opaque") == .future(.opaque) && SweepFault(rawValue: "future:x") == nil)
    }

    // MARK: Own objects

    private func delivery(_ event: String, nth: Int = 1) -> ObjectDifference {
        ObjectDifference(
            kind: "delivery", key: ["event": .string(event), "nth": .number(JSONNumber(nth))], change: .added,
            members: [])
    }

    private func state(_ target: SweepTarget, _ fault: SweepFault, _ objects: [ObjectDifference]) -> EndState {
        EndState(
            StateDifference(objects: objects, ignored: [], truncated: false), without: LeftOut(),
            of: SweepCell(target, fault))
    }

    @Test func theObjectsOfAFaultItselfAreNoDifference() throws {
        let webhook = try #require(SweepTarget.webhooks(of: [.made("a", completed)]).found.first)
        #expect(state(webhook, .twice, [delivery(completed, nth: 2)]).isEqual)
        let more = state(webhook, .twice, [delivery(completed, nth: 2), delivery(completed, nth: 3)])
        #expect(more.hasMore && more.objects.count == 1)
        #expect(
            state(webhook, .twice, [delivery(updated)]).hasMore && state(webhook, .late, [delivery(completed)]).hasMore)
        let named = ObjectDifference(
            kind: "delivery", key: ["event": .string(completed)], change: .changed,
            members: [.init(name: "fault", from: nil, to: "drop"), .init(name: "attempts", from: 1, to: 2)])
        #expect(state(webhook, .lost, [named]).isEqual)
        #expect(state(.wholeRun, .future(.events), [delivery("session.x_ab")]).isEqual)
        #expect(state(.wholeRun, .future(.order), [delivery("session.x_ab")]).hasMore)
        #expect(state(.wholeRun, .future(.events), [delivery(updated)]).hasMore)
    }

    @Test func theSettingsOfARunMustStay() {
        let setup = SweepTarget.wholeRun.setup(.future(.order))
        #expect(setup.holds(in: ["future": ["order": true, "members": false], "quota": 1]))
        #expect(!setup.holds(in: ["future": ["order": false]]) && !setup.holds(in: ["quota": 1]))
        #expect(SweepSetup().holds(in: ["future": ["order": false]]))
    }

    // MARK: Words

    @Test func aSwitchIsKeptAsASetting() throws {
        let cell = SweepCell(.wholeRun, .future(.errors))
        let bug = SweepBug(SweepOutcome(cell, .silent, sentence: "s"), seen: 3, of: 3)
        let kept = try KeptScenario(bug, cell.setup, base: nil)
        #expect(kept.name == "every-call-future-errors" && kept.text.split(separator: "\n").count < 15)
        #expect(kept.text.hasSuffix("settings: {\"future\":{\"errors\":true}}\n") && !kept.text.contains("faults:"))
    }

    @Test func aWebhookWithAFaultStandsAmongTheRequests() {
        let names = CallNames([.init(method: "GET", path: "/a")])
        let journal = (0..<4).map { index in
            JournaledRequest(
                id: "a", sequence: 1, at: Double(index), method: "GET", path: "/a", query: nil, status: 200,
                duration_ms: 1, started_real: Double(index), username: nil, test: nil,
                decided_by: DecidedRequest(fault: nil, limits: [], outcome: nil), changes: nil, request: nil,
                response: nil)
        }
        let long = RequestLines.around(
            ["rule"], (0..<12).map { _ in journal[0] }, [.made("a", completed, at: -1, statuses: [nil], fault: "rule")],
            names)
        #expect(long.count == 8 && long[5].hasSuffix("and 6 more") && long[7].hasSuffix("GET /a  200"), "\(long)")
        let deliveries: [WebhookDelivery] = [
            .made("a", completed, at: 2.5, statuses: [nil, 204], fault: "rule"), .made("b", updated, at: 2.6),
        ]
        #expect(
            RequestLines.around(["rule"], journal, deliveries, names) == [
                "            GET /a  200", "   +1.00 s  GET /a  200",
                ">           webhook session.completed  no answer",
                "            GET /a  200", ">           webhook session.completed  204",
            ])
    }
}
