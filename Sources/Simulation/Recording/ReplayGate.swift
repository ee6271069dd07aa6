import NIOConcurrencyHelpers
import Storage

/// Runs the jobs of a replay in their recorded order, and ends the replay when it is stuck.
///
/// Entries wait for each other only here. So if all active entries are waiting, the replay has reached its end: they
/// wait for jobs that are not in the recording.
package final class ReplayGate: Sendable {
    /// The pseudo entry of the loop that starts entries. The loop waits here too.
    package static let launcher = -1

    private typealias Wait = (entry: Int, continuation: CheckedContinuation<Bool, Never>)

    private struct State {
        /// The first place that is not finished.
        var next = 0
        /// Places that were finished before their turn.
        var passed: Set<Int> = []
        var waits: [Int: [Wait]] = [:]
        /// The number of waits of each entry that has started and is not finished.
        var active = [ReplayGate.launcher: 0]
        /// The number of active entries that do not wait.
        var busy = 1
        /// The number of running jobs. A running job can start an entry that waits.
        var running = 0
        var isOver = false
        /// The first unfinished place when the replay ended. Refused jobs skip their places after that.
        var reached = 0
        var time: Instant

        mutating func change(_ entry: Int, by change: Int) {
            guard let old = active[entry] else { return }
            active[entry] = old + change
            busy += (old + change == 0 ? 1 : 0) - (old == 0 ? 1 : 0)
        }

        /// Marks a place as finished. Returns the waits that end with it.
        mutating func pass(_ place: Int) -> [Wait] {
            guard place >= next else { return [] }
            passed.insert(place)
            var ready: [Wait] = []
            while passed.remove(next) != nil {
                next += 1
                ready += waits.removeValue(forKey: next) ?? []
            }
            for wait in ready { change(wait.entry, by: -1) }
            return ready
        }

        /// Ends the replay if it is stuck. Returns the waits that end with it.
        mutating func endIfStuck() -> [Wait] { busy == 0 && running == 0 ? end() : [] }

        mutating func end() -> [Wait] {
            if !isOver { reached = next }
            isOver = true
            defer { waits = [:] }
            return waits.values.flatMap { $0 }
        }
    }

    private let state: NIOLockedValueBox<State>

    package init(startingAt time: Instant) {
        state = NIOLockedValueBox(State(time: time))
    }

    /// The time of the last job.
    package var time: Instant {
        get { state.withLockedValue { $0.time } }
        set { state.withLockedValue { $0.time = max($0.time, newValue) } }
    }

    /// The number of places finished without a gap: now, or when the replay ended.
    package var reached: Int { state.withLockedValue { $0.isOver ? $0.reached : $0.next } }

    /// Whether an entry waits for all places before this one; for tests.
    package func isAwaited(_ place: Int) -> Bool { state.withLockedValue { $0.waits[place] != nil } }

    /// Adds an entry to the active ones.
    package func begin(_ entry: Int) {
        state.withLockedValue { state in
            state.active[entry] = 0
            state.busy += 1
        }
    }

    /// Removes an entry from the active ones.
    package func finish(_ entry: Int) {
        let ended = state.withLockedValue { state in
            if state.active.removeValue(forKey: entry) == 0 { state.busy -= 1 }
            return state.endIfStuck()
        }
        resume(ended, with: false)
    }

    /// Waits until all places before this one are finished.
    ///
    /// - Returns: `true` if they are; `false` if the replay ended first.
    package func turn(_ place: Int, of entry: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let (answer, ended) = state.withLockedValue { state -> (Bool?, [Wait]) in
                if state.isOver { return (false, []) }
                if state.next >= place { return (true, []) }
                state.waits[place, default: []].append((entry, continuation))
                state.change(entry, by: 1)
                return (nil, state.endIfStuck())
            }
            if let answer { continuation.resume(returning: answer) }
            resume(ended, with: false)
        }
    }

    /// Marks the start of a job.
    package func startJob() {
        state.withLockedValue { $0.running += 1 }
    }

    /// Marks the end of a job.
    ///
    /// - Parameter place: the job's place, which is then finished; `nil` if it is not in the recording.
    package func endJob(_ place: Int?) {
        let (ready, ended) = state.withLockedValue { state in
            state.running -= 1
            let ready = place.map { state.pass($0) } ?? []
            return (ready, state.endIfStuck())
        }
        resume(ready, with: true)
        resume(ended, with: false)
    }

    /// Marks a place as finished at which nothing ran.
    package func pass(_ place: Int) {
        resume(state.withLockedValue { $0.pass(place) }, with: true)
    }

    /// Ends the replay. All waits end at once and return `false`.
    package func end() {
        resume(state.withLockedValue { $0.end() }, with: false)
    }

    private func resume(_ waits: [Wait], with answer: Bool) {
        for wait in waits { wait.continuation.resume(returning: answer) }
    }
}
