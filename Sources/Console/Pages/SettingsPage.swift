import SimulationAPI

/// The settings of the namespace. The form is made from the API's own description of them, so a new setting has a field at once.
enum SettingsPage {
    private struct View: Encodable, Sendable {
        let isDocumented, isOff, isCustom: Bool
        let limits: [LimitField]
        let groups: [SettingsForm.Group]
        let json: String
    }

    static func part(
        _ request: ConsoleRequest, _ api: ControlReader, _ form: SettingsForm
    ) async throws -> PagePart {
        let settings = try await api.get("settings", as: JSONValue.self)
        let limits = settings.members?["rate_limits"]
        let view = View(
            isDocumented: limits?.text == "documented", isOff: limits?.text == "off",
            isCustom: limits?.members != nil, limits: form.limits.map { LimitField($0, in: limits) },
            groups: form.groups(settings),
            json: PrettyJSON.text(settings))
        return PagePart(section: "settings", title: "Settings", template: "settings", view: view)
    }
}
