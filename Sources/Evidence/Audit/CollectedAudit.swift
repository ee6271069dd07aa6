import Simulation
import SimulationAPI

/// The facts of one namespace for `GET /_sim/audits`. The job only collects; ``AuditMaterial/report(_:)`` judges.
package struct CollectedAudit: Sendable {
    package let material: AuditMaterial
    /// The number of requests that the namespace got.
    package let requests: Int64
    /// The fault rules that were never triggered, in words.
    package let unmetFaults: [String]

    package init(_ job: JobContext) throws {
        material = try AuditMaterial(job, AuditFilter(rule: nil, level: nil))
        requests = job.lastRequestSequence
        unmetFaults = try FaultRule.unmet(job)
    }
}
