import Evidence
import Simulation
import SimulationAPI

/// Explanations of what happened in a namespace (`/_sim/explain`), and its audit (`/_sim/audit`).
struct EvidenceRoutes: Sendable {
    let audits: ServerAudits

    func add(to routes: Routes) {
        routes.get("explain/{id}") { Explain($0.path("id")) }
        routes.reading("audit", .bytes, audit)
        routes.on(.get, "audits", allAudits)
    }

    @Sendable private func allAudits(_ request: RequestReader) async -> Answer {
        let acknowledged = await request.acknowledge { _ in }
        guard case .success = acknowledged.result else { return acknowledged.emptyResponse() }
        do {
            let report = try await audits.report()
            return acknowledged.response {
                JSONAnswer.response(report, status: .ok, requestID: acknowledged.requestID)
            }
        } catch {
            return await request.refuse(error)
        }
    }

    /// The namespace's job collects; the judgement is made on the server's threads.
    @Sendable private func audit(_ request: RequestReader) async -> Answer {
        await request.reading(.ignored, { try AuditFilter($0) }) { filter in
            let collected = await request.namespace.answer(.success(Audit(filter)), request.head)
            var judged: Result<AuditReport, PlatformError>
            do {
                let material = try collected.result.get()
                let report = try await request.namespace.environment.audit {
                    material.report(DescribedMembers.known)
                }
                judged = .success(report)
                if let level = filter.told { await audits.tell(level, of: request.namespace, test: filter.test) }
            } catch {
                judged = .failure(PlatformError(carrying: error))
            }
            return Completed<AuditReport>(
                requestID: collected.requestID, result: judged, outcome: collected.outcome
            ).response()
        }
    }
}
