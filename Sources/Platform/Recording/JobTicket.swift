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
        case replays(ReplayGate)
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
    }

    private let mode: Mode
    private let state: NIOLockedValueBox<State>

    private init(_ mode: Mode, _ state: State = State()) {
        self.mode = mode
        self.state = NIOLockedValueBox(state)
    }

    static func recording(_ places: NIOLockedValueBox<Int>) -> JobTicket { JobTicket(.records(places: places)) }

    static func replaying(
        _ gate: ReplayGate, _ turns: [Turn], waits: [Bool], notes: [Int], isUnrepeatable: Bool
    ) -> JobTicket {
        var state = State()
        (state.turns, state.waits, state.notes, state.isUnrepeatable) = (turns, waits, notes, isUnrepeatable)
        return JobTicket(.replays(gate), state)
    }

    static func standing(at real: Instant) -> JobTicket { JobTicket(.stands(real)) }

    /// Waits until the next job may be posted.
    func turn() async {
        guard case .replays(let gate) = mode else { return }
        let turn = state.withLockedValue { $0.used < $0.turns.count ? $0.turns[$0.used] : nil }
        // A job more than there was runs at once; what it does will show.
        if let turn { await gate.turn(turn.place) }
    }

    /// Runs a job, on the thread it runs on.
    static func run<Value>(
        _ ticket: JobTicket?, _ environment: Environment, _ body: () throws -> Value
    ) rethrows -> Value {
        guard let ticket else { return try body() }
        let (real, place) = ticket.begin(environment)
        defer { if let place, case .replays(let gate) = ticket.mode { gate.pass(place) } }
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
        case .replays(let gate):
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
            return known ?? true
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

    /// Every turn there was; where there was none, one is taken now.
    func takenTurns(_ environment: Environment) -> (turns: [Turn], waits: [Bool], notes: [Int]) {
        if state.withLockedValue({ $0.turns.isEmpty }) { _ = begin(environment) }
        return state.withLockedValue { ($0.turns, $0.waits, $0.notes) }
    }

    /// What was recorded and did not come.
    func passRest() {
        guard case .replays(let gate) = mode else { return }
        let rest = state.withLockedValue { state in
            defer { state.used = state.turns.count }
            return state.turns[state.used...]
        }
        for turn in rest { gate.pass(turn.place) }
    }
}

/// Lets the jobs of a replay run in the order they ran in.
package final class ReplayGate: Sendable {
    private struct State {
        var next = 0
        /// Places that are over before it was their turn.
        var passed: Set<Int> = []
        var waiting: [Int: [CheckedContinuation<Void, Never>]] = [:]
        var time: Instant
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

    /// Waits until all places before this one are over.
    func turn(_ place: Int) async {
        await withCheckedContinuation { continuation in
            let mayGo = state.withLockedValue { state in
                guard state.next < place else { return true }
                state.waiting[place, default: []].append(continuation)
                return false
            }
            if mayGo { continuation.resume() }
        }
    }

    /// A place is over.
    func pass(_ place: Int) {
        let ready = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
            state.passed.insert(place)
            while state.passed.remove(state.next) != nil { state.next += 1 }
            let due = state.waiting.keys.filter { $0 <= state.next }
            return due.flatMap { state.waiting.removeValue(forKey: $0) ?? [] }
        }
        for continuation in ready { continuation.resume() }
    }
}
