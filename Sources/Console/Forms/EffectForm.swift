import SimulationAPI

/// The fields for the arguments of fault effects, by the description of `POST /_sim/faults`.
struct EffectForm: Sendable {
    /// The effects that have an argument, with the members of the argument or, where it has none, the argument itself.
    private let effects: [(name: String, isObject: Bool, members: [DescribedSchemas.Member])]

    init(_ schemas: DescribedSchemas) {
        let rule = schemas.resolved(schemas["FaultRequest"]).members?["properties"]?.members ?? [:]
        effects = (rule["effect"]?.members?["oneOf"]?.elements ?? []).compactMap { effect in
            let name = effect.members?["required"]?.elements?.first?.text
            guard let argument = schemas.members(of: effect).first(where: { $0.name == name }),
                argument.schema.members?["const"] == nil
            else { return nil }
            let members = schemas.members(of: argument.schema)
            return (argument.name, !members.isEmpty, members.isEmpty ? [argument] : members)
        }
    }

    /// A field that is shown where its effect is chosen.
    struct Field: Encodable, Sendable {
        let effect: String
        let field: FormField
    }

    /// The fields of some effects. Each has the default of the description, or else its first example.
    ///
    /// - Parameter prefix: the beginning of the fields' ids.
    func fields(of names: [Choice]?, prefix: String) -> [Field] {
        let names = Set((names ?? []).map(\.id))
        return effects.filter { names.contains($0.name) }.flatMap { effect in
            effect.members.map { member in
                let path = effect.isObject ? [effect.name, member.name] : [effect.name]
                let schema = member.schema.members
                let field = FormField(
                    id: prefix + path.joined(separator: "-"), path: "effect.\(path.joined(separator: "."))", member,
                    schema?["default"] ?? schema?["examples"]?.elements?.first)
                return Field(effect: effect.name, field: field)
            }
        }
    }
}
