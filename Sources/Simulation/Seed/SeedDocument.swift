import SimulationAPI
import Yams

/// Seed data for export, with its members in a fixed order.
package enum SeedDocument: Sendable {
    case text(String)
    case bool(Bool)
    case list([SeedDocument])
    case mapping([(key: String, value: SeedDocument)])

    /// YAML in the layout of `seed-data/standard.yaml`.
    package func yaml() throws -> String {
        try Yams.serialize(node: node, width: -1, allowUnicode: true, sortKeys: false)
    }

    private var node: Node {
        switch self {
        // Texts that look like other types are quoted, so that they stay texts, as keys too: `no` is an id.
        case .text(let text): .scalar(text.represented())
        case .bool(let flag): Node(flag ? "true" : "false", Tag(.bool))
        case .list(let elements): Node.sequence(.init(elements.map(\.node), Tag(.seq)))
        case .mapping(let members):
            Node.mapping(.init(members.map { (.scalar($0.key.represented()), $0.value.node) }, Tag(.map)))
        }
    }

    /// JSON with the same content.
    package var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .bool(let flag): .bool(flag)
        case .list(let elements): .array(elements.map(\.json))
        case .mapping(let members): .object(JSONObject(members.map { ($0.key, $0.value.json) }))
        }
    }
}

extension SeedDocument {
    package static func texts(_ values: [String]) -> SeedDocument { .list(values.map { .text($0) }) }

    package static func localized(_ text: LocalizedText) -> SeedDocument {
        .mapping([("en", .text(text.english)), ("ja", .text(text.japanese))])
    }

    /// A mapping of the members that have a value.
    package static func members(_ members: [(String, SeedDocument?)]) -> SeedDocument {
        .mapping(members.compactMap { key, value in value.map { (key, $0) } })
    }
}
