import Simulation
import SimulationAPI

/// `GET /_sim/explain/{id}`: why something happened: the chain of its causes, and what followed from it, oldest first
/// [D explain].
package struct Explain: Operation, Reads {
    let id: String

    /// - Parameter id: of a request (or `sequence:N`), an item, a capture, a session, a delivery, or `event:N`, `due:N`,
    ///   `control:N`.
    package init(_ id: String) {
        self.id = id
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> Explanation {
        var chain = CausalChain(job, secrets: try job.state.readSecrets(job.transaction))
        let subject = try begin(&chain, job)
        return chain.explanation(of: subject)
    }

    /// Adds what is explained, with its causes and consequences.
    ///
    /// - Throws: ``PlatformError/notFound(_:because:)`` if nothing has the id, or ``PlatformError/wrongState(_:_:because:)`` if
    ///   several requests have it.
    private func begin(_ chain: inout CausalChain, _ job: JobContext) throws -> Explanation.Subject {
        func subject(_ kind: String, _ id: String) -> Explanation.Subject { .init(kind: kind, id: id) }
        if let number = number(after: "event:") {
            guard let event = try job.transaction.event(sequence: number) else { throw missing }
            let step = try chain.add(event)
            try chain.follow(event)
            return subject("event", step)
        }
        for (prefix, kind, cause) in [("control:", "control", Cause.control), ("due:", "due_work", Cause.dueWork)] {
            guard let number = number(after: prefix) else { continue }
            guard let step = try chain.add(cause(number), at: job.now) else { throw missing }
            try chain.follow(cause(number))
            return subject(kind, step)
        }
        if let delivery = try job.transaction.delivery(id: id) {
            try chain.follow(delivery)
            return subject("delivery", delivery.id)
        }
        for platform in job.state.environment.platforms.all {
            guard let found = try platform.evidence.explained(id, job) else { continue }
            try chain.add(history: found)
            if found.isNamedInPaths { try chain.add(refusalsOf: found.subjects) }
            return subject(found.kind, id)
        }
        if let entry = try RequestName(id).found(job) {
            _ = try chain.add(entry)
            try chain.follow(.request(entry.sequence))
            return subject("request", entry.requestID)
        }
        guard try chain.add(history: ExplainedObject(kind: "object", subjects: [id])) > 0 else { throw missing }
        return subject("object", id)
    }

    private func number(after prefix: String) -> Int64? {
        id.utf8.starts(with: prefix.utf8) ? Int64(id.dropFirst(prefix.count)) : nil
    }

    private var missing: PlatformError {
        .notFound(
            "nothing here has the id \"\(id.excerpt)\"; give that of a request, an item, a capture, a session or a delivery, "
                + "or sequence:N, event:N, due:N, control:N. The journal may have forgotten a request")
    }
}
