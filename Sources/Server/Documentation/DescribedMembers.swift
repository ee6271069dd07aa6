import Evidence
import Simulation
import Yams

/// The members and parameters that the description names for the platforms' routes.
enum DescribedMembers {
    /// Read once: that takes a good part of a second.
    static let known = MadeOnce { KnownMembers(routes(of: try Description.tree())) }

    /// Objects are followed this deep. A schema may refer to itself.
    private static let maxDepth = 8

    private static func routes(of document: Node) -> [KnownMembers.Route] {
        (document["paths"]?.members ?? []).filter { !$0.key.hasPrefix("/_sim") }.flatMap { path, item in
            item.members.filter { methods.contains($0.key) }.map { method, operation in
                let parameters = ((item["parameters"]?.elements ?? []) + (operation["parameters"]?.elements ?? []))
                    .map { $0.resolved(in: document) }
                let content = operation["requestBody"]?.resolved(in: document)["content"]
                let schema = content?["application/json"]?["schema"]
                return KnownMembers.Route(
                    AuditRoute("\(method.uppercased()) \(path)"),
                    parameters: parameters.filter { $0.text("in") == "query" }.map { $0.text("name") },
                    body: schema.map { tree($0, in: document, depth: 0) })
            }
        }
    }

    private static let methods: Set = ["get", "head", "post", "put", "patch", "delete"]

    /// The members of a schema, with those of its parts and alternatives.
    private static func tree(_ schema: Node, in document: Node, depth: Int) -> KnownMembers.Tree {
        var tree = KnownMembers.Tree()
        guard depth < maxDepth else { return tree }
        let schema = schema.resolved(in: document)
        tree.isOpen = schema["additionalProperties"]?.bool ?? false
        for (name, member) in schema["properties"]?.members ?? [] {
            tree.members[name] = self.tree(member, in: document, depth: depth + 1)
        }
        if let items = schema["items"] { tree.elements = [self.tree(items, in: document, depth: depth + 1)] }
        let parts =
            ["allOf", "oneOf", "anyOf"].flatMap { schema[$0]?.elements ?? [] }
            + ["then", "else"].compactMap { schema[$0] }
        for part in parts { tree.add(self.tree(part, in: document, depth: depth + 1)) }
        return tree
    }
}

extension KnownMembers.Tree {
    /// Adds the members of a part or an alternative of the same value.
    fileprivate mutating func add(_ other: KnownMembers.Tree) {
        isOpen = isOpen || other.isOpen
        for (name, tree) in other.members {
            if members[name] == nil { members[name] = tree } else { members[name]?.add(tree) }
        }
        guard let element = other.elements.first else { return }
        if elements.isEmpty { elements = [element] } else { elements[0].add(element) }
    }
}
