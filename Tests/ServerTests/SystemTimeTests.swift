import Testing

@testable import Server
@testable import Simulation

/// The time that drives running clocks, and what it makes of a machine whose clock is set [D clock].
@Suite struct SystemTimeTests {
    @Test(
        arguments: [(0, nil), (499_999, nil), (-499_999, nil), (1_000_300, 1), (-19_999_965, -20)] as [(Int64, Int64?)])
    func aStepIsInWholeSeconds(change: Int64, seconds: Int64?) {
        let step = SystemTime.step(from: 1_700_000_000_000_000, to: 1_700_000_000_000_000 + change)
        #expect(step?.microseconds == seconds.map { $0 * 1_000_000 })
    }

    @Test func itNeverGoesBack() {
        var last = SystemTime.now()
        for _ in 0..<10_000 {
            let now = SystemTime.now()
            #expect(now >= last)
            last = now
        }
    }
}
