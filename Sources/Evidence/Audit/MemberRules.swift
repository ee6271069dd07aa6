import Foundation
import Simulation
import SimulationAPI

// Members and parameters that no route reads.
extension Court {
    /// The longest name that is compared, in bytes, and the number of names in an object.
    private static let (maxName, maxNames) = (64, 100)

    /// `unread-member`: a member or parameter within two letters of one that is read, which is not there itself [D audit].
    mutating func members(_ rule: AuditRule, _ known: KnownMembers) -> Judgement {
        var judgement = Judgement()
        for request in requests {
            guard let route = known.route(request.entry.method, request.path) else { continue }
            let parameters = request.parameters
            let body = request.entry.request.length > 0 ? route.body : nil
            guard !parameters.isEmpty || body != nil else { continue }
            judgement.lookedAt += 1
            for (given, read) in Self.misspelt(parameters, route.parameters) {
                add(
                    rule, [request],
                    "\(request.entry.method) \(request.path)\(request.by) has the parameter \(given), which is not read; \(read) is"
                )
            }
            if let body, let json = request.entry.request.json {
                for (given, read) in Self.misspelt(in: json, body, "") {
                    add(
                        rule, [request],
                        "\(request.entry.method) \(request.path)\(request.by) sent the member \(given), which is not read; \(read) is"
                    )
                }
            }
        }
        return judgement
    }

    /// The misspelt members of a value, with their places, and the names that they are like.
    private static func misspelt(
        in value: JSONValue, _ tree: KnownMembers.Tree, _ place: String
    ) -> [(given: String, read: String)] {
        switch value {
        case .object(let members):
            let sorted = members.sorted
            let own = misspelt(sorted.map(\.name), Array(tree.members.keys)).map { (place + $0.given, $0.read) }
            return own
                + sorted.flatMap { name, value in
                    tree.members[name].map { misspelt(in: value, $0, "\(place)\(name).") } ?? []
                }
        case .array(let elements):
            guard let inner = tree.elements.first else { return [] }
            return elements.prefix(maxNames).flatMap { misspelt(in: $0, inner, place) }
        case .null, .bool, .number, .string: return []
        }
    }

    /// The names that no route reads and that are like one which is missing.
    private static func misspelt(_ given: [String], _ read: [String]) -> [(given: String, read: String)] {
        let missing = read.filter { name in !given.contains { $0.isIdentical(to: name) } }
        return given.prefix(maxNames).compactMap { name in
            guard name.utf8.count <= maxName, !read.contains(where: { $0.isIdentical(to: name) }) else { return nil }
            // Two letters of a short name are half of it.
            let most = min(2, (name.utf8.count - 1) / 2)
            guard most > 0 else { return nil }
            return NearestName.nearest(to: name, among: missing.sorted(), maxDistance: most).map { (name, $0) }
        }
    }
}

extension AuditedRequest {
    /// The names of the query's parameters.
    fileprivate var parameters: [String] {
        entry.query.dropFirst().split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            return name.removingPercentEncoding ?? String(name)
        }
    }
}
