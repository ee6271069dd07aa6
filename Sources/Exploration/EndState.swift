import SimulationAPI

/// The calls and members of the end state that differ between runs without a fault, so that they say nothing.
package struct LeftOut: Sendable {
    /// The names of calls that not every run makes, and of requests without a described route.
    package internal(set) var calls: [String] = []
    /// The names of webhooks that do not reach a receiver in every run.
    package internal(set) var webhooks: [String] = []
    /// The names of namespaces that the command makes itself, and not in every run.
    package internal(set) var namespaces: [String] = []
    /// Whether the command makes namespaces itself.
    package internal(set) var hasOwnNamespaces = false
    /// Whether the command makes namespaces with requests that it deletes again.
    package internal(set) var deletesNamespaces = false
    /// Members, as `item.result`.
    package internal(set) var members: Set<String> = []
    /// Kinds of objects whose keys differ from run to run. Only their number counts.
    package internal(set) var kinds: Set<String> = []

    /// Adds the difference of two runs without a fault.
    mutating func add(_ difference: StateDifference) {
        for object in difference.objects where !EndState.isTrace(object) {
            switch object.change {
            case .changed:
                for member in object.members where !EndState.unjudged.contains("\(object.kind).\(member.name)") {
                    members.insert("\(object.kind).\(member.name)")
                }
            case .added, .removed: kinds.insert(object.kind)
            }
        }
    }

    /// A sentence for each.
    package var sentences: [String] {
        calls.map { "call \($0): not in every run without a fault, or without a described route" }
            + webhooks.map { "\($0): no receiver answers it in every run without a fault" }
            + namespaces.map { "namespace \($0): not made in every run without a fault" }
            + (hasOwnNamespaces ? ["calls to namespaces that the command makes: only the ends are compared"] : [])
            + (deletesNamespaces ? ["namespaces that the command deletes again: they are not compared"] : [])
            + members.sorted().map { "\($0): differs between runs without a fault" }
            + kinds.sorted().map { "\($0): only the number counts, the objects differ between runs without a fault" }
    }
}

/// The objects of a run's end state that differ from the run without a fault, as far as they say something.
package struct EndState: Sendable {
    package private(set) var objects: [ObjectDifference] = []
    /// Whether more objects differ than the comparison lists.
    private let isTruncated: Bool

    /// The traces of a retry that every right client leaves: another login has another session and signed request. Fault rules are the
    /// sweep's own, and the attempts of a delivery follow from time.
    private static let traces: Set = ["session", "partner_session", "signed_request", "fault", "attempt"]
    /// Members that follow from time, or name the fault itself.
    static let unjudged: Set = [
        "delivery.status", "delivery.attempts", "delivery.next_attempt_at", "delivery.fault",
    ]

    static func isTrace(_ object: ObjectDifference) -> Bool { traces.contains(object.kind) }

    /// - Parameter cell: the fault of the run, whose own objects do not count.
    package init(_ difference: StateDifference, without leftOut: LeftOut, of cell: SweepCell? = nil) {
        var difference = difference
        if let cell, let kind = cell.kind {
            difference.objects = kind.withoutOwn(difference.objects, event: cell.setup.event)
        }
        isTruncated = difference.truncated
        // A capture whose answer was lost stays open, whatever the client does; the next one is matched with the first.
        let hidden = Self.surplus(of: "capture", difference).contains { $0.change == .added } ? Self.ofCaptures : []
        for object in difference.objects
        where !Self.isTrace(object) && !leftOut.kinds.contains(object.kind) && !hidden.contains(object.kind) {
            var object = object
            if object.change == .changed {
                object.members.removeAll {
                    let name = "\(object.kind).\($0.name)"
                    return leftOut.members.contains(name) || Self.unjudged.contains(name)
                }
                if object.members.isEmpty { continue }
            }
            objects.append(object)
        }
        for kind in leftOut.kinds.subtracting(hidden).sorted() { objects += Self.surplus(of: kind, difference) }
    }

    private static let ofCaptures: Set = ["capture", "picture"]

    /// The objects of a kind that are more or fewer than without the fault, whatever their keys are: their place among all is their key.
    private static func surplus(of kind: String, _ difference: StateDifference) -> [ObjectDifference] {
        let all = difference.objects.filter { $0.kind == kind }
        let added = all.filter { $0.change == .added }
        let removed = all.filter { $0.change == .removed }
        return (Array(added.enumerated()).dropFirst(removed.count) + Array(removed.enumerated()).dropFirst(added.count))
            .map {
                var object = $1
                object.key = ["nth": .number(JSONNumber($0 + 1))]
                return object
            }
    }

    package var isEqual: Bool { objects.isEmpty && !isTruncated }
    /// Whether there is more than in the run without a fault.
    package var hasMore: Bool { objects.contains { $0.change == .added } }
}
