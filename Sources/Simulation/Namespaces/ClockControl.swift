import SimulationAPI
import Storage

/// The target of an advance, at most ``Instant/end``.
package enum ClockTarget: Sendable {
    case by(Span)
    case to(Instant)
    /// To the next due time.
    case next
}

/// `GET /_sim/clock`.
package struct ShowClock: Operation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> ClockState {
        ClockState(job.state.clock, job.now)
    }
}

/// The body of `POST /_sim/clock/advance`.
package struct ClockAdvance: Sendable {
    package let target: ClockTarget
    /// The end of the wait for receivers, in real time.
    package let deadline: SettleDeadline

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["by", "to", "max_wall"])
        let span = fields.span("by")
        let isNext = fields.value("to") == .string("next")
        let moment = isNext ? nil : fields.moment("to", or: " or \"next\"")
        deadline = SettleDeadline(fields.span("max_wall", to: SettleDeadline.max) ?? SettleDeadline.defaultWait)
        try fields.finish()
        switch (span, isNext, moment) {
        case (let span?, false, nil): target = .by(span)
        case (nil, true, nil): target = .next
        case (nil, false, let moment?): target = .to(moment)
        default:
            throw PlatformError.invalid([
                ErrorDetail("by", "give either \"by\" or \"to\", for instance {\"by\": \"2h\"}")
            ])
        }
    }
}

/// `POST /_sim/clock/freeze`: freezes the clock, now or at a later moment.
package struct FreezeClock: Operation {
    package static let access = Access.writes
    /// The time to freeze at; `nil` for the current time. A time before now is refused, because the events after it have already
    /// happened.
    let at: Instant?

    package func perform(_ job: JobContext, as caller: Control) throws -> ClockState {
        let target = at ?? job.now
        guard target >= job.now else { throw ClockState.backwards(field: "at", target, now: job.now) }
        try job.state.runDue(upTo: target, job.transaction)
        var clock = job.state.clock
        clock.mode = .frozen(target)
        clock.move(to: target, real: target)
        try job.adopt(clock, at: target, .clockFrozen)
        return ClockState(clock, target)
    }
}

extension FreezeClock {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["at"])
        self.init(at: fields.moment("at"))
        try fields.finish()
    }
}

/// `POST /_sim/clock/resume`: runs the clock again, from the time it is frozen at.
package struct ResumeClock: Operation {
    package static let access = Access.writes

    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> ClockState {
        var clock = job.state.clock
        if clock.isFrozen {
            clock.mode = .running(offset: job.now.microseconds - job.state.environment.realTime().microseconds)
            try job.adopt(clock, at: job.now, .clockResumed)
        }
        return ClockState(clock, job.now)
    }
}

