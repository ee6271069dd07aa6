import SimulationAPI

/// A field of a form, by the schema of what it takes. It has one of a flag, a choice and an input.
struct FormField: Encodable, Sendable {
    let id: String
    /// The path of the member in the body, for instance `result.delay`.
    let name: String
    let label: String
    /// `nil` if the description says nothing.
    let hint: String?
    private(set) var flag: Flag?
    private(set) var choice: Choice?
    private(set) var input: Input?

    /// A member that is true or false.
    struct Flag: Encodable, Sendable {
        let isOn: Bool
    }

    /// A member that has one of some values.
    struct Choice: Encodable, Sendable {
        /// The type of the values, as the page's script sends them.
        let type: String
        let options: [Option]
    }

    /// Any other member.
    struct Input: Encodable, Sendable {
        /// The type of the value, as the page's script sends it.
        let type: String
        let value: String
    }

    /// - Parameters:
    ///   - id: the field's id in the page.
    ///   - path: the path of the member in the body.
    ///   - member: the member's name and its resolved schema.
    ///   - value: the present value.
    init(id: String, path: String, _ member: DescribedSchemas.Member, _ value: JSONValue?) {
        let schema = member.schema.members ?? [:]
        let values = (schema["enum"]?.elements ?? []).filter { $0 != .null }
        let types = [schema["type"]?.text].compactMap { $0 } + (schema["type"]?.elements ?? []).compactMap(\.text)
        let isNumber = types.contains("integer") || types.contains("number")
        let type = types.contains("array") ? "list" : isNumber ? "number" : "text"
        let examples = (schema["examples"]?.elements ?? []).prefix(2).compactMap(\.text)
        let more = [
            examples.isEmpty ? "" : "For instance \(examples.joined(separator: " or ")).",
            type == "list" ? "Separated by commas." : "",
        ]
        self.id = id
        name = path
        label = Self.label(member.name)
        hint = ([Self.about(member.schema)] + more).filter { !$0.isEmpty }.joined(separator: " ").nonEmpty
        if types.contains("boolean") {
            flag = Flag(isOn: value == .bool(true))
        } else if !values.isEmpty {
            choice = Choice(
                type: values.allSatisfy { $0.text != nil } ? "text" : "number",
                options: values.map { Option(id: Self.text($0), name: Self.text($0), isChosen: $0 == value) })
        } else {
            input = Input(type: type, value: Self.text(value))
        }
    }

    /// The description of a schema, in the words of a form; empty if it has none.
    static func about(_ schema: JSONValue) -> String {
        // In a form, a field without a text is null.
        (schema.members?["description"]?.text ?? "").replacing("`", with: "").replacing("null for", with: "empty for")
    }

    /// A name as words: `capture_timeout` is `Capture timeout`.
    static func label(_ name: String) -> String {
        if name == "sdk" { return "SDK" }
        let words = name.replacing("_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .number(let number): number.text
        case .array(let elements): elements.map { $0.text ?? PrettyJSON.line($0) }.joined(separator: ", ")
        default: ""
        }
    }
}
