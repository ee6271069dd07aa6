import SimulationAPI

extension Namespace {
    /// `POST /_sim/reset`: returns the namespace to its initial values, in place. Waiting requests continue with the
    /// new state.
    package func reset(_ head: RequestHead) async -> Completed<NamespaceInfo> {
        let environment = environment
        let requestID = await answer(.success(Acknowledge()), head).requestID
        do {
            try await runExclusively { state in
                guard let old = state else { throw PlatformError.unknownNamespace("the namespace was deleted") }
                let recipe = try NamespaceRecipe(of: old)
                state = try recipe.make(environment, closeOld: { try old.database.close() })
                environment.journals.clear(old.name)
            }
            return Completed(requestID: requestID, result: await answer(.success(ShowNamespace()), head).result)
        } catch {
            let refusal = error as? PlatformError ?? .unavailable("the namespace cannot be reset: \(error)")
            return Completed(requestID: requestID, result: .failure(refusal))
        }
    }
}

/// A namespace as the control API lists it.
package struct ShowNamespace: Operation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> NamespaceInfo {
        let counts = try job.transaction.counts()
        let ttl = try job.transaction.namespaceValue(.ttl).flatMap { Int64($0) }
        return NamespaceInfo(
            name: job.state.name, url: job.publicURL, random_seed: job.state.generator.randomSeed,
            seed: job.state.seed.name, clock: ClockState(job.state.clock, job.now),
            counts: NamespaceCounts(
                users: counts.users, sessions: counts.sessions, captures: counts.captures,
                authentications: counts.items, events: counts.events),
            database_bytes: try job.transaction.databaseBytes(), ttl: ttl.map { Double($0) / 1e6 })
    }
}
