import Foundation
import SimulationAPI

/// Writes JSON with line breaks and indents.
enum PrettyJSON {
    /// The text of a body: indented if it is JSON, else unchanged.
    static func body(_ text: String) -> String {
        guard let first = text.utf8.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = try? WireJSON.decode(JSONValue.self, from: Data(text.utf8))
        else { return text }
        return self.text(value)
    }

    static func text(_ value: JSONValue, indent: String = "") -> String {
        let inner = indent + "  "
        switch value {
        case .object(let members) where !members.isEmpty:
            let lines = members.keys.sorted().map { key in
                "\(inner)\(line(.string(key))): \(text(members[key] ?? .null, indent: inner))"
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + text($0, indent: inner) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(indent)]"
        default: return line(value)
        }
    }

    /// The value on one line.
    static func line(_ value: JSONValue) -> String {
        // JSON that was read can be written.
        (try? WireJSON.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    static func text(_ value: some Encodable) -> String {
        guard let data = try? WireJSON.encode(value), let json = try? WireJSON.decode(JSONValue.self, from: data)
        else { return "" }
        return text(json)
    }
}
