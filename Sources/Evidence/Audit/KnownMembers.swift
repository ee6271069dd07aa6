import Simulation

/// The members and parameters that the routes of the platforms read, from their description.
package struct KnownMembers: Sendable {
    /// The members of an object, with those of their objects.
    package struct Tree: Sendable {
        package var members: [String: Tree] = [:]
        /// The members of the elements, where the value is an array.
        package var elements: [Tree] = []
        /// Whether the object takes members of the caller's own.
        package var isOpen = false

        package init() {}
    }

    /// A route and what it reads: its parameters and its body, which is `nil` if it reads no JSON.
    package typealias Route = (route: AuditRoute, parameters: [String], body: Tree?)

    private let routes: [String: [Route]]

    package init(_ routes: [Route]) {
        self.routes = Dictionary(grouping: routes, by: \.route.method)
    }

    /// What a route reads; `nil` if it is not described.
    func route(_ method: String, _ path: String) -> Route? { routes[method]?.first { $0.route.matches(method, path) } }
}
