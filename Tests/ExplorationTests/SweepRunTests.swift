import Foundation
import SimulationAPI
import Synchronization
import TestSupport
import Testing

@testable import Exploration

/// A whole sweep with a control API and a client that are made up.
@Suite struct SweepRunTests {
    /// A platform whose journal and differences the test decides by the name of the namespace.
    private final class Platform: SweepControl, SweptClient {
        let paths: @Sendable (String) -> [String]
        let code: @Sendable (_ namespace: String, _ fault: String?) -> Int32
        let objects: @Sendable (String) -> [ObjectDifference]
        let rules: @Sendable (String) -> [String]
        let isMet: Bool
        /// The deliveries of a namespace, by its name.
        let webhooks: @Sendable (String) -> [WebhookDelivery]
        /// Whether the client changes settings back.
        let resets: Bool
        /// The namespaces that the client makes in a run.
        let own: @Sendable (String) -> [String]
        /// The namespaces that are there no more.
        let deleted: [String]
        private let log = Mutex<[String]>([])
        private let living = Mutex<Set<String>>(["default"])

        init(
            paths: @escaping @Sendable (String) -> [String] = { _ in ["/sdk/login", "/sdk/session"] },
            code: @escaping @Sendable (String, String?) -> Int32 = { _, _ in 0 },
            objects: @escaping @Sendable (String) -> [ObjectDifference] = { _ in [] },
            rules: @escaping @Sendable (String) -> [String] = { _ in [] }, isMet: Bool = true,
            webhooks: @escaping @Sendable (String) -> [WebhookDelivery] = { _ in [] }, resets: Bool = false,
            own: @escaping @Sendable (String) -> [String] = { _ in [] }, deleted: [String] = []
        ) {
            self.deleted = deleted
            self.own = own
            self.webhooks = webhooks
            self.resets = resets
            self.paths = paths
            self.code = code
            self.objects = objects
            self.rules = rules
            self.isMet = isMet
        }

        var made: [String] { log.withLock { $0 } }

        func make(_ namespace: String) async throws {
            log.withLock { $0.append(namespace) }
            living.withLock { _ = $0.insert(namespace) }
            if namespace == "cell-2", code(namespace, nil) == 99 { throw SweepProblem.noRequest }
        }
        func routes() async throws -> [Choices.Route] {
            ["/sdk/login", "/sdk/session"].map { .init(method: "GET", path: $0) }
        }
        func add(_ rule: JSONValue, to namespace: String) async throws -> String { "rule" }
        func change(_ settings: JSONValue, of namespace: String) async throws {
            log.withLock { $0.append("\(namespace) \(settings.members?["future"]?.members?.keys.sorted() ?? [])") }
        }
        func settings(of namespace: String) async throws -> JSONValue {
            .object(["future": .object(JSONObject(FutureSwitch.allCases.map { ($0.rawValue, .bool(!resets)) }))])
        }
        func deliveries(of namespace: String) async throws -> [WebhookDelivery] { webhooks(namespace) }
        func hits(of rule: String, in namespace: String) async throws -> Int { isMet ? 1 : 0 }
        func journal(of namespace: String) async throws -> [JournaledRequest] {
            paths(namespace).map { path in
                JournaledRequest(
                    id: "a", sequence: 1, at: 0, method: "GET", path: path, query: nil, status: 200, duration_ms: 1,
                    username: "ann", test: nil, decided_by: DecidedRequest(fault: "rule", limits: [], outcome: nil),
                    changes: nil, request: nil, response: nil)
            }
        }
        func settle(_ namespace: String) async throws {}
        func save(_ namespace: String, as snapshot: String) async throws {}
        func difference(from: String, of: String, to other: String) async throws -> StateDifference {
            StateDifference(objects: objects(other), ignored: [], truncated: false)
        }
        func audit(of namespace: String) async throws -> AuditReport {
            AuditReport(
                findings: rules(namespace).map {
                    .init(rule: $0, level: .error, text: "t", count: 1, requests: [], source: "D", test: nil)
                }, rules: [])
        }
        func namespaces() async throws -> [String] { living.withLock { $0.sorted() } }
        func deletedNamespaces() async throws -> [String] { deleted }
        func move(_ namespace: String, to name: String) async throws {
            living.withLock {
                $0.remove(namespace)
                $0.insert(name)
            }
        }
        func drop(_ namespace: String) async throws { living.withLock { _ = $0.remove(namespace) } }
        func run(in namespace: String, fault: String?, limit: Double?) async throws -> ClientEnding {
            let own = own(namespace)
            try living.withLock {
                if own.contains(where: $0.contains) { throw SweepProblem.noRequest }
                $0.formUnion(own)
            }
            let code = code(namespace, fault)
            return ClientEnding(code: code, isLate: code == 143 && (limit ?? 100) < 100, seconds: 0.5)
        }
    }

