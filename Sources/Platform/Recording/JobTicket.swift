import NIOConcurrencyHelpers
import Storage

/// The time of the job at hand, where requests are recorded or replayed: every look at the clock within a job sees the same.
enum JobTime {
    @TaskLocal static var current: Instant?
}

/// What a request, or a webhook's outcome, carries through all the jobs it makes: where requests are recorded, it is told the
/// place and the time of each; where they are replayed, each waits for its turn and is given its time.
package final class JobTicket: Sendable {
    /// The ticket of what is being done now; nil where nothing is recorded or replayed.
    @TaskLocal package static var current: JobTicket?

    /// A job's place among all jobs of the server, and the real time it saw, in microseconds.
    struct Turn: Codable, Sendable {
        let place: Int
        let real: Int64

        init(place: Int, real: Int64) {
            self.place = place
            self.real = real
        }

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            place = Int(try values.decode(Int64.self))
            real = try values.decode(Int64.self)
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.unkeyedContainer()
            try values.encode(Int64(place))
            try values.encode(real)
        }
    }

    private enum Mode: Sendable {
        case records(places: NIOLockedValueBox<Int>)
        case replays(ReplayGate, entry: Int)
        /// Sees one time, and takes no place.
        case stands(Instant)
    }

    private struct State {
        var turns: [Turn] = []
        /// How many of them a replay has used.
        var used = 0
        /// What each wait for webhooks came to.
        var waits: [Bool] = []
        var usedWaits = 0
        /// What was under way when somebody looked.
        var notes: [Int] = []
        var usedNotes = 0
        var isUnrepeatable = false
        var isKept = false
        /// Whether further jobs were recorded after a gap, so that this replay does not reach them.
        var isCut = false
        /// Whether a job did not run because the replay ended before.
        var isCutShort = false
    }

    private let mode: Mode
    private let state: NIOLockedValueBox<State>

    private init(_ mode: Mode, _ state: State = State()) {
        self.mode = mode
        self.state = NIOLockedValueBox(state)
    }

    static func recording(_ places: NIOLockedValueBox<Int>) -> JobTicket { JobTicket(.records(places: places)) }

    /// A ticket of a replay.
    ///
    /// - Parameters:
    ///   - end: the first place that the recording lacks; no job from there on is run.
    ///   - index: which entry it is.
    static func replaying(_ entry: RecordedEntry, _ index: Int, upTo end: Int, _ gate: ReplayGate) -> JobTicket {
        var state = State()
        state.turns = Array(entry.jobs.prefix { $0.place < end })
        state.isCut = state.turns.count < entry.jobs.count
        state.waits = entry.request?.waits ?? []
        state.notes = entry.request?.notes ?? []
        state.isUnrepeatable = entry.request?.unrepeatable ?? false
        return JobTicket(.replays(gate, entry: index), state)
    }

    static func standing(at real: Instant) -> JobTicket { JobTicket(.stands(real)) }

    /// The place of the next job in a replay: `Int.max` if that comes after a gap, `nil` if the recording has no further job.
    var nextPlace: Int? {
        guard case .replays = mode else { return nil }
        return state.withLockedValue { state in
            state.used < state.turns.count ? state.turns[state.used].place : state.isCut ? .max : nil
        }
    }

    /// Waits until the next job may be posted.
    ///
    /// - Throws: ``PlatformError`` if the replay ends before that.
    func turn() async throws(PlatformError) {
        // A job that the recording does not have runs at once; what it does will show.
        try await reach(nextPlace ?? 0)
    }

    /// Waits until another entry's job is over, which this one depends on.
    ///
    /// - Parameter place: the job's ``nextPlace``; `nil` if there is nothing to wait for.
    /// - Throws: ``PlatformError`` if the replay ends before that.
    func follow(_ place: Int?) async throws(PlatformError) {
        guard let place else { return }
        try await reach(place == .max ? place : place + 1)
    }

    private func reach(_ place: Int) async throws(PlatformError) {
        guard case .replays(let gate, let entry) = mode, await !gate.turn(place, of: entry) else { return }
        state.withLockedValue { $0.isCutShort = true }
        throw .unavailable("the replay ends before this")
    }

    /// Whether something of this was not done because the replay ended before.
    var isCutShort: Bool { state.withLockedValue { $0.isCutShort } }

    /// Runs a job, on the thread it runs on.
    static func run<Value>(
        _ ticket: JobTicket?, _ environment: Environment, _ body: () throws -> Value
    ) rethrows -> Value {
        guard let ticket else { return try body() }
        let (real, place) = ticket.begin(environment)
        defer { if case .replays(let gate, _) = ticket.mode { gate.endJob(place) } }
        return try JobTime.$current.withValue(real, operation: body)
    }

    private func begin(_ environment: Environment) -> (real: Instant, place: Int?) {
        switch mode {
        case .stands(let real): return (real, nil)
        case .records(let places):
            // Under one lock, so that time goes as places do.
            return places.withLockedValue { next in
                let real = environment.realTime()
                let place = next
                next += 1
                state.withLockedValue { $0.turns.append(Turn(place: place, real: real.microseconds)) }
                return (real, place)
            }
        case .replays(let gate, _):
            gate.startJob()
            return state.withLockedValue { state in
                guard state.used < state.turns.count else { return (gate.time, nil) }
                let turn = state.turns[state.used]
                state.used += 1
                let real = Instant(microseconds: turn.real)
                gate.time = real
                return (real, turn.place)
            }
        }
    }

    /// What a wait for webhooks comes to: in a replay what it came to then, without a wait.
    package func waited(_ wait: () async -> Bool) async -> Bool {
        if case .replays = mode {
            let known = state.withLockedValue { state -> Bool? in
                guard state.usedWaits < state.waits.count else { return nil }
                defer { state.usedWaits += 1 }
                return state.waits[state.usedWaits]
            }
            // One more than there was would go on for ever where it is repeated until it comes to something.
            return known ?? false
        }
        let result = await wait()
        if case .records = mode { state.withLockedValue { $0.waits.append(result) } }
        return result
    }

    /// The request's body did not arrive, so that it cannot be made again; its jobs can.
    package func markUnrepeatable() {
        if case .records = mode { state.withLockedValue { $0.isUnrepeatable = true } }
    }

    /// What a request of a replay is told whose body the recording does not hold: it takes its place, and its answer is not compared.
    package var missingBody: PlatformError? {
        isReplay && isUnrepeatable ? .unavailable("the recording does not hold this request's body") : nil
    }

    /// Something that was counted: in a replay, what it was then.
    func noted(_ count: Int) -> Int {
        switch mode {
        case .stands: count
        case .records:
            state.withLockedValue { state in
                state.notes.append(count)
                return count
            }
        case .replays:
            state.withLockedValue { state in
                guard state.usedNotes < state.notes.count else { return count }
                defer { state.usedNotes += 1 }
                return state.notes[state.usedNotes]
            }
        }
    }

    package var isUnrepeatable: Bool { state.withLockedValue { $0.isUnrepeatable } }

    /// Whether this is a replay, in which faults are not carried out.
    package var isReplay: Bool { if case .replays = mode { true } else { false } }

    /// True once.
    func keepOnce() -> Bool {
        state.withLockedValue { state in
            defer { state.isKept = true }
            return !state.isKept
        }
    }

    /// Whether a job has taken its place.
    var hasTurns: Bool { state.withLockedValue { !$0.turns.isEmpty } }

    /// Every turn there was; where there was none, one is taken now.
    func takenTurns(_ environment: Environment) -> (turns: [Turn], waits: [Bool], notes: [Int]) {
        if state.withLockedValue({ $0.turns.isEmpty }) { _ = begin(environment) }
        return state.withLockedValue { ($0.turns, $0.waits, $0.notes) }
    }

    /// What was recorded and did not come.
    func passRest() {
        guard case .replays(let gate, _) = mode else { return }
        let rest = state.withLockedValue { state in
            defer { state.used = state.turns.count }
            return state.turns[state.used...]
        }
        for turn in rest { gate.pass(turn.place) }
    }
}
