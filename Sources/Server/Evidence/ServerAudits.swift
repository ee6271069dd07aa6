import Evidence
import NIOConcurrencyHelpers
import Simulation
import SimulationAPI

/// The audits of a server's namespaces. Those of worlds that ended, by a deletion, a reset, a restore or the start of a scenario, are kept
/// if the server was told so, as `entrupy-sim run` does [D audit].
final class ServerAudits: Sendable {
    /// What is known beside the living namespaces.
    private struct Kept {
        var ended: [(world: Int, judged: Judged)] = []
        /// The number of worlds that were kept.
        var worlds = 0
        /// The number of the last request that was judged, by namespace.
        var judged: [String: Int64] = [:]
        var isIncomplete = false
        /// The findings that tests told themselves, by namespace: those of requests up to a number, from a level on.
        var told: [String: Told] = [:]
    }

    /// The findings that tests of a namespace told themselves: those of requests up to a number, from a level on.
    private struct Told {
        typealias Part = (through: Int64, level: AuditReport.Level)
        /// The findings of all tests; `nil` if nobody told them.
        var all: Part?
        /// Those of single tests, in a namespace that they share.
        var byTest: [String: Part] = [:]

        /// Whether a test told a finding.
        ///
        /// - Parameter last: the number of the namespace's last request.
        func contains(_ finding: AuditReport.Finding, last: Int64) -> Bool {
            if let all, all.through >= last { return all.level == .warning || finding.level == .error }
            guard let part = finding.test.flatMap({ byTest[$0] }), part.level == .warning || finding.level == .error
            else {
                return false
            }
            return finding.requests.allSatisfy { $0.sequence <= part.through }
        }
    }

    private typealias Judged = (namespace: ServerAudit.Namespace, rules: [AuditReport.Rule])

    /// The maximum number of ended worlds that are kept, the first ones, and of tests of a namespace that told their findings.
    private static let (maxEnded, maxTests) = (10_000, 10_000)

    private let namespaces: Namespaces
    private let keepsEnded: Bool
    private let kept = NIOLockedValueBox(Kept())

    init(_ namespaces: Namespaces, keepsEnded: Bool) {
        self.namespaces = namespaces
        self.keepsEnded = keepsEnded
        guard keepsEnded else { return }
        namespaces.environment.endOfWorld.withLockedValue {
            $0 = { [weak self] namespace, isDeleted in await self?.keep(namespace, isDeleted: isDeleted) ?? {} }
        }
    }

    /// Notes that a test tells the findings of all requests until now, or of those of a test, from a level on. Without effect where
    /// deleted namespaces are not kept.
    func tell(_ level: AuditReport.Level, of namespace: Namespace, test: String?) async {
        // A namespace that ends has nothing to tell.
        guard keepsEnded,
            let last = try? await namespace.run(.background, .reads, { $0.lastRequestSequence }).result.get()
        else { return }
        kept.withLockedValue { kept in
            guard let test else { return kept.told[namespace.name, default: Told()].all = (last, level) }
            guard kept.told[namespace.name]?.byTest.count ?? 0 < Self.maxTests else { return }
            kept.told[namespace.name, default: Told()].byTest[test] = (last, level)
        }
    }

    /// Everything that is known. A namespace that is deleted meanwhile is in it once.
    func report() async throws -> ServerAudit {
        var judged: [Judged] = []
        for namespace in namespaces.all() {
            // One that is deleted meanwhile was judged before.
            if let found = try? await judge(namespace, isDeleted: false).judged { judged.append(found) }
        }
        let before = kept.withLockedValue { $0 }
        judged = before.ended.map(\.judged) + judged
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

    /// Judges a world that is about to end, and keeps that.
    ///
    /// - Returns: a function that forgets a world that goes on: it is judged again when it ends.
    private func keep(_ namespace: Namespace, isDeleted: Bool) async -> @Sendable () -> Void {
        // A world that cannot be judged ends all the same.
        guard kept.withLockedValue({ $0.ended.count < Self.maxEnded }),
            let (judged, last) = try? await judge(namespace, isDeleted: isDeleted)
        else {
            kept.withLockedValue { $0.isIncomplete = true }
            return {}
        }
        let name = namespace.name
        return kept.withLockedValue { kept in
            let (world, before, told) = (kept.worlds, kept.judged[name], kept.told[name])
            kept.worlds += 1
            if isDeleted { kept.told[name] = nil }
            kept.judged[name] = isDeleted ? nil : last
            if judged.namespace.requests > 0 || !judged.namespace.unmet_faults.isEmpty {
                kept.ended.append((world, judged))
            }
            return { [weak self] in
                self?.kept.withLockedValue { kept in
                    kept.ended.removeAll { $0.world == world }
                    kept.judged[name] = before
                    if kept.told[name] == nil { kept.told[name] = told }
                }
            }
        }
    }

    private func judge(_ namespace: Namespace, isDeleted: Bool) async throws -> (judged: Judged, last: Int64) {
        let before = kept.withLockedValue { $0.judged[namespace.name] } ?? 0
        let collected = try await namespace.run(.background, .reads) {
            try CollectedAudit($0, judged: before)
        }.result.get()
        let report = try await namespaces.environment.audit { collected.material.report(DescribedMembers.known) }
        let told = kept.withLockedValue { $0.told[namespace.name] } ?? Told()
        let audit = ServerAudit.Namespace(
            name: namespace.name, deleted: isDeleted, requests: max(0, collected.requests - before),
            told: told.all.map { $0.through >= collected.requests } ?? false, unmet_faults: collected.unmetFaults,
            findings: report.findings.filter { !told.contains($0, last: collected.requests) })
        return ((audit, report.rules), collected.requests)
    }
}
