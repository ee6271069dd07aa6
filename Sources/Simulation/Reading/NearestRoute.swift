import SimulationAPI

/// Finds the route that is most similar to a wrong path: that has most of its words, if need be in another order. Letters count
/// only within a word, for slips and other endings: `config` is not like `confirm`. A variable takes only a word behind the one that
/// names it: `{id}` of `captures/{id}` is not like `upload`.
package struct NearestRoute {
    private let routes: [(parts: [String], methods: [String])]

    /// The number of path parts that are compared. No route has as many.
    private static let maxParts = 10
    /// The cost of a part that is missing or added.
    private static let whole = 12
    /// The cost of a part in whose place another word stands.
    private static let other = 18
    /// The cost of a part whose place takes any text.
    private static let any = 3
    /// The cost of another order of the parts.
    private static let moved = 4
    /// The most that a slip or another ending costs.
    private static let slip = 4

    /// - Parameter routes: the parts and the method of each route.
    package init(_ routes: [(parts: [String], method: String)]) {
        let paths = Dictionary(grouping: routes) { $0.parts.joined(separator: "/") }
        self.routes = paths.sorted { $0.key < $1.key }.map { _, routes in
            (routes[0].parts, Set(routes.map(\.method)).subtracting(["HEAD"]).sorted())
        }
    }

    /// The nearest route in readable form, for example `POST /sdk/captures`. `nil` if no route is similar to the
    /// path.
    ///
    /// - Parameter path: the parts of the path.
    package func nearest(to path: [String], _ method: String) -> String? {
        let path = path.prefix(Self.maxParts).map { $0 }
        let isControl = path.first?.isIdentical(to: "_sim") ?? false
        var known: [String: [Int]] = [:]
        var best: (cost: Int, route: (parts: [String], methods: [String]))?
        for route in routes where (route.parts.first == "_sim") == isControl {
            for wanted in route.parts where known[wanted] == nil {
                known[wanted] = path.map { Self.cost(of: $0, as: wanted) }
            }
            let cost = min(cost(of: path, as: route.parts, known), reordered(path, as: route.parts, known))
            let isBetter = best.map { cost < $0.cost || cost == $0.cost && route.methods.contains(method) } ?? true
            // At least half of the parts must match.
            if isBetter, cost * 2 <= Self.whole * max(path.count, route.parts.count) { best = (cost, route) }
        }
        guard let route = best?.route else { return nil }
        let methods = route.methods.contains(method) ? [method] : route.methods
        return "\(methods.joined(separator: ", ")) /\(route.parts.joined(separator: "/"))"
    }

    /// The cost of changing one path into the other.
    ///
    /// - Parameter known: for each part of the route, the cost of that part against each part of the path.
    private func cost(of path: [String], as route: [String], _ known: [String: [Int]]) -> Int {
        var row = (0...route.count).map { $0 * Self.whole }
        for index in path.indices {
            var diagonal = row[0]
            row[0] = (index + 1) * Self.whole
            for (column, wanted) in route.enumerated() {
                var changed = diagonal + (known[wanted]?[index] ?? Self.other)
                if wanted.begins(with: "{"), column > 0,
                    index == 0 || known[route[column - 1]]?[index - 1] ?? 0 > Self.slip
                {
                    changed = diagonal + Self.other
                }
                diagonal = row[column + 1]
                row[column + 1] = min(changed, diagonal + Self.whole, row[column] + Self.whole)
            }
        }
        return row[route.count]
    }

    /// The cost of changing one path into the other where the order of their words does not matter.
    private func reordered(_ path: [String], as route: [String], _ known: [String: [Int]]) -> Int {
        var left = Set(path.indices)
        var (cost, absent) = (Self.moved, 0)
        // The place of the word that the last part of the route has.
        var place: Int?
        for wanted in route {
            if wanted.begins(with: "{") {
                place = place.flatMap { left.remove($0 + 1) }
            } else {
                place = left.min { (known[wanted]?[$0] ?? 0, $0) < (known[wanted]?[$1] ?? 0, $1) }
                    .flatMap { known[wanted]?[$0] ?? 0 <= Self.slip ? left.remove($0) : nil }
            }
            if let place { cost += known[wanted]?[place] ?? 0 } else { absent += 1 }
        }
        return cost + (absent + left.count) * Self.whole
    }

    private static func cost(of part: String, as wanted: String) -> Int {
        // Any text may be the value of a parameter.
        if wanted.begins(with: "{") { return any }
        if part.isIdentical(to: wanted) { return 0 }
        let (part, wanted) = (part.utf8.prefix(64).map { $0 | 0x20 }, wanted.utf8.map { $0 | 0x20 })
        let common = zip(part, wanted).prefix { $0 == $1 }.count
        // Another ending: `authenticate`, `authentications`; or more of one: `configuration`.
        if common >= 5, common == wanted.count || common * 2 > max(part.count, wanted.count) { return 2 }
        let distance = NearestName.distance(
            String(decoding: part, as: UTF8.self), String(decoding: wanted, as: UTF8.self))
        return distance <= (wanted.count <= 3 ? 1 : 2) ? distance + 1 : other
    }
}
