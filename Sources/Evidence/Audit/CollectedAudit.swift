import Simulation
import SimulationAPI

/// The facts of one namespace for `GET /_sim/audits`. The job only collects; ``AuditMaterial/report(_:)`` judges.
package struct CollectedAudit: Sendable {
    package let material: AuditMaterial
    /// The number of requests that the namespace got.
    package let requests: Int64
    /// The fault rules that were never triggered, in words.
    package let unmetFaults: [String]

    /// - Parameter judged: the number of the last request that was judged before. That the journal has forgotten those is no gap.
    package init(_ job: JobContext, judged: Int64) throws {
        material = try AuditMaterial(job, AuditFilter(rule: nil, level: nil), judged: judged)
        requests = job.lastRequestSequence
        unmetFaults = try FaultRule.unmet(job)
    }
}
