import SimulationAPI

/// A request of a sequence that a test expects: see
/// ``SimulatedNamespace/expectRequests(_:minGap:maxGap:anyRoute:fileID:filePath:line:column:)``.
public struct ExpectedRequest: Sendable {
    let method: String?
    let route: String
    let status: String?
    let delivered: SimulatedNamespace.Delivery?
    let username: String?

    /// - Parameters:
    ///   - method: the method; `nil` for any.
    ///   - route: a glob over the path without the namespace, for instance `/sdk/results/*/flag`.
    ///   - status: a status, or a class such as `5xx`; `nil` for any.
    ///   - delivered: whether the answer reached the client; `nil` for only delivered answers where there is a status, else for all.
    ///   - username: the user of the request's session; `nil` for any.
    public init(
        _ method: String?, _ route: String, status: String? = nil,
        delivered: SimulatedNamespace.Delivery? = nil, username: String? = nil
    ) {
        self.method = method
        self.route = route
        self.status = status
        self.delivered = delivered
        self.username = username
    }

    /// The condition as the control API takes it.
    var members: [String: String] {
        let members = [
            "route": route, "method": method, "status": status, "delivered": delivered?.rawValue, "username": username,
        ]
        return members.compactMapValues(\.self)
    }
}
