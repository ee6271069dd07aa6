import Simulation
import SimulationAPI

/// An event of the log in words.
enum EventText {
    /// The members of an event's data that are shown, the first ones first.
    private static let shown = [
        "from", "to", "result", "flag", "status", "entrupy_id", "capture_id", "outcome_id", "fault_id", "username",
        "region_id",
        "action", "problem", "event", "attempt", "error",
    ]

    /// The maximum number of members that are shown.
    private static let maxMembers = 4

    static func text(_ event: StoredEvent, _ data: JSONValue) -> String {
        let members = data.members ?? [:]
        let parts = shown.compactMap { name -> String? in
            guard let value = members[name], value != .null else { return nil }
            return "\(name) \(value.text ?? value.quoted)"
        }
        let list = parts.prefix(maxMembers).joined(separator: ", ")
        return "\(event.kind) of \(event.subject)" + (list.isEmpty ? "" : ": \(list)")
    }
}
