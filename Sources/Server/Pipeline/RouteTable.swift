import HTTPTypes
import Hummingbird
import Simulation
import SimulationAPI

/// The routes of the server.
struct RouteTable: Sendable {
    /// The framework's endpoint path for a request that matches no route.
    static let notFoundPath = "NotFound"

    private let byPath: [String: Route]
    /// Used to tell a wrong method from an unknown path.
    private let routes: [(parts: [String], method: String)]
    private let nearest: NearestRoute

    init(_ builder: RouteBuilder) {
        byPath = builder.routes
        let routes = builder.router.routes.map { route in
            (parts: route.path.description.split(separator: "/").map(String.init), method: route.method.rawValue)
        }
        self.routes = routes
        nearest = NearestRoute(routes)
    }

    /// - Parameter path: the path of the route, as the router names it.
    func route(_ path: String) -> Route? { byPath[path] }

    /// The error for a request that matches no route: 405 if the path exists with other methods, else 404.
    func refusal(_ method: HTTPRequest.Method, _ path: String) -> PlatformError {
        let parts = path.split(at: "/").map(String.init)
        let matching = routes.filter { Self.matches($0.parts, parts) }
        // A path that a route names literally belongs to that route, even if another route's parameter matches it.
        let named = matching.filter { !$0.parts.contains { $0.hasPrefix("{") } }
        var methods = Set((named.isEmpty ? matching : named).map(\.method))
        if methods.contains("GET") { methods.insert("HEAD") }
        guard !methods.isEmpty else {
            let near = nearest.nearest(to: parts, method.rawValue).map { "; the nearest is \($0)" } ?? ""
            return .unknownRoute(
                "there is no route \(path)",
                [ErrorDetail("path", "does not match any route\(near); GET /openapi.yaml lists all routes")])
        }
        let allowed = methods.sorted()
        return .methodNotAllowed(
            "\(path) does not answer \(method.rawValue); it answers \(allowed.joined(separator: ", "))",
            allowed: allowed)
    }

    private static func matches(_ pattern: [String], _ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { $0.hasPrefix("{") || $0.isIdentical(to: $1) }
    }
}
