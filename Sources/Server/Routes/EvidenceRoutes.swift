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
        await request.acknowledge { _ in
        } then: {
            try await audits.report()
        } render: {
            $0.response()
        }
    }

    /// The namespace's job collects; the judgement is made on the server's threads.
    @Sendable private func audit(_ request: RequestReader) async -> Answer {
        await request.reading(.ignored, { try AuditFilter($0) }) { filter in
            let collected = await request.namespace.answer(.success(Audit(filter)), request.head)
            return await collected.response(awaiting: { material throws(PlatformError) in
                do {
                    let report = try await request.namespace.environment.audit {
                        material.report(DescribedMembers.known)
                    }
                    if let level = filter.told { await audits.tell(level, of: request.namespace, test: filter.test) }
                    return JSONAnswer.response(report, status: .ok, requestID: collected.requestID)
                } catch {
                    throw PlatformError(carrying: error)
                }
            })
        }
    }
}
