import EntrupyAPI
import Storage

/// Lets one advance of a namespace's clock in at a time.
actor AdvanceLine {
    private var last: Task<Void, Never>?

    /// Runs `body` after those that came before it.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        // In a replay the recording says which comes first, and it need not be the one that is here first.
        if JobTicket.current?.isReplay == true { return await body() }
        let before = last
        let task = Task {
            await before?.value
            return await body()
        }
        last = Task { _ = await task.value }
        return await task.value
    }
}

/// How far a clock is to be advanced: at most to the end of time.
package enum ClockTarget: Sendable {
    case by(Span)
    case to(Instant)
    /// To the next time something falls due.
    case next
}

/// `GET /_sim/clock`.
package struct ShowClock: OpenOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext) throws -> ClockState {
        ClockState(job.state.clock, job.now)
    }
}

/// `POST /_sim/clock/freeze`: stops the clock, now or at a later moment.
package struct FreezeClock: OpenOperation {
    package static let access = Access.writes
    let moment: Instant?

    /// - Parameter moment: where the clock stops; nil: where it is. Earlier than now is refused: what lies between has
    ///   happened already.
    package init(at moment: Instant?) {
        self.moment = moment
    }

    package func perform(_ job: JobContext) throws -> ClockState {
        let target = moment ?? job.now
        guard target >= job.now else { throw ClockState.backwards(field: "at", target, now: job.now) }
        try job.state.runDue(upTo: target, job.transaction)
        var clock = job.state.clock
        clock.mode = .frozen(target)
        clock.move(to: target, real: target)
        try job.adopt(clock, at: target, .clockFrozen)
        return ClockState(clock, target)
    }
}

/// `POST /_sim/clock/resume`: goes on from where the clock stands.
package struct ResumeClock: OpenOperation {
    package static let access = Access.writes

    package init() {}

    package func perform(_ job: JobContext) throws -> ClockState {
        var clock = job.state.clock
        if clock.isFrozen {
            clock.mode = .running(offset: job.now.microseconds - job.state.environment.realTime().microseconds)
            try job.adopt(clock, at: job.now, .clockResumed)
        }
        return ClockState(clock, job.now)
    }
}

/// Moves the clock to the next due time or to `target`, whichever comes first, and runs what is due there.
struct StepClock: OpenOperation {
    static let access = Access.writes
    let target: Instant
    let generation: Int

    /// What came of a step: the clock afterwards, and whether there is another step to take.
    struct Answer: Sendable {
        let clock: ClockState
        let goesOn: Bool
    }

    func perform(_ job: JobContext) throws -> Answer {
        guard job.state.generation == generation else {
            // The world was reset on the way: its clock is another one.
            var clock = ClockState(job.state.clock, job.now)
            clock.reached = false
            clock.pending = 0
            return Answer(clock: clock, goesOn: false)
        }
        let next = try job.transaction.nextDue()?.dueAt
        let moment = max(min(next ?? target, target), job.now)
        var clock = job.state.clock
        clock.move(to: moment, real: job.state.environment.realTime())
        try job.state.runDue(upTo: moment, job.transaction)
        try job.adopt(clock, at: moment, moment >= target ? .clockAdvanced : nil)
        var state = ClockState(clock, moment)
        state.reached = moment >= target
        return Answer(clock: state, goesOn: moment < target)
    }
}

/// Says where the clock stands when an advance is given up.
struct StopAdvance: OpenOperation {
    static let access = Access.reads
    let target: Instant
    /// Webhooks that are still being sent.
    let underWay: Int

    func perform(_ job: JobContext) throws -> ClockState {
        var state = ClockState(job.state.clock, job.now)
        state.reached = false
        state.pending = try job.transaction.countDue(upTo: target) + underWay
        return state
    }
}

/// Where an advance goes.
struct FindClockTarget: OpenOperation {
    static let access = Access.reads
    let wanted: ClockTarget

    struct Answer: Sendable {
        let moment: Instant
        let generation: Int
    }

    func perform(_ job: JobContext) throws -> Answer {
        Answer(moment: try moment(job), generation: job.state.generation)
    }

    private func moment(_ job: JobContext) throws -> Instant {
        switch wanted {
        case .by(let span):
            guard span <= .end - job.now else {
                throw PlatformError.invalid(field: "by", "leads past the year 9999")
            }
            return job.now + span
        case .to(let moment):
            guard moment >= job.now else { throw ClockState.backwards(field: "to", moment, now: job.now) }
            return moment
        case .next:
            return min(try job.transaction.nextDue()?.dueAt ?? job.now, .end)
        }
    }
}

extension Namespace {
    /// Advances the clock: all that falls due on the way runs in time order, a job for each due time, and other
    /// requests run in between, and the webhooks of each job are sent before the next.
    ///
    /// - Parameter settle: waits until no webhook is under way; false where it would take too long, which ends the advance
    ///   where it is.
    package func advanceClock(
        _ target: ClockTarget, _ head: RequestHead, settle: @escaping @Sendable (Outbox) async -> Bool
    ) async -> Completed<ClockState> {
        await advances.run { [self] in
            var hasPatience = await settle(outbox)
            let found = await answer(.success(FindClockTarget(wanted: target)), head)
            let step: StepClock
            switch found.result {
            case .success(let value): step = StepClock(target: value.moment, generation: value.generation)
            case .failure(let error): return Completed(requestID: found.requestID, result: .failure(error))
            }
            while hasPatience, !environment.isStopping {
                switch await answer(.success(step), RequestHead(isControl: true)).result {
                case .failure(let error): return Completed(requestID: found.requestID, result: .failure(error))
                case .success(let value):
                    hasPatience = await settle(outbox)
                    if hasPatience, !value.goesOn {
                        return Completed(requestID: found.requestID, result: .success(value.clock))
                    }
                }
            }
            let underWay = outbox.notedCount
            let stopped = StopAdvance(target: step.target, underWay: underWay)
            let result = await answer(.success(stopped), RequestHead(isControl: true)).result
            return Completed(requestID: found.requestID, result: result)
        }
    }
}

extension JobContext {
    /// Makes a changed clock the world's own. Writes.
    fileprivate func adopt(_ clock: Clock, at moment: Instant, _ kind: EventKind?) throws {
        try clock.store(in: transaction)
        if let kind {
            try transaction.insertEvent(at: moment, kind: kind.rawValue, subject: "clock", data: "{}")
        }
        state.clock = clock
    }
}

extension ClockState {
    init(_ clock: Clock, _ now: Instant) {
        self.init(now: now.display, epoch: now.epoch, mode: clock.isFrozen ? "frozen" : "running")
    }

    fileprivate static func backwards(field: String, _ moment: Instant, now: Instant) -> PlatformError {
        .invalid(
            field: field,
            "is \(moment.display), before the namespace's now (\(now.display)): a clock never goes backwards")
    }
}
