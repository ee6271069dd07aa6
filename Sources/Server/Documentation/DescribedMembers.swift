import Evidence
import Foundation
import Simulation
import SimulationAPI

/// The members and parameters that the description names for the platforms' routes.
enum DescribedMembers {
    static let routes = lines.split(at: "\n").map { line -> KnownMembers.Route in
        // `make generate` makes the lines, and a test reads each: a line that is no JSON would be a route without a name.
        let line = (try? WireJSON.decode(JSONValue.self, from: Data(line.utf8)))?.members ?? JSONObject()
        return (
            AuditRoute(line["route"]?.text ?? ""), (line["query"]?.elements ?? []).compactMap(\.text),
            line["body"]?.members.map(tree)
        )
    }

    static let known = KnownMembers(routes)

    private static func tree(_ members: JSONObject) -> KnownMembers.Tree {
        var tree = KnownMembers.Tree()
        for (name, value) in members {
            let inner = self.tree(value.members ?? JSONObject())
            switch name {
            case "[]": tree.elements = [inner]
            case "*": tree.isOpen = true
            default: tree.members[name] = inner
            }
        }
        return tree
    }
}
