import Simulation
import SimulationAPI

extension ItemTemplate {
    private static let documented = ItemField.names
    /// Members of rules, which an item does not have.
    private static let ofRules = ["after", "delay", "match", "times"]

    /// Notes on members that are probably meant as others [D generated-items]. An item keeps every member, as the platform does, so
    /// none is refused. Of the members that no document names, the first ``FieldReader/maxGuesses`` are compared with those that are.
    var notes: [ErrorDetail] {
        let others = item.keys.filter { !$0.isOne(of: Self.documented) }.sortedByBytes()
        let rules = others.filter { $0.isOne(of: Self.ofRules) }.map { key in
            ErrorDetail(
                key,
                "is stored with the item and decides nothing: the item has its result at once; a scenario's timeline (set_result) or a patch of the item gives it another one later"
            )
        }
        let guesses = others.filter { !$0.isOne(of: Self.ofRules) }.prefix(FieldReader.maxGuesses).compactMap { key in
            let guess = FieldReader.guess(key, Self.documented)
            return guess.isEmpty
                ? nil : ErrorDetail(key, "is stored with the item, and no document names it; \(guess.dropLast())")
        }
        return rules + guesses
    }
}
