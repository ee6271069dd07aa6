import SimulationAPI

/// Finds the route that is most similar to a wrong path.
package struct NearestRoute {
    private let routes: [(parts: [String], methods: [String])]

    /// The number of path parts that are compared. No route has as many.
    private static let maxParts = 10
    /// The cost of a part that is missing, added or entirely different.
    private static let whole = 12

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
            let cost = cost(of: path, as: route.parts, &known)
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
    /// - Parameter known: a cache. For each part of a route, it holds the cost of that part against each part of the
    ///   path.
    private func cost(of path: [String], as route: [String], _ known: inout [String: [Int]]) -> Int {
        var row = (0...route.count).map { $0 * Self.whole }
        for index in path.indices {
            var diagonal = row[0]
            row[0] = (index + 1) * Self.whole
            for (column, wanted) in route.enumerated() {
                if known[wanted] == nil { known[wanted] = path.map { Self.cost(of: $0, as: wanted) } }
                let changed = diagonal + (known[wanted]?[index] ?? Self.whole)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, diagonal + Self.whole, row[column] + Self.whole)
            }
        }
        return row[route.count]
    }

    private static func cost(of part: String, as wanted: String) -> Int {
        // Any text may be the value of a parameter.
        if wanted.begins(with: "{") { return 3 }
        if part.isIdentical(to: wanted) { return 0 }
        let length = max(min(part.utf8.count, 63), wanted.utf8.count)
        let distance = NearestName.distance(part, wanted)
        return distance * 2 <= length ? distance * whole / length + 1 : whole
    }
}
