/// Every decision that is ours [D]: neither the seed documents nor the vendor's public reference says.
///
/// `docs/fidelity.md` is made from this list, so that whoever knows the real platform can correct it in a minute.
package enum Fidelity {
    /// One decision.
    package struct Decision: Sendable {
        /// A short name, unique.
        package let id: String
        /// What we decided.
        package let rule: String
        /// The file that carries it, from the root of the repository.
        package let place: String
        /// What would settle it.
        package let settledBy: String
    }

    /// The text of `docs/fidelity.md`.
    package static var markdown: String {
        let head = """
            # Where the simulator decides for itself

            What follows is not in the vendor's documents or public reference: we decided it, so that the simulator has
            one answer everywhere. Each decision lives in one place. If you know the real platform, correct it there.

            This file is made by `entrupy-sim fidelity` from the lists in `Sources/Platform/Fidelity`; a test fails when the
            two differ.

            | decision | rule | where it lives | what would settle it |
            |---|---|---|---|

            """
        let rows = decisions.map { "| \($0.id) | \($0.rule) | `\($0.place)` | \($0.settledBy) |\n" }
        return head + rows.joined()
    }

    /// All of them, in the order the file has.
    package static let decisions: [Decision] =
        wire + time + people + captures + results + flags + search + partner + webhooks + certificates + rules
}