/// One step of an advance: moves the clock to the next due time or to `target`, whichever is earlier, and runs what
/// is due.
package struct StepClock: Operation {
    package static let access = Access.writes
    package let target: Instant
    package let generation: Int

    /// The result of one step: the clock afterwards, and whether a further step is needed.
    package struct Answer: Sendable {
        package let clock: ClockState
        package let needsMoreSteps: Bool
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> Answer {
        guard job.state.generation == generation else {
            // The namespace was reset during the advance, so this is a different clock.
            var clock = ClockState(job.state.clock, job.now)
            clock.reached = false
            clock.pending = 0
            return Answer(clock: clock, needsMoreSteps: false)
        }
        let next = try job.transaction.nextDue()?.dueAt
        let moment = max(min(next ?? target, target), job.now)
        var clock = job.state.clock
        clock.move(to: moment, real: job.state.environment.realTime())
        try job.state.runDue(upTo: moment, job.transaction)
        try job.adopt(clock, at: moment, moment >= target ? .clockAdvanced : nil)
        var state = ClockState(clock, moment)
        state.reached = moment >= target
        return Answer(clock: state, needsMoreSteps: moment < target)
    }
}

/// Reports the clock's state when an advance ends before its target.
package struct ReportUnfinishedAdvance: Operation {
    package static let access = Access.reads
    package let target: Instant
    /// The number of webhook attempts in flight.
    package let inFlight: Int

    package func perform(_ job: JobContext, as caller: Control) throws -> ClockState {
        var state = ClockState(job.state.clock, job.now)
        state.reached = false
        state.pending = try job.transaction.countDue(upTo: target) + inFlight
        return state
    }
}

/// Resolves a ``ClockTarget`` to a moment.
package struct FindClockTarget: Operation {
    package static let access = Access.reads
    package let wanted: ClockTarget

    /// The moment, and the state of the namespace it was resolved for: a reset in the meantime ends the advance.
    package struct Answer: Sendable {
        /// `nil` if the next due time is wanted and nothing is due.
        package let moment: Instant?
        package let generation: Int
        /// The clock at the time of the job.
        package let clock: ClockState
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> Answer {
        Answer(
            moment: try moment(job), generation: job.state.generation, clock: ClockState(job.state.clock, job.now))
    }

    private func moment(_ job: JobContext) throws -> Instant? {
        switch wanted {
        case .by(let span):
            guard span <= .end - job.now else {
                throw PlatformError.invalid(
                    field: "by", "must end before the year 10000; the clock is at \(job.now.display)")
            }
            return job.now + span
        case .to(let moment):
            guard moment >= job.now else { throw ClockState.backwards(field: "to", moment, now: job.now) }
            return moment
        case .next:
            return try job.transaction.nextDue().map { min($0.dueAt, .end) }
        }
    }
}

extension Namespace {
    /// Advances the clock. Everything that falls due on the way runs in time order, one job for each due time. Other
    /// requests can run between these jobs. The webhooks of each job are sent before the next job runs.
    ///
    /// - Parameter deadline: the end of all waits for webhooks in flight. The advance then ends at the time it has reached.
    package func advanceClock(
        _ target: ClockTarget, _ head: RequestHead, until deadline: SettleDeadline
    ) async -> Completed<ClockState> {
        await advances.run { [self] in
            var (found, isSettled) = await find(target, head, deadline)
            let step: StepClock
            switch found.result {
            case .success(let value):
                guard let moment = value.moment else {
                    let clock = value.clock.unmoved(pending: isSettled ? nil : outbox.notedCount)
                    return Completed(requestID: found.requestID, result: .success(clock))
                }
                step = StepClock(target: moment, generation: value.generation)
            case .failure(let error): return Completed(requestID: found.requestID, result: .failure(error))
            }
            while isSettled, !environment.isStopping {
                switch await answer(.success(step), head.later).result {
                case .failure(let error): return Completed(requestID: found.requestID, result: .failure(error))
                case .success(let value):
                    isSettled = await deadline.waitForDeliveries(outbox)
                    if isSettled, !value.needsMoreSteps {
                        return Completed(requestID: found.requestID, result: .success(value.clock))
                    }
                }
            }
            let inFlight = outbox.notedCount
            let stopped = ReportUnfinishedAdvance(target: step.target, inFlight: inFlight)
            let result = await answer(.success(stopped), .background).result
            return Completed(requestID: found.requestID, result: result)
        }
    }
}

extension Namespace {
    /// Resolves a target once no webhook is in flight. The second value is `false` if that takes too long.
    ///
    /// A failed attempt schedules its retry, so nothing is due only if no attempt is in flight afterwards either.
    private func find(
        _ target: ClockTarget, _ head: RequestHead, _ deadline: SettleDeadline
    ) async -> (Completed<FindClockTarget.Answer>, isSettled: Bool) {
        var isSettled = await deadline.waitForDeliveries(outbox)
        var found = await answer(.success(FindClockTarget(wanted: target)), head)
        while isSettled, case .success(let value) = found.result, value.moment == nil, outbox.notedCount > 0 {
            isSettled = await deadline.waitForDeliveries(outbox)
            let again = await answer(.success(FindClockTarget(wanted: target)), .background)
            found = Completed(requestID: found.requestID, result: again.result)
        }
        return (found, isSettled)
    }

    /// Stops a running clock at the time it shows. Adds no event. Writes.
    func stopClock() async throws {
        let stopped = await run(.background, .writes) { job in
            guard !job.state.clock.isFrozen else { return }
            var clock = job.state.clock
            clock.mode = .frozen(job.now)
            try job.adopt(clock, at: job.now, nil)
        }
        try stopped.result.get()
    }
}

extension JobContext {
    /// Stores a changed clock and uses it from now on. Writes.
    fileprivate func adopt(_ clock: Clock, at moment: Instant, _ kind: EventKind?) throws {
        try clock.store(in: transaction)
        if let kind {
            try insertEvent(at: moment, kind, "clock", encoded: "{}")
        }
        state.clock = clock
    }
}

extension ClockState {
    package init(_ clock: Clock, _ now: Instant) {
        self.init(now: now.display, epoch: now.epoch, mode: clock.isFrozen ? "frozen" : "running")
    }

    /// The answer to an advance to the next due time when no work is scheduled.
    ///
    /// - Parameter pending: the attempts that were not waited for; `nil` if none is in flight, so that nothing is due.
    fileprivate func unmoved(pending: Int?) -> ClockState {
        var state = self
        state.reached = false
        state.nothing_due = pending == nil ? true : nil
        state.pending = pending ?? 0
        return state
    }

    fileprivate static func backwards(field: String, _ moment: Instant, now: Instant) -> PlatformError {
        .invalid(
            field: field,
            "is \(moment.display), before the namespace's now (\(now.display)): a clock never goes backwards")
    }
}
