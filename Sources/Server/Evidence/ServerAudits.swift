import Evidence
import NIOConcurrencyHelpers
import Simulation
import SimulationAPI

/// The audits of a server's namespaces. Those of deleted ones are kept if the server was told so, as `entrupy-sim run` does
/// [D audit].
final class ServerAudits: Sendable {
    /// What is known beside the living namespaces.
    private struct Kept {
        var ended: [Judged] = []
        var isIncomplete = false
        /// The findings that tests told themselves, by namespace: those of requests up to a number, from a level on.
        var told: [String: (through: Int64, level: AuditReport.Level)] = [:]
    }

    private typealias Judged = (namespace: ServerAudit.Namespace, rules: [AuditReport.Rule])

    /// The maximum number of deleted namespaces that are kept, the first ones.
    private static let maxEnded = 10_000

    private let namespaces: Namespaces
    private let keepsEnded: Bool
    private let kept = NIOLockedValueBox(Kept())

    init(_ namespaces: Namespaces, keepsEnded: Bool) {
        self.namespaces = namespaces
        self.keepsEnded = keepsEnded
        guard keepsEnded else { return }
        namespaces.beforeDeletion { [weak self] in await self?.keep($0) }
    }

    /// Notes that a test tells the findings of all requests until now, from a level on. Without effect where deleted namespaces are
    /// not kept.
    func tell(_ level: AuditReport.Level, of namespace: Namespace) async {
        // A namespace that ends has nothing to tell.
        guard keepsEnded,
            let last = try? await namespace.run(.background, .reads, { $0.lastRequestSequence }).result.get()
        else { return }
        kept.withLockedValue { $0.told[namespace.name] = (last, level) }
    }

    /// Everything that is known. A namespace that is deleted meanwhile is in it once.
    func report() async throws -> ServerAudit {
        var judged: [Judged] = []
        for namespace in namespaces.all() {
            // One that is deleted meanwhile was judged before.
            if let found = try? await judge(namespace, isDeleted: false) { judged.append(found) }
        }
        let before = kept.withLockedValue { $0 }
        judged = before.ended + judged
        var rules: [AuditReport.Rule] = []
        for (namespace, own) in judged {
            if rules.isEmpty {
                rules = own.map { AuditReport.Rule(id: $0.id, level: $0.level, looked_at: 0, not_judged: nil) }
            }
            for (place, rule) in own.enumerated() {
                rules[place].looked_at += rule.looked_at
                guard let reason = rule.not_judged, !namespace.told, rules[place].not_judged == nil else { continue }
                rules[place].not_judged = "in \(namespace.name): \(reason)"
            }
        }
        let shown = judged.map(\.namespace).filter { $0.requests > 0 || !$0.unmet_faults.isEmpty }
        return ServerAudit(
            namespaces: shown.sorted { $0.name < $1.name }, rules: rules, incomplete: before.isIncomplete || !keepsEnded
        )
    }

    private func keep(_ namespace: Namespace) async {
        // A namespace that cannot be judged is deleted all the same.
        guard kept.withLockedValue({ $0.ended.count < Self.maxEnded }),
            let judged = try? await judge(namespace, isDeleted: true)
        else { return kept.withLockedValue { $0.isIncomplete = true } }
        kept.withLockedValue { kept in
            kept.told[namespace.name] = nil
            kept.ended.append(judged)
        }
    }

    private func judge(_ namespace: Namespace, isDeleted: Bool) async throws -> Judged {
        let collected = try await namespace.run(.background, .reads) { try CollectedAudit($0) }.result.get()
        let known = collected.material.needsMembers ? try await DescribedMembers.known.made() : nil
        let report = try await namespaces.environment.audit { collected.material.report(known) }
        let told = kept.withLockedValue { $0.told[namespace.name] }.flatMap {
            $0.through >= collected.requests ? $0.level : nil
        }
        return (
            ServerAudit.Namespace(
                name: namespace.name, deleted: isDeleted, requests: collected.requests, told: told != nil,
                unmet_faults: collected.unmetFaults,
                findings: report.findings.filter { told == nil || told == .error && $0.level == .warning }),
            report.rules
        )
    }
}
