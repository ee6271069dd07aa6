import SimulationAPI

/// A part of a run at which faults are tried, one at a time: a call, a webhook, or the whole run.
package struct SweepTarget: Sendable {
    /// For instance `POST /sdk/login #1`, `webhook session.completed #1` or `POST /sdk/search #2 after lose_answer at #1`.
    package private(set) var name: String
    let place: SweepFault.Place
    /// The match of a fault rule for the call or webhook.
    var match: JSONValue = [:]
    /// The earlier requests or attempts of the run that such a rule matches.
    var before = 0
    /// Those of ``before`` that are first attempts, to which alone ``SweepFault/twice`` and ``SweepFault/reordered`` apply.
    var firstBefore = 0
    /// A fault of the place that cannot happen at this call or webhook.
    var excluded: SweepFault?
    /// The rules of the first fault of a pair.
    private(set) var first: [JSONValue] = []

    /// A whole run, of which a switch of the future is on from its beginning.
    package static let wholeRun = Self(name: "every call", place: .wholeRun)

    /// The name without its number.
    package var plainName: String { SweepCell.plainName(name) }

    /// Whether a person means this target, or all with its plain name.
    package func isCalled(_ text: String) -> Bool { text == name || text == plainName }

    package func takes(_ fault: SweepFault) -> Bool { fault.place == place && fault != excluded }

    package func setup(_ fault: SweepFault) -> SweepSetup {
        if let change = fault.change { return SweepSetup(settings: ["future": [change.rawValue: true]]) }
        let after = fault == .twice || fault == .reordered ? firstBefore : before
        let rule: JSONValue = [
            "match": match, "effect": fault.effect ?? [:], "after_requests": .number(JSONNumber(after)), "times": 1,
        ]
        // The second rule stands first: a request that triggers a rule is not counted by those behind it.
        return SweepSetup(faults: [rule] + first)
    }
}

extension SweepTarget {
    /// The call that the client made again because of a fault, with that fault before it; `nil` if it did not repeat the call at which
    /// the fault was.
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
        self = calls[again]
        name += " after \(cell.fault) at #\(number)"
        first = cell.setup.faults
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
