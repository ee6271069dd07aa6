import SimulationAPI

/// The paths of all routes, component by component. Looking one up makes no text of any component.
struct RouteTree: Sendable {
    private struct Node {
        var literals: [(bytes: [UInt8], node: Int)] = []
        /// The node for any other component; `nil` if there is none.
        var parameter: Int?
        /// The index of the route that ends here; `nil` if none does.
        var route: Int?
    }

    private var nodes = [Node()]

    /// - Parameter paths: components, of which those in braces are parameters. The index of a path is that of its route.
    init(_ paths: [String]) {
        for (index, path) in paths.enumerated() {
            var node = 0
            for part in path.split(at: "/") where !part.isEmpty { node = child(part, of: node) }
            // Parameters have no names here: `/a/{id}` and `/a/{name}` are one path, and one of them would never be found.
            precondition(nodes[node].route == nil, "two routes have the path \(path)")
            nodes[node].route = index
        }
    }

    private mutating func child(_ part: Substring, of node: Int) -> Int {
        if part.utf8.first == UInt8(ascii: "{") {
            if let known = nodes[node].parameter { return known }
            nodes[node].parameter = nodes.count
        } else {
            let bytes = Array(part.utf8)
            if let known = nodes[node].literals.first(where: { $0.bytes == bytes }) { return known.node }
            nodes[node].literals.append((bytes, nodes.count))
        }
        nodes.append(Node())
        return nodes.count - 1
    }

    /// The index of the route of a path, whatever its method; `nil` if there is none. A component that a route names belongs to that
    /// route, if the rest of the path does. Repeated slashes count as one, and one at the end does not count.
    func route(_ path: String) -> Int? { path.withBytes { route(0, $0, 0) } }

    /// Meets no node twice, so it takes no longer than comparing the path with all routes.
    private func route(_ node: Int, _ path: UnsafeRawBufferPointer, _ position: Int) -> Int? {
        let slash = UInt8(ascii: "/")
        var start = position
        while start < path.count, path[start] == slash { start += 1 }
        guard start < path.count else { return nodes[node].route }
        var end = start
        while end < path.count, path[end] != slash { end += 1 }
        let part = UnsafeRawBufferPointer(rebasing: path[start..<end])
        let literal = nodes[node].literals.first { literal in literal.bytes.withUnsafeBytes { $0.isEqual(to: part) } }
        if let literal, let found = route(literal.node, path, end) { return found }
        return nodes[node].parameter.flatMap { route($0, path, end) }
    }
}
