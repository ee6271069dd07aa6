import SimulationAPI

/// The names of things for people, such as `Nike` for the brand `nike`.
struct Names {
    /// The names of values, by the member that has them.
    private let names: [TextKey: [TextKey: String]]

    /// - Parameter lists: the namespace's choices.
    init(_ lists: [String: [Choice]]) {
        func names(_ list: String) -> [TextKey: String] {
            Dictionary((lists[list] ?? []).map { (TextKey($0.id), $0.name) }) { first, _ in first }
        }
        self.names = [TextKey("brand"): names("brands"), TextKey("reason"): names("invalid_reasons")]
    }

    /// The name of a member's value, if it is a brand or a reason; else the value.
    func value(_ value: String, of member: String) -> String { names[TextKey(member)]?[TextKey(value)] ?? value }
}
