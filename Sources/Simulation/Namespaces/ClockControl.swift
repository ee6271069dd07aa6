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
package struct ShowClock: Operation, Reads {
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
package struct FreezeClock: Operation, Writes {
    /// The time to freeze at; `nil` for the current time. A time before now is refused, because the events after it have already
    /// happened.
    let at: Instant?

    package func perform(_ job: JobContext, as caller: Control) throws -> ClockState {
        let target = at ?? job.now
        guard target >= job.now else { throw ClockState.backwards(field: "at", target, now: job.now) }
        try job.state.runDue(upTo: target, job.transaction)
        var clock = job.state.clock
        clock.mode = .frozen(job.now)
        clock.move(to: target, real: target)
        try job.adopt(clock, at: target, .clockFrozen)
        return ClockState(clock, target)
    }
}

extension FreezeClock {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["at"])
        let at: Instant? = if case .at(let moment)? = fields.frozenMoment("at") { moment } else { nil }
        try fields.finish()
        self.init(at: at)
    }
}

/// `POST /_sim/clock/resume`: runs the clock again, from the time it is frozen at.
package struct ResumeClock: Operation, Writes {
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
package struct StepClock: Operation, Writes {
    package let target: Instant
    package let generation: Int

    /// Whether to wait, instead of moving a running clock, while an attempt is in flight. It can begin between the last wait and the step,
    /// and its retry would be counted from the time that the step reaches.
    package var waitsForAttempts = true

    package enum Progress: Sendable { case waits, moved, ended }
    /// The clock after one step, and how it goes on.
    package typealias Answer = (clock: ClockState, progress: Progress)

    package func perform(_ job: JobContext, as caller: Control) throws -> Answer {
        guard job.state.generation == generation else {
            // The namespace was reset during the advance, so this is a different clock.
            return (ClockState(job.state.clock, job.now, reached: false, pending: 0), .ended)
        }
        if waitsForAttempts, !job.state.clock.isFrozen, try job.transaction.isSending() {
            return (ClockState(job.state.clock, job.now, reached: false), .waits)
        }
        let next = try job.transaction.nextDue()?.dueAt
        let moment = max(min(next ?? target, target), job.now)
        var clock = job.state.clock
        clock.move(to: moment, real: job.state.environment.realTime())
        try job.state.runDue(upTo: moment, job.transaction)
        try job.adopt(clock, at: moment, moment >= target ? .clockAdvanced : nil)
        return (ClockState(clock, moment, reached: moment >= target), moment < target ? .moved : .ended)
    }
}

extension ClockTarget {
    /// The moment of the target; `nil` if the next due time is wanted and nothing is due.
    fileprivate func moment(_ job: JobContext) throws -> Instant? {
        switch self {
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
            let (found, isSettled) = await find(target, head, deadline)
            do throws(PlatformError) {
                let clock = try await advance(to: found.result.get(), isSettled, head, deadline)
                return Completed(requestID: found.requestID, result: .success(clock))
            } catch {
                return Completed(requestID: found.requestID, result: .failure(error))
            }
        }
    }

    /// The moment to advance to, and the state of the namespace it was resolved for: a reset in the meantime ends the advance.
    private typealias FoundTarget = (moment: Instant?, generation: Int, clock: ClockState)

    /// Resolves a target once no webhook is in flight. The second value is `false` if that takes too long.
    ///
    /// A failed attempt schedules its retry, so nothing is due only if no attempt is in flight afterwards either.
    private func find(
        _ target: ClockTarget, _ head: RequestHead, _ deadline: SettleDeadline
    ) async -> (Completed<FoundTarget>, isSettled: Bool) {
        let resolve = { @Sendable (job: JobContext) throws -> FoundTarget in
            (try target.moment(job), job.state.generation, ClockState(job.state.clock, job.now))
        }
        var isSettled = await deadline.waitForDeliveries(outbox)
        var found = await run(head, .reads, resolve)
        while isSettled, case .success(let value) = found.result, value.moment == nil, outbox.notedCount > 0 {
            isSettled = await deadline.waitForDeliveries(outbox)
            found = Completed(requestID: found.requestID, result: await run(.background, .reads, resolve).result)
        }
        return (found, isSettled)
    }

    private func advance(
        to found: FoundTarget, _ isSettled: Bool, _ head: RequestHead, _ deadline: SettleDeadline
    ) async throws(PlatformError) -> ClockState {
        guard let moment = found.moment else {
            return found.clock.unmoved(pending: isSettled ? nil : outbox.notedCount)
        }
        var (isSettled, hasWaited) = (isSettled, false)
        while isSettled, !environment.isStopping {
            let step = StepClock(target: moment, generation: found.generation, waitsForAttempts: !hasWaited)
            let (clock, progress) = try await answer(.success(step), head.later).result.get()
            hasWaited = progress == .waits
            isSettled = await deadline.waitForDeliveries(outbox)
            if isSettled, progress == .ended { return clock }
        }
        let inFlight = outbox.notedCount
        return try await run(.background, .reads) { job in
            let pending = try job.transaction.countDue(upTo: moment) + inFlight
            return ClockState(job.state.clock, job.now, reached: false, pending: pending)
        }.result.get()
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
    package init(_ clock: Clock, _ now: Instant, reached: Bool? = nil, pending: Int? = nil) {
        self.init(
            now: now.display, epoch: now.epoch, mode: clock.isFrozen ? "frozen" : "running", reached: reached,
            pending: pending)
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
