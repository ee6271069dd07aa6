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

    /// One character for the table.
    package var mark: String {
        switch self {
        case .recovered: "."
        case .gaveUp: "g"
        case .silent: "S"
        case .doubled: "D"
        case .hung: "H"
        case .misuse: "M"
        case .notMet: "?"
        case .notRun: "!"
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
