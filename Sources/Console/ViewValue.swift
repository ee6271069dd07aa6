import Mustache
import SimulationAPI

/// A value of a view as a template reads it: an object by the names of its members, everything else as the type of Swift.
///
/// Members without a value are null, so that a template never takes the member of an outer object for an absent one.
package struct ViewValue: MustacheParent, MustacheCustomRepresentation {
    private let json: JSONValue

    package init(_ json: JSONValue) {
        self.json = json
    }

    package func child(named name: String) -> Any? { json.members?[name].map(ViewValue.init) }

    package var representation: Any? {
        switch json {
        case .null: nil
        case .bool(let flag): flag
        case .number(let number): number.text
        case .string(let text): text
        case .array(let elements): elements.map(ViewValue.init)
        case .object: self
        }
    }
}

/// A list of a view that is not empty, so that a template can show something else where there is none.
struct Rows<Row: Encodable & Sendable>: Encodable, Sendable {
    let each: [Row]

    /// `nil` if there are no rows.
    init?(_ rows: some Sequence<Row>) {
        each = Array(rows)
        if each.isEmpty { return nil }
    }
}

/// A link that chooses what a page shows.
struct Tab: Encodable, Sendable {
    let name, link: String
    let isCurrent: Bool
}

/// The part of a time that has passed.
struct Progress: Encodable, Sendable {
    /// In seconds, like ``value``; at least 1.
    let max: String
    let value: String

    /// - Parameters:
    ///   - passed: the seconds that have passed; those before the beginning and after the end do not count.
    ///   - all: the seconds from the beginning to the end.
    init(_ passed: Double, of all: Double) {
        max = "\(Swift.max(1, all))"
        value = "\(Swift.min(Swift.max(0, passed), Swift.max(0, all)))"
    }
}
