import Storage
import Testing

@testable import Simulation

@Suite struct SlidingWindowTests {
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64((seconds * 1e6).rounded())) }

    @Test func anAcceptedRequestLeavesAtExactlyItsTimePlusTheLength() {
        var window = SlidingWindow(length: .minute)
        for second in 0..<5 { window.record(at: at(Double(second))) }
        #expect(window.wait(at: at(59.999999), limit: 5) == Span(microseconds: 1))
        #expect(window.wait(at: at(60), limit: 5) == nil)
    }

    @Test func sixtyAtNineTenthsLeaveRoomForFortyOfSixtyAtOnePointTwo() {
        var window = SlidingWindow(length: .second)
        for _ in 0..<60 where window.wait(at: at(0.9), limit: 100) == nil { window.record(at: at(0.9)) }
        var accepted = 0
        for _ in 0..<60 where window.wait(at: at(1.2), limit: 100) == nil {
            window.record(at: at(1.2))
            accepted += 1
        }
        #expect(accepted == 40)
        #expect(window.wait(at: at(1.2), limit: 100) == Span(microseconds: 700_000))
    }

    @Test func anUnreadWindowDoesNotGrow() {
        var window = SlidingWindow(length: .second)
        for tenth in 0..<100 { window.record(at: at(Double(tenth) / 10)) }
        // Counting would forget what has left.
        #expect(window.moments.count == 10)
        #expect(window.count(at: at(9.9)) == 10)
    }

    @Test func aFrozenWindowDoesNotGrow() {
        var window = SlidingWindow(length: .second)
        for _ in 0..<100_000 { window.record(at: at(1)) }
        #expect(window.moments.count == 1 && window.count(at: at(1)) == 100_000)
        #expect(window.wait(at: at(1.5), limit: 3) == Span(microseconds: 500_000))
        #expect(window.left(at: at(1.5), limit: 100_001).remaining == 1)
        #expect(window.wait(at: at(2), limit: 1) == nil)
    }

    /// With 20,001 callers whose windows are not empty, each request would look at all of them.
    @Test func aSweepThatFindsNothingIsNotRepeated() {
        var limits = RateLimits()
        for id in 0..<40_000 { limits.record(.user(Int64(id)), at: at(1)) }
        #expect(limits.sweeps == 1)
        #expect(limits.count(.user(5), at: at(1)) == 1)
    }

    @Test func aLoweredLimitWaitsUntilEnoughHaveLeft() {
        var window = SlidingWindow(length: .second)
        for tenth in 0..<10 { window.record(at: at(Double(tenth) / 10)) }
        // With a limit of 3, the eighth (at 0.7) must leave the window before one more fits.
        #expect(window.wait(at: at(0.9), limit: 3) == Span(microseconds: 800_000))
    }
}
