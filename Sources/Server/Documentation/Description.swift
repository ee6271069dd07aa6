import Console
import NIOCore
import Resources
import SimulationAPI
import Yams

/// The OpenAPI description of this server, `openapi/entrupy-sim.yaml`.
enum Description {
    static let document = ConstantDocument(ByteBuffer(bytes: bytes))

    /// The same as JSON, with members in the order of the file. Parsing the file takes a good part of a second.
    static func json() throws -> ConstantDocument {
        ConstantDocument(ByteBuffer(string: try tree().json(indent: nil) + "\n"))
    }

    /// The bytes of the file, which the program holds.
    static var bytes: UnsafeBufferPointer<UInt8> { Resource.bytes("openapi/entrupy-sim.yaml") }

    /// The parsed file. Members keep the order of the file.
    static func tree() throws -> Node {
        try Yams.compose(yaml: String(decoding: bytes, as: UTF8.self), .basic) ?? .nothing
    }
}

extension Node {
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

    /// The value as JSON, with members in the order of the file.
    ///
    /// - Parameter indent: the blanks before the value's lines; `nil` for one line without blanks.
    func json(indent: String? = "") -> String {
        let inner = indent.map { $0 + "  " }
        let (start, end) = (inner.map { "\n" + $0 } ?? "", indent.map { "\n" + $0 } ?? "")
        switch self {
        case .mapping(let mapping):
            if mapping.isEmpty { return "{}" }
            let colon = indent == nil ? ":" : ": "
            let members = mapping.map { quoted($0.key.string ?? "") + colon + $0.value.json(indent: inner) }
            return "{\(start)\(members.joined(separator: "," + start))\(end)}"
        case .sequence(let sequence):
            if sequence.isEmpty { return "[]" }
            return "[\(start)\(sequence.map { $0.json(indent: inner) }.joined(separator: "," + start))\(end)]"
        case .scalar, .alias: return scalarJSON
        }
    }

    /// A scalar is a text if the file quotes it, or if it is not a number, a boolean or null.
    private var scalarJSON: String {
        if scalar?.style != .plain { return quoted(string ?? "") }
        if null != nil { return "null" }
        if let bool { return String(bool) }
        if let int { return String(int) }
        guard let float, float.isFinite else { return quoted(string ?? "") }
        // YAML has forms that JSON has not, such as `.5`. The others stay as they are written.
        let text = string ?? ""
        return JSONNumber.isNumber(text) ? text : String(float)
    }

    private func quoted(_ text: String) -> String {
        let content = text.escaping { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case _ where scalar.value < 0x20:
                "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: nil
            }
        }
        return "\"\(content)\""
    }
}
