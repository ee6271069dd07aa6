import SimulationAPI

/// The fields of the settings, by the description of `PATCH /_sim/settings`.
struct SettingsForm: Sendable {
    /// The names of the rate limits, which have a form of their own.
    let limits: [String]
    private let alone: [DescribedSchemas.Member]
    private let grouped: [(group: DescribedSchemas.Member, members: [DescribedSchemas.Member])]

    init(_ schemas: DescribedSchemas) {
        let forms = schemas["RateLimits"].members?["anyOf"]?.elements ?? []
        limits = forms.lazy.map { schemas.members(of: $0).map(\.name) }.first { !$0.isEmpty } ?? []
        let members = schemas.members(of: schemas.resolved(schemas["SettingsPatch"]))
            .filter { $0.name != "rate_limits" }.map { ($0, schemas.members(of: $0.schema)) }
        alone = members.filter(\.1.isEmpty).map(\.0)
        grouped = members.filter { !$0.1.isEmpty }
    }

    /// The fields of one member of the settings.
    struct Group: Encodable, Sendable {
        let id, title: String
        let about: String?
        let fields: [FormField]
    }

    /// The groups in the order of their names, after one of the settings that stand alone.
    func groups(_ settings: JSONValue) -> [Group] {
        let groups = grouped.map { group, members in
            let values = settings.members?[group.name]?.members
            return Group(
                id: group.name, title: FormField.label(group.name), about: FormField.about(group.schema).nonEmpty,
                fields: members.map { field("\(group.name).\($0.name)", $0, values?[$0.name]) })
        }
        let rest = alone.map { field($0.name, $0, settings.members?[$0.name]) }
        return (rest.isEmpty ? [] : [Group(id: "general", title: "General", about: nil, fields: rest)]) + groups
    }

    private func field(_ path: String, _ member: DescribedSchemas.Member, _ value: JSONValue?) -> FormField {
        FormField(id: "s-\(path)", path: path, member, value)
    }
}
