import NIOConcurrencyHelpers

/// The routes of the platforms, which show whether a rule or an expectation matches none.
package final class KnownRoutes: Sendable {
    /// Other paths that the platforms are known to have. They are not simulated.
    let unsimulated: [Glob]
    private let box = NIOLockedValueBox<[(method: String, path: Glob)]>([])

    init(unsimulated: [Glob]) {
        self.unsimulated = unsimulated
    }

    /// The routes, each with its method.
    package var all: [(method: String, path: Glob)] { box.withLockedValue { $0 } }

    /// Sets the routes: method, and path with `{name}` for its parameters.
    package func set(_ routes: [(method: String, path: String)]) {
        let globs = routes.map { ($0.method, Glob(route: $0.path)) }
        box.withLockedValue { $0 = globs }
    }
}
