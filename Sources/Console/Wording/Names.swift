import SimulationAPI

/// The names of things for people, such as `Nike` for the brand `nike`.
struct Names {
    private let brands: [TextKey: String]
    private let reasons: [TextKey: String]

    /// - Parameter lists: the namespace's choices.
    init(_ lists: [String: [Choice]]) {
        func names(_ list: String) -> [TextKey: String] {
            Dictionary((lists[list] ?? []).map { (TextKey($0.id), $0.name) }) { first, _ in first }
        }
        brands = names("brands")
        reasons = names("invalid_reasons")
    }

    /// The name of a member's value, if it is a brand or a reason; else the value.
    func value(_ value: String, of member: String) -> String {
        switch member {
        case "brand": brands[TextKey(value)] ?? value
        case "reason": reasons[TextKey(value)] ?? value
        default: value
        }
    }
}
