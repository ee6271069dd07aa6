import Foundation
import Simulation
import SimulationAPI

// Members and parameters that no route reads.
extension Court {
    /// The longest name that is compared, in bytes, and the number of names in an object.
    private static let (maxName, maxNames) = (64, 100)

    /// `unread-member`: a member or parameter within two letters of one that is read, which is not there itself [D audit].
    mutating func members(_ rule: AuditRule, _ known: KnownMembers) {
        for request in requests {
            guard let route = known.route(request.entry.method, request.path) else { continue }
            let parameters = request.parameters
            let body = request.entry.request.length > 0 ? route.body : nil
            guard !parameters.isEmpty || body != nil else { continue }
            judgement.lookedAt += 1
            for (given, read) in Self.misspelt(parameters, route.parameters, isOpen: false) {
                add(rule, given, request, "has the parameter \(given), which is not read; \(read) is")
            }
            if body != nil, !request.entry.request.isWhole { judgement.cut += 1 }
            if let body, let json = request.entry.request.json {
                for (given, read) in Self.misspelt(in: json, body, "") {
                    add(rule, given, request, "sent the member \(given), which is not read; \(read) is")
                }
            }
        }
    }

    /// Adds an occurrence of a name. Each name is a finding of its own.
    private mutating func add(_ rule: AuditRule, _ name: String, _ request: AuditedRequest, _ text: String) {
        findings.add(
            rule, "\(subject(request))\n\(name)", [self.name(request)], test: request.test, "\(request.summary) \(text)"
        )
    }

    /// The misspelt members of a value, with their places, and the names that they are like.
    private static func misspelt(
        in value: JSONValue, _ tree: KnownMembers.Tree, _ place: String
    ) -> [(given: String, read: String)] {
        switch value {
        case .object(let members):
            let sorted = members.sorted
            let own = misspelt(sorted.map(\.name), Array(tree.members.keys), isOpen: tree.isOpen)
                .map { (place + $0.given, $0.read) }
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
    ///
    /// - Parameter isOpen: whether the object takes members of the caller's own. A name then counts only if it is long, and not if
    ///   it differs by digits, a plural, or its first part: `eu_size` beside `us_size` is no mistake.
    private static func misspelt(
        _ given: [String], _ read: [String], isOpen: Bool
    ) -> [(given: String, read: String)] {
        let missing = read.filter { name in !given.contains { $0.isIdentical(to: name) } }
        return given.prefix(maxNames).compactMap { name in
            guard name.utf8.count <= maxName, !read.contains(where: { $0.isIdentical(to: name) }) else { return nil }
            // Two letters of a short name are half of it.
            let most = min(2, (name.utf8.count - 1) / 2)
            guard most > 0, let near = NearestName.nearest(to: name, among: missing.sorted(), maxDistance: most),
                !isOpen || isMistake(name, for: near)
            else { return nil }
            return (name, near)
        }
    }

    /// Whether a member of a caller's own is rather one that is misspelt.
    private static func isMistake(_ name: String, for read: String) -> Bool {
        guard name.utf8.count >= minOpenName, !name.contains(where: \.isNumber) else { return false }
        let first: (String) -> Substring = { $0.prefix { $0 != "_" } }
        return name != read + "s" && read != name + "s" && (first(name) == first(read) || first(name).count > 3)
    }

    /// The length, in bytes, from which a member of a caller's own is compared.
    private static let minOpenName = 8
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
