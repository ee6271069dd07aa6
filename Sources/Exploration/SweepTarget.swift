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
    package var plainName: String { SweepCell.plainName(name) }

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

/// A call that the client made again because of a fault, with that fault before it.
package struct RepeatedCall: SweepTarget {
    /// For instance `POST /sdk/search #2 after lose_answer at #1`.
    package let name: String
    /// The rules of the first fault.
    private let first: [JSONValue]
    private let call: SweptCall

    /// The call after a fault; `nil` if the client did not repeat the call at which the fault was.
    ///
    /// - Parameters:
    ///   - usual: the requests of a run without a fault that have the plain name of a call.
    ///   - journal: the requests of the run with the fault, oldest first.
    init?(
        after cell: SweepCell, _ rules: Set<String>, _ journal: [JournaledRequest], _ names: CallNames,
        usual: (String) -> Int
    ) {
        guard cell.kind?.place == .call, let place = journal.firstIndex(where: { $0.isTriggered(by: rules) }) else {
            return nil
        }
        let plain = names.name(of: journal[place])
        let calls = names.calls(of: journal).found.filter { $0.plainName == plain }
        let places = journal.indices.filter { names.name(of: journal[$0]) == plain }
        guard calls.count == places.count, calls.count > usual(plain) else { return nil }
        // The same path is the repetition; a client that begins anew has another one.
        let later = places.indices.filter { places[$0] > place }
        guard let again = later.first(where: { journal[places[$0]].path == journal[place].path }) ?? later.first,
            let number = places.firstIndex(of: place).map({ $0 + 1 })
        else { return nil }
        call = calls[again]
        name = "\(call.name) after \(cell.fault) at #\(number)"
        first = cell.setup.faults
    }

    package func takes(_ fault: SweepFault) -> Bool { call.takes(fault) }

    /// The second rule stands first: a request that triggers a rule is not counted by those behind it.
    package func setup(_ fault: SweepFault) -> SweepSetup {
        SweepSetup(faults: call.setup(fault).faults + first)
    }
}

extension JournaledRequest {
    func isTriggered(by rules: Set<String>) -> Bool { decided_by.fault.map(rules.contains) ?? false }
}

extension WebhookDelivery {
    func isTriggered(by rules: Set<String>) -> Bool { fault.map(rules.contains) ?? false }
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

    /// The seconds that the faults alone add to a run of a client that waits as it should.
    var cost: Double {
        faults.reduce(0) { sum, rule in
            let effect = rule.members?["effect"]
            return sum + (SweepFault.allCases.first { $0.effect == effect }?.cost ?? 0)
        }
    }

    /// Whether the settings of a run have the change still.
    func holds(in now: JSONValue) -> Bool {
        func holds(_ wanted: JSONValue, _ now: JSONValue?) -> Bool {
            guard let members = wanted.members else { return wanted == now }
            return members.sorted.allSatisfy { holds($0.value, now?.members?[$0.name]) }
        }
        return settings.map { holds($0, now) } ?? true
    }
}
