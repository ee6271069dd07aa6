import NIOConcurrencyHelpers
import Storage

/// The real time of the current job, while requests are recorded or replayed. Every reading of the clock within a job
/// returns the same time.
package enum JobTime {
    @TaskLocal package static var current: Instant?
}

/// Accompanies a request, or a webhook's outcome, through all its jobs. In a recording it collects the place and time
/// of each job. In a replay each job waits for its turn and gets its recorded time.
package final class JobToken: Sendable {
    /// The token of the current task; `nil` if nothing is recorded or replayed.
    @TaskLocal package static var current: JobToken?

    /// A job's place among all jobs of the server, and the real time it read, in microseconds.
    package struct Turn: Codable, Sendable {
        package let place: Int
        package let real: Int64
    }

    private enum Mode: Sendable {
        case records(
            places: NIOLockedValueBox<Int>, clock: @Sendable () -> Instant, held: (@Sendable (JobToken) -> Void)?)
        case replays(ReplayGate, entry: Int)
        /// Has a fixed time and takes no place.
        case fixedTime(Instant)
    }

    /// Values that a recording collects, and that a replay takes in the same order.
    struct State {
        var turns: ArraySlice<Turn> = []
        /// The result of each wait for webhooks.
        var waitResults: ArraySlice<Bool> = []
        /// The counts of webhooks in flight, one for each time they were read.
        var inFlightCounts: ArraySlice<Int> = []
        /// The real times of the journaled request.
        var times: RequestTimes?
        /// Whether the request is a read that is not begun, because its caller had gone; `nil` until its first read decides.
        var isAbandoned: Bool?
        /// Whether further jobs were recorded after a gap; the replay does not reach them.
        var isCut = false
        /// Whether a job did not run because the replay ended first.
        var isCutShort = false
    }

    private let mode: Mode
    private let state: NIOLockedValueBox<State>

    private init(_ mode: Mode, _ state: State = State()) {
        self.mode = mode
        self.state = NIOLockedValueBox(state)
    }

    /// A token of a recording, see ``Recorder/makeToken(_:held:)``.
    ///
    /// - Parameter places: the next free place.
    convenience init(
        places: NIOLockedValueBox<Int>, clock: @escaping @Sendable () -> Instant,
        held: (@Sendable (JobToken) -> Void)?
    ) {
        self.init(.records(places: places, clock: clock, held: held))
    }

    /// A token of a replay.
    ///
    /// - Parameters:
    ///   - end: the first place missing from the recording. No job from there on is run.
    ///   - index: the index of the entry.
    package static func replaying(_ entry: RecordedEntry, _ index: Int, upTo end: Int, _ gate: ReplayGate) -> JobToken {
        var state = State()
        state.turns = entry.jobs.prefix { $0.place < end }
        state.isCut = state.turns.count < entry.jobs.count || entry.isUnanswered
        let request = entry.request ?? entry.held
        state.waitResults = request?.waitResults?[...] ?? []
        state.inFlightCounts = request?.inFlightCounts?[...] ?? []
        state.times = request?.times
        state.isAbandoned = request?.not_begun ?? false
        return JobToken(.replays(gate, entry: index), state)
    }

    package static func fixedTime(_ real: Instant) -> JobToken { JobToken(.fixedTime(real)) }

    /// The place of the next job in a replay. `Int.max` if the job comes after a gap; `nil` if the recording has no
    /// further job.
    package var nextPlace: Int? {
        guard case .replays = mode else { return nil }
        return state.withLockedValue { $0.turns.first?.place ?? ($0.isCut ? .max : nil) }
    }

    /// Waits until the next job may be posted.
    ///
    /// - Throws: ``PlatformError`` if the replay ends first.
    package func turn() async throws(PlatformError) {
        // A job that is not in the recording runs at once; its effects show as a difference.
        try await reach(nextPlace ?? 0)
    }

    /// Waits until a job of another entry is finished. This entry depends on it.
    ///
    /// - Parameter place: the job's ``nextPlace``; `nil` if there is nothing to wait for.
    /// - Throws: ``PlatformError`` if the replay ends first.
    package func follow(_ place: Int?) async throws(PlatformError) {
        guard let place else { return }
        try await reach(place == .max ? place : place + 1)
    }

    private func reach(_ place: Int) async throws(PlatformError) {
        guard case .replays(let gate, let entry) = mode, await !gate.turn(place, of: entry) else { return }
        state.withLockedValue { $0.isCutShort = true }
        throw .unavailable("the replay ends before this")
    }

    /// Whether a job did not run because the replay ended first.
    package var isCutShort: Bool { state.withLockedValue { $0.isCutShort } }

    /// Runs a job on the current thread, with its time as ``JobTime/current``.
    package func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        let (real, place) = begin()
        defer { if case .replays(let gate, _) = mode { gate.endJob(place) } }
        return try JobTime.$current.withValue(real, operation: body)
    }

    private func begin() -> (real: Instant, place: Int?) {
        switch mode {
        case .fixedTime(let real): return (real, nil)
        case .records(let places, let clock, _):
            // Under one lock, so that times are in the order of places.
            return places.withLockedValue { next in
                let real = clock()
                let place = next
                next += 1
                state.withLockedValue { $0.turns.append(Turn(place: place, real: real.microseconds)) }
                return (real, place)
            }
        case .replays(let gate, _):
            gate.startJob()
            return state.withLockedValue { state in
                guard let turn = state.turns.popFirst() else { return (gate.time, nil) }
                let real = Instant(microseconds: turn.real)
                gate.time = real
                return (real, turn.place)
            }
        }
    }

    private var isReplaying: Bool { if case .replays = mode { true } else { false } }

    /// Waits and records the result. In a replay, returns the recorded result without waiting.
    package func observe(_ wait: () async -> Bool) async -> Bool {
        // A wait that is not in the recording returns `false`, so that a caller that repeats its wait does not loop forever.
        observed(isReplaying ? false : await wait(), in: \.waitResults)
    }

    /// Waits and records the number that the wait returns. In a replay, returns the recorded number without waiting.
    func observe(_ wait: () async -> Int) async -> Int { observe(isReplaying ? 0 : await wait()) }

    /// Writes the request as far as it is known, if this is a recording.
    func recordHold() {
        if case .records(_, _, let held?) = mode { held(self) }
    }

    /// Records a count. In a replay, returns the recorded count.
    package func observe(_ count: Int) -> Int { observed(count, in: \.inFlightCounts) }

    /// Records a value. In a replay, returns the recorded one, or `value` after the last of them.
    private func observed<Value>(_ value: Value, in log: WritableKeyPath<State, ArraySlice<Value>>) -> Value {
        state.withLockedValue { state in
            if case .replays = mode { return state[keyPath: log].popFirst() ?? value }
            if case .records = mode { state[keyPath: log].append(value) }
            return value
        }
    }

    /// Records the real times of a request. In a replay, returns the recorded ones.
    func observe(_ times: RequestTimes) -> RequestTimes? {
        state.withLockedValue { state in
            if case .replays = mode { return state.times }
            state.times = times
            return times
        }
    }

    /// Notes whether the request is not begun. In a replay, returns what was recorded.
    ///
    /// The first read of a request decides for all of them: a recording says of the whole request whether it was begun.
    func isAbandoned(_ isGone: () -> Bool) -> Bool {
        state.withLockedValue { state in
            let isAbandoned = state.isAbandoned ?? isGone()
            state.isAbandoned = isAbandoned
            return isAbandoned
        }
    }

    /// Whether a job has taken a place, in a recording; whether a turn is left, in a replay.
    package var hasTurns: Bool { state.withLockedValue { !$0.turns.isEmpty } }

    /// All turns and observations so far. Takes one turn now if there is none.
    func taken() -> State {
        if !hasTurns { _ = begin() }
        return state.withLockedValue { $0 }
    }

    /// Skips the recorded turns that were not used.
    package func skipRemaining() {
        guard case .replays(let gate, _) = mode else { return }
        let skipped = state.withLockedValue { state in
            defer { state.turns = [] }
            return state.turns
        }
        for turn in skipped { gate.pass(turn.place) }
    }
}

extension JobToken.Turn {
    package init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        place = Int(try values.decode(Int64.self))
        real = try values.decode(Int64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        try values.encode(Int64(place))
        try values.encode(real)
    }
}
