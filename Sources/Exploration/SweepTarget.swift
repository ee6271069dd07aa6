import SimulationAPI

/// A part of a run at which faults are tried, one at a time.
package protocol SweepTarget: Sendable {
    /// For instance `POST /sdk/login #1`.
    var name: String { get }
    func takes(_ fault: SweepFault) -> Bool
    func setup(_ fault: SweepFault) -> SweepSetup
}

extension SweepTarget {
    /// The name without its number.
    package var plainName: String { name.lastIndex(of: "#").map { String(name[..<$0].dropLast()) } ?? name }

    /// Whether a person means this target, or all with its plain name.
    package func isCalled(_ text: String) -> Bool { text == name || text == plainName }
}

/// A whole run, of which a switch of the future is on from its beginning.
package struct WholeRun: SweepTarget {
    package let name = "every call"

    package func takes(_ fault: SweepFault) -> Bool { fault.place == .wholeRun }

    package func setup(_ fault: SweepFault) -> SweepSetup {
        guard case .future(let change) = fault else { return SweepSetup() }
        return SweepSetup(settings: ["future": [change.rawValue: true]])
    }
}

/// The change of a namespace before a run, in the words of a scenario.
package struct SweepSetup: Equatable, Sendable {
    /// The fault rules. Each must be triggered, else the fault is not met.
    package var faults: [JSONValue] = []
    /// A merge patch of the settings; `nil` for no change.
    package var settings: JSONValue?

    package init(faults: [JSONValue] = [], settings: JSONValue? = nil) {
        self.faults = faults
        self.settings = settings
    }

    /// One rule that triggers once, after as many matches.
    init(rule fault: SweepFault, match: JSONValue, after: Int) {
        faults = [
            [
                "match": match, "effect": fault.effect ?? [:], "after_requests": .number(JSONNumber(after)), "times": 1,
            ]
        ]
    }

    /// The event of the webhook at which the fault is; `nil` if it is at none.
    var event: String? { faults.lazy.compactMap { $0.members?["match"]?.members?["webhook"]?.text }.first }

    /// Whether the settings of a run have the change still.
    func holds(in now: JSONValue) -> Bool {
        func holds(_ wanted: JSONValue, _ now: JSONValue?) -> Bool {
            guard let members = wanted.members else { return wanted == now }
            return members.sorted.allSatisfy { holds($0.value, now?.members?[$0.name]) }
        }
        return settings.map { holds($0, now) } ?? true
    }
}