    private func baseline(_ platform: Platform) async throws -> Sweep.Baseline {
        try await Sweep(platform, platform).baseline()
    }

    @Test func aCommandThatFailsWithoutAFaultRunsOnce() async throws {
        let platform = Platform(code: { _, _ in 4 })
        await #expect {
            _ = try await baseline(platform)
        } throws: {
            guard case SweepProblem.fails(let ending) = $0 else { return false }
            return ending.code == 4
        }
        #expect(platform.made == ["sweep-1"])
    }

    @Test func aCommandThatAsksNothingOrNothingTwiceIsSaid() async throws {
        await #expect {
            _ = try await baseline(Platform(paths: { _ in [] }))
        } throws: { if case SweepProblem.noRequest = $0 { true } else { false } }
        await #expect {
            _ = try await baseline(Platform(paths: { $0 == "sweep-2" ? ["/sdk/login"] : ["/sdk/session"] }))
        } throws: { if case SweepProblem.nothingRepeats(let left) = $0 { left.count == 2 } else { false } }
    }

    @Test func eachCallAndFaultIsRunOnceInItsOwnNamespace() async throws {
        let platform = Platform()
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        let cells = baseline.cells(SweepFault.allCases, of: baseline.calls)
        #expect(cells.count == 11, "a login has no session that could end")
        let outcomes = await sweep.run(cells, baseline, jobs: 3)
        #expect(outcomes.map(\.fault) == cells.map(\.fault) && outcomes.someAndAll { $0.verdict == .recovered })
        #expect(Set(platform.made).count == 14 && platform.made.count == 14)
    }

    @Test func anErrorOfACellIsNoPassAndEndsNoOther() async throws {
        let platform = Platform(code: { namespace, _ in namespace == "cell-2" ? 99 : 0 })
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        let cells = baseline.cells([.slow, .unavailable], of: baseline.calls)
        let outcomes = await sweep.run(cells, baseline, jobs: 1)
        #expect(outcomes.map(\.verdict) == [.recovered, .notRun, .recovered, .recovered])
        #expect(!SweepResult(calls: [], cells: outcomes, bugs: [], left_out: []).isComplete)
        let unmet = Platform(isMet: false)
        let met = await Sweep(unmet, unmet).run(cells, baseline, jobs: 2)
        #expect(met.someAndAll { $0.verdict == .notMet })
        #expect(!SweepResult(calls: [], cells: met, bugs: [], left_out: []).isComplete)
    }

    @Test func aBugIsRunTwiceMoreAndCounted() async throws {
        let item = ObjectDifference(kind: "item", key: ["customer_item_id": "a"], change: .added, members: [])
        let platform = Platform(objects: { ["cell-1", "again-1"].contains($0) ? [item] : [] })
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        let cells = baseline.cells([.slow], of: baseline.calls)
        let found = await sweep.confirmed(await sweep.run(cells, baseline, jobs: 2), baseline, jobs: 2)
        #expect(found.map(\.seen) == ["2 of 3"] && found.map(\.verdict) == [.doubled])
        #expect(found[0].outcome.detail.requests.count == 2)
    }

    @Test func aClientThatDoesNotEndIsHung() async throws {
        let platform = Platform(code: { _, fault in fault == nil ? 0 : 143 })
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        let outcomes = await sweep.run(baseline.cells([.loseAnswer], of: baseline.calls), baseline, jobs: 2)
        #expect(outcomes.someAndAll { $0.verdict == .hung && $0.detail.sentence.hasSuffix("after 10 s") })
    }

    /// A rule that the client breaks without a fault is not the fault's.
    @Test func misuseIsWhatTheRunsWithoutAFaultLack() async throws {
        let platform = Platform(rules: { $0.hasPrefix("cell") ? ["old", "new"] : ["old"] })
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        let outcomes = await sweep.run(baseline.cells([.slow], of: baseline.calls), baseline, jobs: 1)
        #expect(outcomes.someAndAll { $0.verdict == .misuse && $0.detail.sentence.hasSuffix("breaks a rule: new: t") })
    }

    // MARK: Bugs with one cause, and pairs

    @Test func faultsAtOneCallWithOneEndAreOneEntry() async throws {
        let item = ObjectDifference(kind: "item", key: ["customer_item_id": "a"], change: .added, members: [])
        let other = ObjectDifference(kind: "item", key: ["customer_item_id": "b"], change: .added, members: [])
        // Two calls of which each has four faults. The last fault of the first call has another end.
        let platform = Platform(objects: { namespace in
            if namespace.hasPrefix("again") { return ["again-7", "again-8"].contains(namespace) ? [other] : [item] }
            return namespace.hasPrefix("sweep") ? [] : namespace == "cell-4" ? [other] : [item]
        })
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        let cells = baseline.cells([.loseAnswer, .slow, .unavailable, .rateLimited], of: baseline.calls)
        let found = await sweep.confirmed(await sweep.run(cells, baseline, jobs: 1), baseline, jobs: 1)
        #expect(found.map(\.call) == ["GET /sdk/login #1", "GET /sdk/login #1", "GET /sdk/session #1"])
        #expect(found.map(\.fault) == ["lose_answer", "429", "lose_answer"])
        #expect(found[0].sentence.hasSuffix("leaves one item for a instead of none; the same with slow, 503"))
        #expect(found[1].sentence.hasSuffix("leaves one item for b instead of none"))
        #expect(found[2].sentence.hasSuffix("; the same with slow, 503, 429"))
    }

    @Test func bugsWithOtherVerdictsCountsOrRulesAreNotJoined() {
        func bug(_ verdict: Verdict, seen: Int = 3, misuse: [String] = []) -> SweepBug {
            let outcome = SweepOutcome(
                SweepCell(call: "a", fault: "slow", setup: SweepSetup()), verdict, misuse: misuse)
            return SweepBug(outcome, seen: seen, of: 3)
        }
        let found = Sweep.joined([
            bug(.hung), bug(.silent), bug(.silent, seen: 2), bug(.misuse, misuse: ["a"]), bug(.misuse, misuse: ["b"]),
            bug(.hung),
        ])
        #expect(found.map(\.verdict) == [.hung, .silent, .silent, .misuse, .misuse])
    }

    @Test func oneCauseAtSeveralCallsOfANameIsOneEntry() {
        func bug(_ call: String, _ fault: String) -> SweepBug {
            let cell = SweepCell(call: call, fault: fault, setup: SweepSetup())
            let outcome = SweepOutcome(cell, .silent, sentence: "\(call) \(fault)")
            return SweepBug(outcome, seen: 3, of: 3)
        }
        let calls = (1...8).map { "PUT /a #\($0)" }
        let found = Sweep.joined(calls.map { bug($0, "503") } + [bug(calls[0], "429"), bug("PUT /b #1", "503")])
        #expect(
            found.map(\.sentence) == [
                "PUT /a #1 503; the same with 429; the same at #2, #3, #4, #5, #6 and 2 more", "PUT /b #1 503",
            ])
    }

    @Test func aRepeatedCallHasASecondFault() async throws {
        let platform = Platform(paths: {
            $0.hasPrefix("cell") ? ["/sdk/login", "/sdk/session", "/sdk/login"] : ["/sdk/login", "/sdk/session"]
        })
        let sweep = Sweep(platform, platform, pairs: true)
        let baseline = try await sweep.baseline()
        let cells = baseline.cells([.loseAnswer], of: [baseline.calls[0]])
        let outcomes = await sweep.run(cells, baseline, jobs: 1)
        let pairs = baseline.pairs([.unavailable, .sessionEnded, .twice], after: outcomes)
        #expect(pairs.map(\.call) == ["GET /sdk/login #2 after lose_answer at #1"] && pairs.map(\.fault) == ["503"])
        // A request that triggers the first rule is not counted by a rule behind it.
        let effects = pairs[0].setup.faults.map { $0.members?["effect"] }
        #expect(effects == [["status": 503], ["drop_connection": true]])
        #expect(pairs[0].setup.faults.map { $0.members?["after_requests"] } == [1, 0] && pairs[0].setup.cost == 1)
        let plain = Sweep(platform, platform)
        let without = await plain.run(cells, baseline, jobs: 1)
        #expect(baseline.pairs([.unavailable], after: without).isEmpty, "without --pairs no journal is read")
        let once = Platform()
        let unrepeated = await Sweep(once, once, pairs: true).run(cells, baseline, jobs: 1)
        #expect(baseline.pairs([.unavailable], after: unrepeated).isEmpty)
    }

    @Test func aUsualSecondCallIsNoRepetition() async throws {
        let platform = Platform(paths: { _ in ["/sdk/login", "/sdk/session", "/sdk/login"] })
        let sweep = Sweep(platform, platform, pairs: true)
        let baseline = try await sweep.baseline()
        let outcomes = await sweep.run(baseline.cells([.slow], of: baseline.calls), baseline, jobs: 1)
        #expect(outcomes.count == 3 && baseline.pairs([.slow], after: outcomes).isEmpty)
    }

    // MARK: Namespaces of the command

    private func verdicts(
        _ own: @escaping @Sendable (String) -> [String], differing: String? = nil, leftOut: Int = 1
    ) async throws -> [Verdict] {
        let item = ObjectDifference(kind: "item", key: ["customer_item_id": "a"], change: .added, members: [])
        let platform = Platform(objects: { $0 == differing ? [item] : [] }, own: own)
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        #expect(baseline.atOnce(8) == 1 && baseline.leftOut.sentences.count == leftOut)
        let cells = baseline.cells([.slow], of: baseline.calls)
        let outcomes = await sweep.run(cells, baseline, jobs: 8)
        #expect(try await platform.namespaces().someAndAll { $0 == "default" || $0.hasPrefix("sweep-") })
        return outcomes.map(\.verdict)
    }

    /// Each run makes the same names, so those of the run before are gone by then.
    @Test func theNamespacesOfACommandAreComparedOneRunAtATime() async throws {
        #expect(try await verdicts { _ in ["a", "b"] } == [.recovered, .recovered])
        #expect(try await verdicts({ _ in ["a", "b"] }, differing: "b") == [.doubled, .doubled])
        #expect(try await verdicts { $0 == "cell-1" ? ["a"] : ["a", "b"] } == [.silent, .recovered])
        #expect(try await verdicts { $0 == "cell-2" ? ["a", "c"] : ["a"] } == [.recovered, .doubled])
        let platform = Platform()
        #expect(try await Sweep(platform, platform).baseline().atOnce(8) == 8)
    }

    @Test func anOnlyNamespaceMayHaveARandomName() async throws {
        #expect(try await verdicts { ["of-\($0)"] } == [.recovered, .recovered])
        #expect(try await verdicts({ ["of-\($0)"] }, differing: "of-cell-2") == [.recovered, .doubled])
        // Of two, none is known to be missing or new.
        #expect(try await verdicts({ ["a-\($0)", "b-\($0)"] }, leftOut: 7) == [.recovered, .recovered])
    }

    @Test func namespacesThatTheCommandDeletesAreListed() async throws {
        func leftOut(_ deleted: String...) async throws -> [String] {
            let platform = Platform(own: { _ in ["a"] }, deleted: deleted)
            return try await Sweep(platform, platform).baseline().leftOut.sentences
        }
        #expect(try await leftOut("a") == ["calls to namespaces that the command makes: only the ends are compared"])
        #expect(try await leftOut("a", "b").last == "namespaces that the command deletes again: they are not compared")
    }

    // MARK: Webhooks and the future

    /// A second webhook that no receiver takes shows nothing about the client.
    @Test func aWebhookWithAFaultMustReachAReceiver() async throws {
        let first = WebhookDelivery.made("a", "session.completed", fault: "rule")
        let second = WebhookDelivery.made("b", "session.completed", fault: "rule")
        let lost = WebhookDelivery.made("b", "session.completed", statuses: [nil], fault: "rule")
        func verdicts(_ found: [WebhookDelivery], leftOut: Int = 0) async throws -> [Verdict] {
            let platform = Platform(webhooks: { $0.hasPrefix("cell") ? found : [first, second] })
            let sweep = Sweep(platform, platform)
            let baseline = try await sweep.baseline()
            let cells = baseline.cells([.lost, .twice, .late, .reordered], of: [baseline.webhooks[0]])
            #expect(cells.map(\.fault) == ["lost", "twice", "late", "reordered"])
            let outcomes = await sweep.run(cells, baseline, jobs: 1)
            #expect(outcomes.someAndAll { $0.verdict != .notMet || $0.detail.sentence.contains("no receiver took it") })
            var result = SweepResult(calls: [], cells: outcomes, bugs: [], left_out: [])
            result.leaveOutUnordered()
            #expect(result.left_out.count == leftOut && result.cells.count == 4 - leftOut)
            return outcomes.map(\.verdict)
        }
        #expect(try await verdicts([first, second]) == [.recovered, .recovered, .recovered, .recovered])
        #expect(try await verdicts([first, lost]) == [.recovered, .notMet, .recovered, .recovered])
        #expect(try await verdicts([lost], leftOut: 1) == [.recovered, .notMet, .recovered, .notMet])
    }

    /// A sweep that tried nothing is no pass.
    @Test func aResultWithoutCellsIsIncomplete() {
        #expect(!SweepResult(calls: [], cells: [], bugs: [], left_out: []).isComplete)
    }

    @Test func webhooksThatDoNotComeInEachRunAreLeftOut() async throws {
        let platform = Platform(webhooks: { namespace in
            namespace == "sweep-2" ? [.made("a", "x")] : [.made("a", "x"), .made("b", "y")]
        })
        let baseline = try await Sweep(platform, platform).baseline()
        #expect(baseline.webhooks.map(\.name) == ["webhook x #1"])
        #expect(baseline.leftOut.sentences == ["webhook y #1: no receiver answers it in every run without a fault"])
    }

    @Test func eachSwitchOfTheFutureHasARun() async throws {
        let own = ObjectDifference(
            kind: "setting", key: ["name": "future.members"], change: .changed,
            members: [.init(name: "value", from: false, to: true)])
        let platform = Platform(objects: { $0.hasPrefix("cell") ? [own] : [] })
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        let cells = baseline.cells(SweepFault.allCases, of: [.wholeRun])
        #expect(cells.map(\.fault) == FutureSwitch.allCases.map { "future:\($0.rawValue)" })
        let outcomes = await sweep.run(cells, baseline, jobs: 1)
        #expect(outcomes.map(\.verdict) == [.recovered, .silent, .silent, .silent, .silent], "its own setting alone")
        #expect(platform.made.contains("cell-5 [\"opaque\"]"))
        let back = Platform(resets: true)
        let unmet = await Sweep(back, back).run(cells, baseline, jobs: 1)
        #expect(unmet.someAndAll { $0.verdict == .notMet && $0.detail.sentence.contains("changed the setting back") })
    }

    @Test func aCancelledSweepKeepsWhatItHas() async throws {
        let platform = Platform()
        let sweep = Sweep(platform, platform)
        let baseline = try await sweep.baseline()
        let cells = baseline.cells([.slow, .unavailable], of: baseline.calls)
        let outcomes = await Task {
            await sweep.run(cells, baseline, jobs: 1) { withUnsafeCurrentTask { $0?.cancel() } }
        }.value
        #expect(outcomes.map(\.verdict) == [.recovered, .notRun, .notRun, .notRun])
    }
}
