import NIOConcurrencyHelpers
import SimulationAPI

/// A route of the platforms.
package struct KnownRoute: Sendable {
    package let method: String
    package let path: Glob
    /// The parts of the path, with `{name}` for its parameters.
    package let parts: [Substring]

    init(_ method: String, _ path: String) {
        self.method = method
        self.path = Glob(route: path)
        parts = path.split(at: "/")
    }

    /// The parts that a pattern names where the route has parameters, by the parameters' names. Those after a `**` are counted from the
    /// end. A part may be a pattern itself.
    func named(by pattern: Glob) -> [(parameter: String, value: String)] {
        var given = pattern.pattern.split(at: "/")
        if let place = given.firstIndex(where: { $0.contains("**") }), given.count - 1 <= parts.count {
            given.replaceSubrange(place...place, with: Self.parts(of: given[place], parts.count - given.count + 1))
        }
        guard given.count == parts.count else { return [] }
        return zip(parts, given).compactMap { part, value in
            guard part.first == "{", !value.utf8.allSatisfy({ "*?".utf8.contains($0) }) else { return nil }
            return (String(part.dropFirst().dropLast()), String(value))
        }
    }

    /// Whether a part of the pattern matches one that the route names, or the pattern names none.
    func hasPart(of pattern: Glob) -> Bool {
        let named = pattern.pattern.split(at: "/").filter { !$0.utf8.allSatisfy { "*?".utf8.contains($0) } }
        return named.isEmpty
            || named.contains { part in parts.contains { $0.first != "{" && Glob(String(part)).matches(String($0)) } }
    }

    /// A part with `**` as patterns of a number of parts: what stands before it begins the first one, and what stands behind it ends the
    /// last one.
    private static func parts(of part: Substring, _ count: Int) -> [Substring] {
        guard let stars = part.firstRange(of: "**"), count > 1 else { return count == 1 ? [part] : [] }
        let (head, tail) = (part[..<stars.lowerBound], part[stars.upperBound...])
        return [head + "*"] + Array(repeating: "*", count: count - 2) + ["*" + tail]
    }
}

/// The routes of the platforms, which show whether a rule or an expectation matches none.
package final class KnownRoutes: Sendable {
    /// The statuses with which an operation answers, by its method and its path.
    package typealias Answers = @Sendable (_ method: String, _ path: String) -> [Int]

    /// Other paths that the platforms are known to have. They are not simulated.
    let unsimulated: [Glob]
    private let box = NIOLockedValueBox<(all: Lazily<[KnownRoute]>, answers: Answers)>((Lazily { [] }, { _, _ in [] }))

    init(unsimulated: [Glob]) {
        self.unsimulated = unsimulated
    }

    /// The routes, each with its method.
    package var all: [KnownRoute] { box.withLockedValue { $0.all }.value }

    /// Sets the routes: method, and path with `{name}` for its parameters. Their patterns are made when somebody asks for them.
    ///
    /// - Parameter answers: called when a status is asked for.
    package func set(_ routes: [(method: String, path: String)], answers: @escaping Answers = { _, _ in [] }) {
        let known = Lazily { routes.map { KnownRoute($0.method, $0.path) } }
        box.withLockedValue { $0 = (known, answers) }
    }

    /// The documented statuses of routes, in order.
    func statuses(of routes: [KnownRoute]) -> [Int] {
        let answers = box.withLockedValue { $0.answers }
        return Set(routes.flatMap { answers($0.method, "/" + $0.parts.joined(separator: "/")) }).sorted()
    }
}
