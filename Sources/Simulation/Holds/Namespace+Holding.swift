import SimulationAPI
import Storage

// A request that is held takes two jobs: the first triggers the rule, the second ends the hold. The request is handled in the
// second one, or in the first where only its answer is held. Between them nothing of the namespace waits.
extension Namespace {
    /// Begins to hold the request of a job if its fault says so. Writes.
    ///
    /// - Returns: the held request, or why there is no room for it; `nil` if the request is not held.
    func beginHold(
        _ head: RequestHead, _ requestID: String, _ job: JobContext, _ turn: JobTurn
    ) throws -> Result<HeldRequest, PlatformError>? {
        guard head.isHoldable, let metadata = head.metadata, let outcome = job.state.outcome,
            let fault = outcome.fault, let hold = fault.effect?.hold
        else { return nil }
        // A client may announce any number. More than any server has room for is as good as too much, and adding to it cannot overflow.
        let announced = min(metadata.header("Content-Length").first.flatMap { Int($0) } ?? 0, HoldLimits.mostAnnounced)
        let (secrets, since) = (Secrets(outcome.secrets), environment.realTime())
        let info = HeldInfo(
            id: try job.nextID(.held),
            request: HeldRequestInfo(
                id: secrets.masked(text: requestID), sequence: outcome.sequence, method: metadata.method,
                path: secrets.masked(text: metadata.path),
                username: outcome.username.map { secrets.masked(text: $0) },
                test: metadata.header("X-Sim-Test").first.map { secrets.masked(text: $0) }, trace: outcome.trace?.id),
            when: hold.moment.rawValue, since: since.epoch, until: (since + hold.span).epoch)
        let held = HeldRequest(
            info, hold, faultID: fault.id, in: name, generation: job.state.generation,
            bytes: max(head.size?.keptBytes ?? 0, announced))
        let found = environment.held.add(held)
        // A recording decides: how many are held by other namespaces at this moment is in no order with this job.
        let refusal = HoldRefusal(rawValue: turn.observe(found?.rawValue ?? 0))
        if let refusal {
            if found == nil { environment.held.discard(held) }
            return .failure(.unavailable("not held by the fault \(fault.id): \(refusal.text)"))
        }
        if found != nil { _ = environment.held.add(held, isDecided: true) }
        job.state.heldInBatch.append(held)
        job.note {
            $0.fault = TriggeredFault(
                id: fault.id, effect: AnswerEffect(held: held), proves: fault.proves, document: fault.document,
                bytes: fault.bytes)
        }
        try job.record(
            .requestHeld, info.id,
            [
                "request": .string(requestID), "sequence": .number(JSONNumber(Int(outcome.sequence))),
                "method": .string(metadata.method), "path": .string(metadata.path),
                "when": .string(hold.moment.rawValue), "for": .string(hold.span.text), "fault_id": .string(fault.id),
            ])
        turn.recordHold()
        return .success(held)
    }

    /// Waits until a request that was held before it was handled may go on, then handles it.
    ///
    /// - Parameters:
    ///   - first: the result of the job that held it.
    ///   - body: handles it.
    func handle(
        _ held: HeldRequest, after first: Completed<Void>, _ head: RequestHead, _ access: Access,
        _ body: @escaping @Sendable (JobContext) throws -> Void
    ) async -> Completed<Void> {
        let environment = environment
        let wake = await environment.sequencer.observeHold { await held.wait(head.caller as? any HoldingCaller) }
        @Sendable func refused(_ error: PlatformError) -> Completed<Void> {
            Completed(requestID: first.requestID, result: .failure(error), outcome: first.outcome)
        }
        let turn: JobTurn
        do {
            turn = try await environment.sequencer.turn()
        } catch {
            _ = environment.held.end(held, after: .stopping)
            return refused(error)
        }
        return await withCheckedContinuation { continuation in
            mailbox.post(
                .job(
                    run: { [self] state, transaction in
                        try turn.run {
                            let end = environment.held.end(held, after: wake)
                            let ended: Completed<Void>
                            if let refusal = end.refusal(.before, faultID: held.faultID) {
                                ended = refused(refusal)
                            } else {
                                let timedOut = if case .timeOver = end { held } else { nil as HeldRequest? }
                                ended = try handle(first, timedOut, head, access, state, transaction, body)
                            }
                            return { continuation.resume(returning: ended) }
                        }
                    },
                    refuse: { error in
                        turn.pass()
                        let end = environment.held.end(held, after: wake)
                        continuation.resume(returning: refused(end.refusal(.before, faultID: held.faultID) ?? error))
                    }))
        }
    }

    /// Ends the hold of an answer, once it may be sent or has lost its client.
    ///
    /// - Parameter bytes: the size of the answer.
    package func endHold(_ held: HeldRequest, ofAnswer bytes: Int, _ caller: (any CallerPresence)?) async -> HoldEnd {
        let environment = environment
        let wake = await environment.sequencer.observeHold {
            guard environment.held.grow(held, by: bytes) else { return .tooLarge }
            return await held.wait(caller as? any HoldingCaller)
        }
        let isOrdered = environment.sequencer.ordersAllJobs
        guard isOrdered || wake == .timeOver else { return environment.held.end(held, after: wake) }
        do {
            return try await runExclusively { [self] state in
                let end = environment.held.end(held, after: wake)
                if case .timeOver = end { note([held], nil, state) }
                return end
            }
        } catch {
            // Where a replay ends, or the namespace cannot be opened.
            return environment.held.end(held, after: isOrdered ? .stopping : wake)
        }
    }
}

extension JobSequencer {
    /// Waits for the end of a hold. A replay does not wait: it has the recorded reason.
    fileprivate func observeHold(_ wait: () async -> HeldRequest.Wake) async -> HeldRequest.Wake {
        let number = await observe { await wait().rawValue }
        return HeldRequest.Wake(rawValue: number) ?? .ended
    }
}

extension Completed where Output == Void {
    /// The request that is held before it is handled; `nil` if there is none.
    var heldBefore: HeldRequest? {
        guard case .success = result, let held = outcome?.fault?.effect?.held, held.hold.moment == .before
        else { return nil }
        return held
    }
}
