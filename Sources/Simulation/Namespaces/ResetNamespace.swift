import SimulationAPI
import Storage

extension Namespace {
    /// `POST /_sim/reset`: returns the namespace to its initial values, in place. Waiting requests continue with the
    /// new state.
    package func reset(_ head: RequestHead) async -> Completed<NamespaceInfo> {
        await runLongOperation(head) { [self, environment] in
            let isRemade = environment.damaged.has(name) ? try await remake() : false
            if !isRemade {
                try await replaceState { old in
                    try NamespaceRecipe(of: old).make(environment, closeOld: { try old.database.close() })
                }
            }
            return try await answer(.success(ShowNamespace()), head).result.get()
        }
    }

    /// Makes a namespace that cannot be opened anew, with the server's own initial values: those of its file cannot be read. The file is
    /// kept under another name.
    ///
    /// - Returns: `false` if the namespace is open by now.
    private func remake() async throws -> Bool {
        try await runExclusively(opensFirst: false) { [self, environment] state in
            try checkExists {}
            // The call's first job tried to open it a moment ago.
            guard state == nil else { return false }
            let generator = SeededGenerator(randomSeed: environment.configuration.randomSeed)
            let recipe = NamespaceRecipe(
                name: name, seed: environment.seed, randomSeed: generator.seed(ofNamespace: name),
                settings: environment.settings, frozenAt: nil, ttl: nil)
            state = try recipe.make(environment, closeOld: { try environment.store.setAside(name) })
            environment.damaged.remove(name)
            environment.journals.clear(name, forgetting: nil)
            return true
        }
    }

    /// Replaces the state in place and clears the journal. Waiting requests continue with the new state.
    ///
    /// - Parameters:
    ///   - usesFiles: whether `make` reads or writes files beside the database.
    ///   - forgets: whether the new state is one that the namespace had, so that its requests happened.
    ///   - make: returns the new state, and closes the old database.
    func replaceState(
        usesFiles: Bool = false, forgets: Bool = false,
        with make: @escaping @Sendable (_ old: NamespaceState) throws -> NamespaceState
    ) async throws {
        let resume = await environment.endOfWorld.withLockedValue { $0 }?(self, false)
        do {
            try await runExclusively(usesFiles: usesFiles) { [environment] state in
                guard let old = state else { throw PlatformError.unknownNamespace("the namespace was deleted") }
                let made = try make(old)
                made.continueSequences(after: old.lastSequence)
                state = made
                // A clock that goes back with the state passes the times of forgotten requests again.
                let real = environment.realTime()
                let now = [old.clock, made.clock].map { clock in
                    var clock = clock
                    return clock.now(real: real)
                }
                environment.journals.clear(
                    old.name,
                    forgetting: forgets
                        ? Forgotten(at: max(now[0], now[1]), sequence: made.lastSequence) : nil)
            }
        } catch {
            resume?()
            throw error
        }
    }
}

/// A namespace as the control API lists it.
package struct ShowNamespace: Operation, Reads {
    private let hasNotes: Bool

    /// - Parameter hasNotes: whether the answer says what is probably meant otherwise.
    package init(hasNotes: Bool = false) {
        self.hasNotes = hasNotes
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> NamespaceInfo {
        NamespaceInfo(
            name: job.state.name, url: job.publicURL, random_seed: job.state.generator.randomSeed,
            seed: job.state.seed.name, clock: ClockState(job.state.clock, job.now),
            counts: try job.transaction.namespaceCounts(),
            database_bytes: try job.transaction.databaseBytes(),
            ttl: job.state.ttl.map { Double($0.microseconds) / 1e6 },
            notes: hasNotes ? Self.behind(job).map { [$0] } : nil)
    }

    /// The note on a clock so far behind real time that sessions are over on a device, also those of a day; `nil` on other clocks. The
    /// vendor's sample apps compare a session's end with the device's clock [P].
    private static func behind(_ job: JobContext) -> ErrorDetail? {
        let lifetime = min(.day, job.state.settings.loginLifetime ?? .day)
        guard job.now + lifetime <= job.state.environment.realTime() else { return nil }
        let isFrozen = job.state.clock.isFrozen
        return ErrorDetail(
            isFrozen ? "clock.freeze" : "clock",
            """
            the clock is \(isFrozen ? "frozen " : "")at \(job.now.display), \
            \(DurationText.text(microseconds: lifetime.microseconds)) or more behind real time: a device that compares a session's \
            expiration_time with its own clock takes every session for over, and logs in until the limit of logins. Freeze at \
            the present with {"clock": {"freeze": "now"}}
            """)
    }
}

extension Transaction {
    /// The numbers of rows that the control API shows. Their names are fixed on the wire.
    func namespaceCounts() throws -> NamespaceCounts {
        let rows = try counts()
        return NamespaceCounts(
            users: rows.users, sessions: rows.sessions, captures: rows.captures, authentications: rows.items,
            events: rows.events)
    }
}
