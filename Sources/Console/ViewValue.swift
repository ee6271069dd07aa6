import Mustache
import SimulationAPI

/// A value of a view as a template reads it: an object by the names of its members, and what has a format in that format.
///
/// Members without a value are null, so that a template never takes the member of an outer object for an absent one.
package struct ViewValue: MustacheParent, MustacheCustomRepresentation, MustacheTransformable, CustomStringConvertible {
    private let json: JSONValue

    /// - Parameter json: the view; an object for a whole template.
    package init(_ json: JSONValue) {
        self.json = json
    }

    package func child(named name: String) -> Any? { json.members?[name].map(ViewValue.init) }

    package var representation: Any? {
        switch json {
        case .null: nil
        case .bool(let flag): flag
        case .array(let elements): elements.map(ViewValue.init)
        case .number, .string, .object: self
        }
    }

    package var description: String { if case .number(let number) = json { number.text } else { json.text ?? "" } }

    /// The value in a format, for instance `{{time(created_at)}}`; `nil` if it has none of this name. Lists, flags and null have no
    /// format: templates get them as values of Swift. `{{s(count)}}` and `{{es(count)}}` are the ending of a plural.
    package func transform(_ format: String) -> Any? {
        switch (format, json) {
        case ("time", .number(let epoch)): Moment.text(epoch.double)
        case ("day", .number(let epoch)): Moment.parts(epoch.double).day
        case ("precise", .number(let epoch)): Moment.precise(epoch.double)
        case ("iso", .number(let epoch)): Moment.iso(epoch.double)
        case ("span", .number(let seconds)): Moment.span(seconds.double)
        case ("s", .number(let count)): count.integer == 1 ? "" : "s"
        case ("es", .number(let count)): count.integer == 1 ? "" : "es"
        case ("size", .number(let bytes)): bytes.integer.map(SizeText.text)
        case ("words", .string(let text)): text.replacing("_", with: " ")
        case ("escaped", .string(let text)): URLPart.escaped(text)
        case ("json", _): PrettyJSON.line(json)
        default: nil
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

/// A row of a table of two columns.
struct NamedText: Encodable, Sendable {
    let name, value: String
}

/// A link that chooses what a page shows.
struct Tab: Encodable, Sendable {
    let name, link: String
    let isCurrent: Bool
}

/// A moment to come.
struct Countdown: Encodable, Sendable {
    /// In epoch seconds.
    let at: Double
    /// The time until then, in words and in seconds.
    let left, seconds: String
    /// `nil` if it is not known when the wait began.
    let progress: Progress?

    init(to at: Double, left: Double, _ progress: Progress? = nil) {
        (self.at, self.progress) = (at, progress)
        (self.left, seconds) = (Moment.span(left), "\(max(0, left))")
    }
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
