import NIOConcurrencyHelpers
import Storage

/// Lets the jobs of a replay run in the order they ran in, and ends the replay when nothing can go on.
///
/// Entries wait here and nowhere else for one another. So a replay whose active entries all wait has come to its end: they wait for
/// jobs that the recording does not have.
package final class ReplayGate: Sendable {
    /// Stands for the loop that begins entries, which waits here as they do.
    static let launcher = -1

    private struct Wait {
        let entry: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        /// The first place that is not over.
        var next = 0
        /// Places that are over before it was their turn.
        var passed: Set<Int> = []
        var waits: [Int: [Wait]] = [:]
        /// How many waits each entry has that was begun and is not over.
        var active = [ReplayGate.launcher: 0]
        /// How many of them have none.
        var busy = 1
        /// How many jobs run. One may begin something that waits while it runs itself.
        var running = 0
        var isOver = false
        /// The first place that was not over when the replay ended. What is refused then passes its places over.
        var reached = 0
        var time: Instant

        mutating func change(_ entry: Int, by change: Int) {
            guard let old = active[entry] else { return }
            active[entry] = old + change
            busy += (old + change == 0 ? 1 : 0) - (old == 0 ? 1 : 0)
        }

        /// A place is over; the waits that are over with it.
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

        /// Ends the replay if nothing can go on; the waits that are over then.
        mutating func endIfStuck() -> [Wait] { busy == 0 && running == 0 ? end() : [] }

        mutating func end() -> [Wait] {
            if !isOver { reached = next }
            isOver = true
            defer { waits = [:] }
            return waits.values.flatMap { $0 }
        }
    }

    private let state: NIOLockedValueBox<State>

    init(startingAt time: Instant) {
        state = NIOLockedValueBox(State(time: time))
    }

    /// The time of the last job.
    var time: Instant {
        get { state.withLockedValue { $0.time } }
        set { state.withLockedValue { $0.time = max($0.time, newValue) } }
    }

    /// How many places were over, without a gap, when the replay ended; or are.
    var reached: Int { state.withLockedValue { $0.isOver ? $0.reached : $0.next } }

    /// Whether something waits until all places before this one are over; for tests.
    func isAwaited(_ place: Int) -> Bool { state.withLockedValue { $0.waits[place] != nil } }

    /// Counts an entry among those that something can be expected of.
    func begin(_ entry: Int) {
        state.withLockedValue { state in
            state.active[entry] = 0
            state.busy += 1
        }
    }

    /// Takes an entry out again.
    func finish(_ entry: Int) {
        let ended = state.withLockedValue { state in
            if state.active.removeValue(forKey: entry) == 0 { state.busy -= 1 }
            return state.endIfStuck()
        }
        resume(ended, with: false)
    }

    /// Waits until all places before this one are over.
    ///
    /// - Returns: whether they are; `false` if the replay ended before.
    func turn(_ place: Int, of entry: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let (answer, ended) = state.withLockedValue { state -> (Bool?, [Wait]) in
                if state.isOver { return (false, []) }
                if state.next >= place { return (true, []) }
                state.waits[place, default: []].append(Wait(entry: entry, continuation: continuation))
                state.change(entry, by: 1)
                return (nil, state.endIfStuck())
            }
            if let answer { continuation.resume(returning: answer) }
            resume(ended, with: false)
        }
    }

    /// Takes note that a job runs.
    func startJob() {
        state.withLockedValue { $0.running += 1 }
    }

    /// Takes note that a job is over.
    ///
    /// - Parameter place: its place, which is over too; `nil` if the recording does not have it.
    func endJob(_ place: Int?) {
        let (ready, ended) = state.withLockedValue { state in
            state.running -= 1
            let ready = place.map { state.pass($0) } ?? []
            return (ready, state.endIfStuck())
        }
        resume(ready, with: true)
        resume(ended, with: false)
    }

    /// Takes note that a place is over at which nothing ran.
    func pass(_ place: Int) {
        resume(state.withLockedValue { $0.pass(place) }, with: true)
    }

    /// Ends the replay: whatever waits goes on at once, and is told so.
    func end() {
        resume(state.withLockedValue { $0.end() }, with: false)
    }

    private func resume(_ waits: [Wait], with answer: Bool) {
        for wait in waits { wait.continuation.resume(returning: answer) }
    }
}
