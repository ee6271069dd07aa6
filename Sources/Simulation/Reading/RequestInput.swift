import SimulationAPI

/// The parts of a request that an operation is decoded from. The server's reader of requests is one.
package protocol RequestInput {
    /// A parameter of the path, percent-decoded; empty if the route has none of this name.
    func path(_ name: String) -> String
    /// The query's parameters. A control request must have no others than those that are read [D unknown-members].
    var query: FieldReader { get }
    /// The members of the body; empty if the route takes none.
    var body: JSONObject { get }
    var platforms: Platforms { get }
    /// The routes of the platforms.
    var routes: KnownRoutes { get }
}

extension RequestInput {
    /// The members of the body. Members that are not read are ignored [D unknown-members].
    package var fields: FieldReader { FieldReader(body) }

    /// The members of the body, which are all `known`.
    package func fields(known: [String]) -> FieldReader { FieldReader(body, known: known) }
}
