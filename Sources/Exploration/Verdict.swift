import SimulationAPI

/// The meaning of one run with a fault.
package enum Verdict: String, Codable, Sendable, CaseIterable {
    /// The client succeeded, and the platform ended as without the fault.
    case recovered
    /// The client failed, and the platform has nothing that it has not without the fault.
    case gaveUp = "gave up"
    /// The client succeeded, and the platform ended otherwise.
    case silent
    /// The platform has more than without the fault.
    case doubled
    /// The client did not end in three times the usual time.
    case hung
    /// The client broke a rule of the audit that it keeps without the fault.
    case misuse
    /// The fault was not triggered, so nothing was tried.
    case notMet = "not met"
    /// The client was not run, or not to its end.
    case notRun = "not run"

    package var isBug: Bool { [.silent, .doubled, .hung, .misuse].contains(self) }
    /// Whether the cell was tried, and shows no bug.
    package var isPass: Bool { [.recovered, .gaveUp].contains(self) }

    /// One character for the table, and its meaning.
    package var legend: (mark: String, meaning: String) {
        switch self {
        case .recovered: (".", "recovered")
        case .gaveUp: ("g", "gave up: another exit code, and nothing more than without the fault")
        case .silent: ("S", "silent: exit 0, another end")
        case .doubled: ("D", "doubled: more than without the fault")
        case .hung: ("H", "hung")
        case .misuse: ("M", "misuse: breaks a rule")
        case .notMet: ("?", "not met: the fault was not triggered")
        case .notRun: ("!", "not run")
        }
    }

    /// - Parameters:
    ///   - isMet: whether the fault was triggered.
    ///   - misuse: the rules of the audit that only this run breaks.
    package init(_ ending: ClientEnding, isMet: Bool, _ state: EndState, misuse: [String]) {
        self =
            if !isMet {
                .notMet
            } else if ending.isLate {
                .hung
            } else if state.hasMore {
                .doubled
            } else if ending.code == 0, !state.isEqual {
                .silent
            } else if !misuse.isEmpty {
                .misuse
            } else {
                ending.code == 0 ? .recovered : .gaveUp
            }
    }
}
