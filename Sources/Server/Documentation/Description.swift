import CDescription
import NIOCore
import Yams

/// The OpenAPI description of this server, `openapi/entrupy-sim.yaml`.
enum Description {
    static let document = ConstantDocument(buffer)

    private static let buffer: ByteBuffer = {
        var count = 0
        let start = entrupy_sim_description(&count)
        return ByteBuffer(bytes: UnsafeBufferPointer(start: start, count: count))
    }()

    /// The parsed file. Members keep the order of the file.
    static func tree() throws -> Node {
        try Yams.compose(yaml: String(buffer: buffer)) ?? .nothing
    }
}

extension Node {
    /// An empty mapping, for values that are missing.
    static var nothing: Node { .mapping(Mapping([])) }

    /// The members of a mapping in their order. Empty for any other node.
    var members: [(key: String, value: Node)] {
        mapping.map { $0.map { ($0.key.string ?? "", $0.value) } } ?? []
    }

    /// The elements of a sequence. Empty for any other node.
    var elements: [Node] { sequence.map(Array.init) ?? [] }

    /// The text of a member. Empty if there is none.
    func text(_ key: String) -> String { self[key]?.string ?? "" }

    /// The target of a reference. The node itself if it is not a reference.
    func resolved(in document: Node) -> Node {
        guard let reference = self["$ref"]?.string else { return self }
        return reference.dropFirst("#/".count).split(separator: "/").reduce(document) { $0[String($1)] ?? .nothing }
    }

    /// The value as JSON for people: indented, with members in the order of the file.
    func json(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .mapping(let mapping):
            if mapping.isEmpty { return "{}" }
            let members = mapping.map { "\(inner)\(quoted($0.key.string ?? "")): \($0.value.json(indent: inner))" }
            return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
        case .sequence(let sequence):
            if sequence.isEmpty { return "[]" }
            return "[\n\(sequence.map { inner + $0.json(indent: inner) }.joined(separator: ",\n"))\n\(indent)]"
        case .scalar, .alias:
            // A scalar is a text if the file quotes it, or if it is not a number, a boolean or null.
            if tag == Tag(.str) || (int == nil && float == nil && bool == nil && null == nil) {
                return quoted(string ?? "")
            }
            return null == nil ? scalar?.string ?? "null" : "null"
        }
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
