import NIOConcurrencyHelpers
import Testing

@testable import Simulation
@testable import Storage

/// The order and the end of a replay's jobs.
@Suite struct ReplayGateTests {
    private let gate = ReplayGate(startingAt: Instant(microseconds: 0))

    @Test func aJobWaitsForThePlaceBeforeItsOwn() async {
        gate.begin(0)
        gate.begin(1)
        let hasRun = NIOLockedValueBox(false)
        let second = Task { [gate] in
            #expect(await gate.turn(1, of: 1))
            hasRun.withLockedValue { $0 = true }
        }
        while !gate.isAwaited(1), !hasRun.withLockedValue({ $0 }) { await Task.yield() }
        #expect(!hasRun.withLockedValue { $0 })
        gate.pass(0)
        await second.value
    }

    @Test func jobsRunInRecordedOrder() async {
        for entry in 0..<20 { gate.begin(entry) }
        let order = NIOLockedValueBox<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for entry in (0..<20).reversed() {
                group.addTask { [gate] in
                    #expect(await gate.turn(entry, of: entry))
                    order.withLockedValue { $0.append(entry) }
                    gate.pass(entry)
                    gate.finish(entry)
                }
            }
        }
        #expect(order.withLockedValue { $0 } == Array(0..<20) && gate.reached == 20)
    }

    @Test func theReplayEndsIfAllEntriesWaitForOneAnother() async {
        gate.begin(0)
        gate.begin(1)
        async let one = gate.turn(5, of: 0)
        async let other = gate.turn(7, of: 1)
        // The launcher is the last active entry that does not wait.
        gate.finish(ReplayGate.launcher)
        #expect(await [one, other] == [false, false])
        #expect(await !gate.turn(0, of: 0), "the gate stays closed")
    }

    @Test func workBegunByAJobMayWaitBeforeTheJobEnds() async {
        gate.begin(0)
        gate.finish(ReplayGate.launcher)
        gate.startJob()
        async let later = gate.turn(1, of: 0)
        // The entry waits, but its job is still running.
        while !gate.isAwaited(1) { await Task.yield() }
        gate.endJob(0)
        #expect(await later)
    }

    @Test func anEntryThatEndsWithoutItsLastPlacesBlocksNoOther() async {
        gate.begin(0)
        async let launcher = gate.turn(3, of: ReplayGate.launcher)
        gate.pass(2)
        gate.pass(0)
        gate.pass(1)
        gate.finish(0)
        #expect(await launcher)
    }

    @Test func anEndReleasesEveryWaitingEntry() async {
        gate.begin(0)
        async let one = gate.turn(5, of: 0)
        while !gate.isAwaited(5) { await Task.yield() }
        gate.end()
        #expect(await !one)
    }
}
