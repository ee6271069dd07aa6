import SimulationAPI

/// The routes of the platforms, by which requests are named.
package struct CallNames: Sendable {
    /// Those with the fewest parameters first.
    private let routes: [Route]

    package init(_ routes: [Choices.Route]) {
        self.routes = routes.map { route -> Route in (route.method, route.path.split(separator: "/")) }
            .sorted { one, other in one.parts.count { $0 == "*" } < other.parts.count { $0 == "*" } }
    }

    /// The calls of a run, named by method, route and place among those of both, and the requests that have no described route.
    ///
    /// - Parameter journal: the requests, oldest first.
    package func calls(of journal: [JournaledRequest]) -> (found: [SweepTarget], others: [String]) {
        var calls: [SweepTarget] = []
        var unknown: [String] = []
        var counts: [String: Int] = [:]
        // A rule's glob can match more than its own route: `/a/*` matches `/a/b`, which is another route.
        var matches: [Int: Int] = [:]
        for request in journal {
            let fitting = fitting(request)
            guard let own = fitting.first else {
                unknown.append("\(request.method) \(request.path)")
                continue
            }
            let plain = "\(request.method) \(Self.shown(routes[own].parts))"
            counts[plain, default: 0] += 1
            let route = "/" + routes[own].parts.joined(separator: "/")
            calls.append(
                SweepTarget(
                    name: "\(plain) #\(counts[plain] ?? 1)", place: .call,
                    match: ["route": .string(route), "method": .string(request.method)], before: matches[own] ?? 0,
                    excluded: Self.hasSession(request) ? nil : .sessionEnded))
            for route in fitting { matches[route, default: 0] += 1 }
        }
        return (calls, unknown)
    }

    /// The name of a request without its number.
    package func name(of request: JournaledRequest) -> String {
        let path = fitting(request).first.map { Self.shown(routes[$0].parts) }
        return "\(request.method) \(path ?? request.path)"
    }

    private typealias Route = (method: String, parts: [Substring])

    private static func shown(_ parts: [Substring]) -> String {
        "/" + parts.map { $0 == "*" ? "{id}" : $0 }.joined(separator: "/")
    }

    /// The places of the routes that a request matches, its own first.
    private func fitting(_ request: JournaledRequest) -> [Int] {
        let path = request.path.split(separator: "/")
        return routes.indices.filter { index in
            let parts = routes[index].parts
            return parts.count == path.count && routes[index].method == request.method
                && zip(parts, path).allSatisfy { $0 == "*" || $0 == $1 }
        }
    }

    /// Whether a request has the token of a session that can end. Only routes of apps take one; a login has a user and no session yet.
    private static func hasSession(_ request: JournaledRequest) -> Bool {
        request.username != nil && request.path.hasPrefix("/sdk/") && request.path != "/sdk/login"
    }
}
