import NIOEmbedded
import Simulation
import Storage
import Testing

@testable import Server

/// The times of the test are the embedded loop's.
@Suite struct DueWorkAlarmTests {
    private let loop = NIOAsyncTestingEventLoop()
    private let now = Instant("2026-01-05T09:00:00Z")!

    private func time(_ seconds: Int64) -> Instant { Instant(microseconds: now.microseconds + seconds * 1_000_000) }

    /// The number of rings that were not received yet. The alarm cannot be used after this.
    private func rings(_ alarm: DueWorkAlarm) async -> Int {
        alarm.stop()
        var count = 0
        for await _ in alarm.rings { count += 1 }
        return count
    }

    @Test func withoutATimeEveryDueTimeRings() async {
        let alarm = DueWorkAlarm(on: loop)
        alarm.ring(by: time(7200))
        #expect(await rings(alarm) == 1)
    }

    @Test(arguments: [(9, 1), (10, 0), (7200, 0)])
    func onlyAnEarlierDueTimeRingsAtOnce(seconds: Int64, expected: Int) async {
        let alarm = DueWorkAlarm(on: loop)
        alarm.set(to: time(10), now: now)
        alarm.ring(by: time(seconds))
        #expect(await rings(alarm) == expected)
    }

    @Test func aNamespaceWithoutADueTimeDoesNotRing() async {
        let alarm = DueWorkAlarm(on: loop)
        alarm.ring(by: nil)
        #expect(await rings(alarm) == 0)
    }

    @Test(arguments: [(9, 0), (10, 1)])
    func theAlarmRingsAtItsTime(seconds: Int64, expected: Int) async {
        let alarm = DueWorkAlarm(on: loop)
        alarm.set(to: time(10), now: now)
        await loop.advanceTime(by: .seconds(seconds))
        #expect(await rings(alarm) == expected)
    }

    @Test func aTimerThatWasReplacedDoesNotRing() async {
        let alarm = DueWorkAlarm(on: loop)
        alarm.set(to: time(10), now: now)
        alarm.set(to: time(30), now: now)
        await loop.advanceTime(by: .seconds(20))
        #expect(await rings(alarm) == 0)
    }

    @Test func aTimerThatWasRemovedDoesNotRing() async {
        let alarm = DueWorkAlarm(on: loop)
        alarm.set(to: time(10), now: now)
        alarm.clear()
        await loop.advanceTime(by: .seconds(20))
        #expect(await rings(alarm) == 0)
    }

    @Test func theAlarmRingsWithinAMinuteHoweverFarItsTimeIs() async {
        let alarm = DueWorkAlarm(on: loop)
        alarm.set(to: time(7200), now: now)
        await loop.advanceTime(by: .seconds(60))
        #expect(await rings(alarm) == 1)
    }
}
