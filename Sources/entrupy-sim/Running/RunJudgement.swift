import Foundation
import SimulationAPI

/// What happened in all namespaces of a run's server, and what the run did not test.
struct RunJudgement {
    let audit: ServerAudit
    /// The namespace of the run.
    let own: String

    /// The findings in all namespaces, errors first, and what the rules looked at. Those that tests have told are left out.
    var report: AuditReport {
        let findings = audit.namespaces.flatMap { namespace in
            namespace.findings.map { finding in
                var finding = finding
                if namespace.name != own { finding.text += ", in namespace \(namespace.name)" }
                return finding
            }
        }
        let ordered = findings.filter { $0.level == .error } + findings.filter { $0.level != .error }
        return AuditReport(findings: ordered, rules: audit.rules)
    }

    /// Sentences on the requests that did not come to the run's namespace; empty if one came.
    ///
    /// - Parameter isNeeded: whether it is a mistake that they went to namespaces which the tests have made.
    func missing(isNeeded: Bool) -> [String] {
        let asked = audit.namespaces.filter { $0.requests > 0 }
        guard !asked.contains(where: { $0.name == own }) else { return [] }
        guard !asked.isEmpty else {
            return ["no request came to /ns/\(own); does the client read ENTRUPY_SIM_URL?"]
        }
        let nothing = "no request came to /ns/\(own)"
        if let inDefault = asked.first(where: { $0.name == "default" }) {
            return [
                "\(nothing); the namespace default got \(Readable.count(Int(inDefault.requests), "request")): "
                    + "does the client leave out /ns/\(own)?"
            ]
        }
        let count = asked.reduce(0) { $0 + Int(clamping: $1.requests) }
        let others =
            "\(Readable.count(count, "request")) came to \(Readable.count(asked.count, "namespace")) that the tests made"
        return isNeeded ? ["\(nothing), where the scenario is; \(others)"] : []
    }

    /// What the run did not test.
    ///
    /// - Parameter scenario: the verified scenario; `nil` if the run has none.
    func notes(_ scenario: ScenarioRun?) -> [String] {
        var notes = missing(isNeeded: scenario != nil)
        if let scenario, scenario.expectations.isEmpty {
            notes.append("the scenario \(scenario.name) expects nothing: it has no expect:")
        }
        for namespace in audit.namespaces {
            let place = namespace.name == own ? "" : "in namespace \(namespace.name): "
            notes += namespace.unmet_faults.map { place + $0 }
        }
        if audit.incomplete { notes.append("too many namespaces were deleted to keep what happened in all of them") }
        return notes
    }

    /// Sentences on what the audit leaves out.
    var auditNotes: [String] {
        let told = audit.namespaces.count(where: \.told)
        return told > 0 ? ["note: the findings of \(Readable.count(told, "namespace")) are told by their tests"] : []
    }
}
