import SimulationAPI

/// A request that a client makes in every run, named by method, route and its place among those of both.
package struct SweptCall: SweepTarget, Hashable {
    /// For instance `POST /sdk/captures/{id}/submit #1`.
    package let name: String
    let method: String
    /// The route as a glob.
    let route: String
    /// The earlier requests of the run that a fault rule for the route matches.
    let before: Int
    /// Whether the request carries the token of a session that ``SweepFault/sessionEnded`` can end.
    package let hasSession: Bool

    /// The fault rule that triggers at this call, once.
    package func setup(_ fault: SweepFault) -> SweepSetup {
        SweepSetup(rule: fault, match: ["route": .string(route), "method": .string(method)], after: before)
    }

    package func takes(_ fault: SweepFault) -> Bool {
        fault.place == .call && (fault != .sessionEnded || hasSession)
    }
}

/// The routes of the platforms, by which requests are named.
package struct CallNames: Sendable {
    private let routes: [(method: String, parts: [Substring])]

    package init(_ routes: [Choices.Route]) {
        self.routes = routes.map { ($0.method, $0.path.split(separator: "/")) }
    }

    /// The calls of a run, and the requests that have no described route.
    ///
    /// - Parameter journal: the requests, oldest first.
    package func calls(of journal: [JournaledRequest]) -> (found: [SweptCall], others: [String]) {
        var calls: [SweptCall] = []
        var unknown: [String] = []
        var counts: [String: Int] = [:]
        for (index, request) in journal.enumerated() {
            guard let parts = route(of: request) else {
                unknown.append("\(request.method) \(request.path)")
                continue
            }
            let plain = "\(request.method) /" + parts.map { $0 == "*" ? "{id}" : $0 }.joined(separator: "/")
            counts[plain, default: 0] += 1
            // A rule's glob can match more than its own route: `/a/*` matches `/a/b`, which is another route.
            let before = journal[..<index].count { $0.method == request.method && Self.matches(parts, $0.path) }
            calls.append(
                SweptCall(
                    name: "\(plain) #\(counts[plain] ?? 1)", method: request.method,
                    route: "/" + parts.joined(separator: "/"), before: before, hasSession: Self.hasSession(request)))
        }
        return (calls, unknown)
    }

    /// The name of a request without its number.
    package func name(of request: JournaledRequest) -> String {
        let path = route(of: request).map { "/" + $0.map { $0 == "*" ? "{id}" : $0 }.joined(separator: "/") }
        return "\(request.method) \(path ?? request.path)"
    }

    /// The route with the fewest parameters that a request matches.
    private func route(of request: JournaledRequest) -> [Substring]? {
        routes.filter { $0.method == request.method && Self.matches($0.parts, request.path) }
            .min { one, other in one.parts.count { $0 == "*" } < other.parts.count { $0 == "*" } }?.parts
    }

    private static func matches(_ parts: [Substring], _ path: String) -> Bool {
        let own = path.split(separator: "/", omittingEmptySubsequences: true)
        return own.count == parts.count && zip(parts, own).allSatisfy { $0 == "*" || $0 == $1 }
    }

    /// Only routes of apps take a session's token; a login has a user and no session yet.
    private static func hasSession(_ request: JournaledRequest) -> Bool {
        request.username != nil && request.path.hasPrefix("/sdk/") && request.path != "/sdk/login"
    }
}
