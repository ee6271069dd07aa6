import EntrupyAPI
import NIOConcurrencyHelpers
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// The clock of a namespace, and the work that falls due on it [D clock].
@Suite struct ClockRuleTests {
    private func advance(_ bench: RuleBench, _ target: ClockTarget) async throws -> ClockState {
        try await bench.namespace.advanceClock(
            target, RequestHead(isControl: true), until: SettleDeadline { _ in true }
        ).result.get()
    }

    @Test func aClockIsNotSetBack() async throws {
        let bench = try await RuleBench()
        let earlier = RuleBench.morning - Span(microseconds: 1)
        #expect(await refusal { try await bench.control(FreezeClock(at: earlier)) } == .invalid)
        #expect(await refusal { try await advance(bench, .to(earlier)) } == .invalid)
        #expect(await refusal { try await bench.control(FreezeClock(at: RuleBench.morning)) } == nil)
        #expect(await refusal { try await advance(bench, .to(RuleBench.morning)) } == nil)
    }

    /// Frozen or not: a device compares the end of a session with its own clock.
    @Test func aClockOnWhichSessionsAreOverOnADeviceIsNamed() async throws {
        let bench = try await RuleBench(settings: ["session_lifetime": "1h"])
        func named() async throws -> String? {
            try await bench.control(ShowNamespace(hasNotes: true)).notes?.first?.field
        }
        _ = try await bench.control(FreezeClock(at: nil))
        await bench.wait("59m")
        #expect(try await named() == nil)
        await bench.wait("1m")
        #expect(try await named() == "clock.freeze")
        _ = try await bench.control(ResumeClock())
        #expect(try await named() == "clock")
        _ = try await bench.control(PatchSettings(["session_lifetime": "7d"]))
        #expect(try await named() == nil)
        _ = try await bench.control(FreezeClock(at: nil))
        await bench.wait("23h")
        #expect(try await named() == "clock.freeze", "a day, if sessions last longer")
        #expect(try await bench.control(ShowNamespace()).notes == nil)
    }

    @Test func aResumedClockGoesOnFromTheTimeItWasFrozenAt() async throws {
        let bench = try await RuleBench()
        _ = try await bench.control(FreezeClock(at: nil))
        await bench.wait("1h")
        #expect(try await bench.control(ShowClock()).epoch == RuleBench.morning.epoch)
        _ = try await bench.control(ResumeClock())
        await bench.wait("90s")
        #expect(try await bench.control(ShowClock()).epoch == RuleBench.morning.epoch + 90)
    }

    @Test func aFreezeAtALaterMomentRunsWhatIsDueUntilThen() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-authentic-after-1h")
        _ = try await bench.control(FreezeClock(at: RuleBench.morning + .hour))
        let item = try await bench.item(id)
        #expect(item.result == .authentic && item.resultAt == RuleBench.morning + .hour)
    }

    @Test func anAdvanceRunsWhatFallsDueAtItsTimeAndInOrder() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let late = try await bench.submit(user, "sim-unknown-after-3h")
        let early = try await bench.submit(user, "sim-authentic-after-1h")
        _ = try await bench.control(FreezeClock(at: nil))
        let next = try await advance(bench, .next)
        #expect(next.reached == true && next.epoch == RuleBench.morning.epoch + 3600)
        #expect(try await bench.item(early).resultAt == RuleBench.morning + .hour)
        #expect(try await bench.item(late).result == .needsReview)
        #expect(try await advance(bench, .by(.day)).epoch == RuleBench.morning.epoch + 3600 + 86_400)
        #expect(try await bench.item(late).resultAt == RuleBench.morning + Span("3h")!, "not the end of the advance")
    }

    /// The receivers of its webhooks act before later work runs.
    @Test func anAdvanceStopsAtEachDueTime() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for id in ["sim-unknown-after-3h", "sim-authentic-after-1h"] { _ = try await bench.submit(user, id) }
        _ = try await bench.control(FreezeClock(at: nil))
        let seen = NIOLockedValueBox<[Double?]>([])
        let deadline = SettleDeadline { _ in
            // A failure is seen as an absent time.
            let now = try? await bench.control(ShowClock()).epoch
            seen.withLockedValue { $0.append(now.map { $0 - RuleBench.morning.epoch }) }
            return true
        }
        let end = await bench.namespace.advanceClock(
            .by(Span("4h")!), RequestHead(isControl: true), until: deadline)
        #expect(try end.result.get().reached == true)
        #expect(seen.withLockedValue { $0 } == [0, 3600, 10_800, 14_400])
    }

    /// Its retries are counted from it, and not from the time that the advance reaches.
    @Test func anAdvanceWaitsForAnAttemptThatBeganBesideIt() async throws {
        let bench = try await RuleBench(settings: ["webhooks": ["retries": ["10s", "1m"]]])
        let user = try await bench.login()
        _ = try await bench.subscribe(events: ["session.completed"])
        _ = try await bench.submit(user, "sim-authentic-after-0s")
        let waits = NIOLockedValueBox(0)
        let deadline = SettleDeadline { _ in
            let isFirst = waits.withLockedValue { waits in
                waits += 1
                return waits == 1
            }
            // The first wait saw no attempt yet.
            while !isFirst, !bench.attempts().isEmpty { _ = try? await bench.deliver(500) }
            return true
        }
        let end = await bench.namespace.advanceClock(.by(.day), RequestHead(isControl: true), until: deadline)
        #expect(try end.result.get().reached == true)
        let deliveries = try await bench.job { job in
            try job.transaction.deliveries(before: .max, status: nil, subject: nil, limit: 100)
        }
        #expect(deliveries.map(\.status) == [.failed] && deliveries.map(\.attempts) == [3])
    }

    @Test func anAdvanceEndsBeforeTheYear10000() async throws {
        let bench = try await RuleBench()
        let left = Instant.end - RuleBench.morning
        let tooFar = Span(microseconds: left.microseconds + 1)
        #expect(await refusal { try await advance(bench, .by(tooFar)) } == .invalid)
        #expect(try await advance(bench, .by(left)).now == Instant.end.display)
    }
}
