import SimulationAPI

/// The settings of the namespace. The form is made from the API's own description of them, so a new setting has a field at once.
enum SettingsPage {
    private struct View: Encodable, Sendable {
        let settingsPath: String
        let isDocumented, isOff, isCustom: Bool
        let limits: [LimitField]
        let groups: [SettingsForm.Group]
        let json: String
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let settings = try await api.get("settings", as: JSONValue.self)
        let form = SettingsForm(try await api.description())
        let limits = settings.members?["rate_limits"]
        let view = View(
            settingsPath: "\(request.base)/_sim/settings", isDocumented: limits?.text == "documented",
            isOff: limits?.text == "off", isCustom: limits?.members != nil,
            limits: form.limits.map { LimitField($0, in: limits) }, groups: form.groups(settings),
            json: PrettyJSON.text(settings))
        return PagePart(section: "settings", title: "Settings", template: "settings", view: view)
    }
}

/// The fields of the settings, by the OpenAPI description of `PATCH /_sim/settings`.
struct SettingsForm {
    private let schemas: JSONObject

    /// - Parameter description: the OpenAPI description.
    init(_ description: JSONValue) {
        schemas = description.members?["components"]?.members?["schemas"]?.members ?? [:]
    }

    /// The names of the rate limits.
    var limits: [String] {
        let forms = schemas["RateLimits"]?.members?["anyOf"]?.elements ?? []
        return forms.lazy.map { members(of: $0).map(\.name) }.first { !$0.isEmpty } ?? []
    }

    /// The fields of one member of the settings.
    struct Group: Encodable, Sendable {
        let id, title: String
        let about: String?
        let fields: [Field]
    }

    /// A setting.
    struct Field: Encodable, Sendable {
        /// The path, for instance `result.delay`.
        let name: String
        let label: String
        /// `nil` if the description says nothing.
        let hint: String?
        let flag: Flag?
        let choice: Choice?
        let input: Input?

        /// A setting that is true or false.
        struct Flag: Encodable, Sendable {
            let isOn: Bool
        }

        /// A setting that has one of some values.
        struct Choice: Encodable, Sendable {
            /// The type of the values, as the page's script sends them.
            let type: String
            let options: [Option]
        }

        /// Any other setting.
        struct Input: Encodable, Sendable {
            /// The type of the value, as the page's script sends it.
            let type: String
            let value: String
        }
    }

    /// The groups in the order of their names, after one of the settings that stand alone. The rate limits have a form of their own.
    func groups(_ settings: JSONValue) -> [Group] {
        let members = members(of: resolved(schemas["SettingsPatch"] ?? .null))
            .filter { $0.name != "rate_limits" }
        let alone = members.filter { self.members(of: $0.schema).isEmpty }
        let groups = members.filter { !self.members(of: $0.schema).isEmpty }.map { name, schema in
            Group(
                id: name, title: Self.title(name), about: Self.about(schema).nonEmpty,
                fields: self.members(of: schema).map {
                    field("\(name).\($0.name)", $0.name, $0.schema, settings.members?[name]?.members?[$0.name])
                })
        }
        let rest = alone.map { field($0.name, $0.name, $0.schema, settings.members?[$0.name]) }
        return (rest.isEmpty ? [] : [Group(id: "general", title: "General", about: nil, fields: rest)]) + groups
    }

    private func field(_ path: String, _ name: String, _ schema: JSONValue, _ value: JSONValue?) -> Field {
        let schema = schema.members ?? [:]
        let values = (schema["enum"]?.elements ?? []).filter { $0 != .null }
        let types = [schema["type"]?.text].compactMap { $0 } + (schema["type"]?.elements ?? []).compactMap(\.text)
        let isNumber = types.contains("integer") || types.contains("number")
        let isFlag = types.contains("boolean")
        let type = types.contains("array") ? "list" : isNumber ? "number" : "text"
        let examples = (schema["examples"]?.elements ?? []).prefix(2).compactMap(\.text)
        let more = [
            examples.isEmpty ? "" : "For instance \(examples.joined(separator: " or ")).",
            type == "list" ? "Separated by commas." : "",
        ]
        return Field(
            name: path, label: Self.title(name),
            hint: ([Self.about(.object(schema))] + more).filter { !$0.isEmpty }.joined(separator: " ").nonEmpty,
            flag: isFlag ? Field.Flag(isOn: value == .bool(true)) : nil,
            choice: isFlag || values.isEmpty
                ? nil
                : Field.Choice(
                    type: values.allSatisfy { $0.text != nil } ? "text" : "number",
                    options: values.map { Option(id: Self.text($0), name: Self.text($0), isChosen: $0 == value) }),
            input: isFlag || !values.isEmpty ? nil : Field.Input(type: type, value: Self.text(value)))
    }

    /// The members of an object that a schema describes; empty if it describes something else.
    private func members(of schema: JSONValue) -> [(name: String, schema: JSONValue)] {
        (schema.members?["properties"]?.members ?? [:]).sorted.map { ($0.name, resolved($0.value)) }
    }

    /// The most references that lead to a schema.
    private static let maxDepth = 10

    /// A schema without references: of several forms the first one, with the examples of all, and its own description before that of a
    /// form.
    private func resolved(_ schema: JSONValue, _ depth: Int = 0) -> JSONValue {
        guard let members = schema.members, depth < Self.maxDepth else { return schema }
        var form = JSONValue.null
        if let name = members["$ref"]?.text?.split(separator: "/").last {
            form = resolved(schemas[String(name)] ?? .null, depth + 1)
            // The description of a shared type is not about the setting.
            form = form.merging(.object(["description": .null]))
        } else if let forms = members["anyOf"]?.elements?.map({ resolved($0, depth + 1) }), members["properties"] == nil
        {
            let examples = forms.flatMap { $0.members?["examples"]?.elements ?? [] }
            form = (forms.first ?? .null).merging(.object(["examples": .array(examples)]))
        }
        return form.merging(.object(members.filter { $0.key != "$ref" && $0.key != "anyOf" }))
    }

    private static func about(_ schema: JSONValue) -> String {
        // In a form, a field without a text is null.
        (schema.members?["description"]?.text ?? "").replacing("`", with: "").replacing("null for", with: "empty for")
    }

    /// A name as words: `capture_timeout` is `Capture timeout`.
    private static func title(_ name: String) -> String {
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
