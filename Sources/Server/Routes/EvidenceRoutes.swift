import Evidence
import Simulation
import SimulationAPI

/// Explanations of what happened in a namespace (`/_sim/explain`), and its audit (`/_sim/audit`).
enum EvidenceRoutes {
    static func add(to routes: Routes) {
        routes.get("explain/{id}") { Explain($0.path("id")) }
        routes.reading("audit", .bytes, audit)
    }

    /// The namespace's job collects; the judgement is made on the server's threads.
    @Sendable private static func audit(_ request: RequestReader) async -> Answer {
        await request.reading(.ignored, { try AuditFilter($0) }) { filter in
            let collected = await request.namespace.answer(.success(Audit(filter)), request.head)
            var judged: Result<AuditReport, PlatformError>
            do {
                let material = try collected.result.get()
                let known = material.needsMembers ? try await DescribedMembers.known.made() : nil
                let report = try await request.namespace.environment.offload { material.report(known) }
                judged = .success(report)
            } catch {
                judged = .failure(PlatformError(carrying: error))
            }
            return Completed<AuditReport>(
                requestID: collected.requestID, result: judged, outcome: collected.outcome
            ).response()
        }
    }
}
