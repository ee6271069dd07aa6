import SimulationAPI
import Synchronization

/// The forms that are made from the API's own description: a setting or a fault effect that is described there has its field at once.
struct DescribedForms: Sendable {
    let settings: SettingsForm
    let effects: EffectForm

    /// - Parameter description: the OpenAPI description.
    init(_ description: JSONValue) {
        let schemas = DescribedSchemas(description)
        settings = SettingsForm(schemas)
        effects = EffectForm(schemas)
    }

    /// The forms of a server, whose description is read and parsed for the first page that has one of them. Thread-safe.
    final class Cache: Sendable {
        private let forms = Mutex<DescribedForms?>(nil)

        /// - Throws: ``ConsoleProblem``.
        func read(_ api: ControlReader) async throws -> DescribedForms {
            if let known = forms.withLock({ $0 }) { return known }
            let read = DescribedForms(try await api.description())
            forms.withLock { $0 = read }
            return read
        }
    }
}

/// The schemas of an OpenAPI description.
struct DescribedSchemas {
    private let schemas: JSONObject

    /// The most references that lead to a schema.
    private static let maxDepth = 10

    /// - Parameter description: the OpenAPI description; anything else has no schemas.
    init(_ description: JSONValue) {
        schemas = description.members?["components"]?.members?["schemas"]?.members ?? [:]
    }

    /// The schema of a name, as it is written; null if there is none.
    subscript(name: String) -> JSONValue { schemas[name] ?? .null }

    /// A member of an object.
    typealias Member = (name: String, schema: JSONValue)

    /// The members of an object that a schema describes, resolved; empty if it describes something else.
    func members(of schema: JSONValue) -> [Member] {
        (schema.members?["properties"]?.members ?? [:]).sorted.map { ($0.name, resolved($0.value)) }
    }

    /// A schema without references: of several forms the first one that is not a constant, with the examples of all, and its own
    /// description and examples before those of a form.
    func resolved(_ schema: JSONValue, _ depth: Int = 0) -> JSONValue {
        guard let members = schema.members, depth < Self.maxDepth else { return schema }
        var form = JSONValue.null
        if let name = members["$ref"]?.text?.split(separator: "/").last {
            form = resolved(self[String(name)], depth + 1)
            // The description of a shared type is not about the member.
            form = form.merging(.object(["description": .null]))
        } else if let written = (members["anyOf"] ?? members["oneOf"])?.elements, members["properties"] == nil {
            let forms = written.map { resolved($0, depth + 1) }.filter { $0.members?["const"] == nil }
            let examples = forms.flatMap { $0.members?["examples"]?.elements ?? [] }
            form = (forms.first ?? .null).merging(.object(["examples": .array(examples)]))
        }
        return form.merging(.object(members.filter { !["$ref", "anyOf", "oneOf"].contains($0.key) }))
    }
}
