import SimulationAPI

/// The settings of the namespace.
enum SettingsPage {
    /// A field of the form.
    private struct Field {
        let path: [String]
        let label: String
        let hint: String
        var kind = Kind.text

        enum Kind {
            case text, number, flag
            case list(String)
            case choice(String)
        }
    }

    private static let groups: [(title: String, id: String, fields: [Field])] = [
        (
            "Results", "result",
            [
                Field(
                    path: ["result", "default"], label: "Result", hint: "of items that no rule decides",
                    kind: .choice("results")),
                Field(
                    path: ["result", "delay"], label: "Delay",
                    hint: "from submission to result, for instance 5s or 1h30m"),
                Field(
                    path: ["quota"], label: "Quota", hint: "submissions of each user; empty for none", kind: .number),
            ]
        ),
        (
            "Lifetimes", "lifetimes",
            [
                Field(path: ["capture_timeout"], label: "Capture", hint: "until it times out"),
                Field(path: ["session_lifetime"], label: "Session", hint: "until it expires"),
                Field(path: ["signed_request_lifetime"], label: "Signed request", hint: "until it expires"),
                Field(path: ["components", "code_lifetime"], label: "Validation code", hint: "of App Components"),
                Field(path: ["components", "session_lifetime"], label: "Component session", hint: "of App Components"),
            ]
        ),
        (
            "Flags", "flagging",
            [
                Field(path: ["flagging", "sdk"], label: "Users may flag", hint: "in the app", kind: .flag),
                Field(
                    path: ["flagging", "eligible"], label: "Results that can be flagged", hint: "separated by commas",
                    kind: .list("results")),
            ]
        ),
        (
            "Apps", "apps",
            [
                Field(
                    path: ["sdk", "ended_session_status"], label: "Ended session",
                    hint: "the status of expired and revoked ones, 401 or 403", kind: .number),
                Field(
                    path: ["captures", "require_customer_item_id"], label: "Require customer_item_id",
                    hint: "of every capture", kind: .flag),
                Field(
                    path: ["fingerprints", "registered"], label: "Registered fingerprint",
                    hint: "registered or authentic"),
                Field(path: ["fingerprints", "match"], label: "Matching fingerprint", hint: "match or match_found"),
                Field(
                    path: ["fingerprints", "no_match"], label: "Other fingerprint", hint: "no_match or no_match_found"),
            ]
        ),
        (
            "Webhooks", "webhooks",
            [
                Field(path: ["webhooks", "timeout"], label: "Time-out", hint: "of a receiver, in real time"),
                Field(
                    path: ["webhooks", "retries"], label: "Gaps between attempts", hint: "separated by commas",
                    kind: .list("")),
                Field(
                    path: ["webhooks", "format"], label: "Body", hint: "of new subscriptions",
                    kind: .choice("webhook_formats")),
                Field(
                    path: ["webhooks", "signature"], label: "Signature", hint: "of new subscriptions",
                    kind: .choice("webhook_signatures")),
                Field(
                    path: ["webhooks", "domain_verification"], label: "Verify domains",
                    hint: "before the first delivery",
                    kind: .flag),
            ]
        ),
        (
            "Journal", "journal",
            [
                Field(path: ["journal", "entries"], label: "Requests", hint: "at most", kind: .number),
                Field(path: ["journal", "bytes"], label: "Bytes", hint: "at most, for instance 16MB"),
                Field(
                    path: ["journal", "body_bytes"], label: "Bytes of each body", hint: "at most, for instance 64kB"),
            ]
        ),
    ]

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let settings = try await api.get("settings", as: JSONValue.self)
        let lists = try await api.get("choices", as: Choices.self).lists
        let limits = settings.members?["rate_limits"] ?? .null
        let view: View = [
            "settingsPath": "\(request.base)/_sim/settings",
            "groups": groups.map { group -> View in
                [
                    "groupTitle": group.title, "groupID": group.id,
                    "fields": group.fields.map { field($0, settings, lists) },
                ]
            },
            "isDocumented": limits.text == "documented", "isOff": limits.text == "off",
            "isCustom": limits.members != nil, "limits": self.limits(limits),
            "json": PrettyJSON.text(settings),
        ]
        return PagePart(section: "settings", title: "Settings", template: "settings", view: view)
    }

    private static func limits(_ value: JSONValue) -> [View] {
        let names = ["sdk_per_second", "logins_per_minute", "logins_per_day", "api_per_second"]
        return names.map { name in
            ["limitName": name, "limitLabel": name.replacing("_", with: " "), "limitValue": text(value.members?[name])]
        }
    }

    private static func field(_ field: Field, _ settings: JSONValue, _ lists: [String: [Choice]]) -> View {
        let value = field.path.reduce(Optional(settings)) { $0?.members?[$1] }
        var view: View = [
            "name": field.path.joined(separator: "."), "label": field.label, "hint": field.hint,
            "value": text(value), "isText": false, "isFlag": false, "isChoice": false, "type": "text",
            "isOn": value == .bool(true), "options": [View](),
        ]
        switch field.kind {
        case .text: view["isText"] = true
        case .number:
            view["isText"] = true
            view["type"] = "number"
        case .list:
            view["isText"] = true
            view["type"] = "list"
        case .flag: view["isFlag"] = true
        case .choice(let list):
            view["isChoice"] = true
            view["options"] = Options.view(lists[list], chosen: value?.text)
        }
        return view
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let flag): "\(flag)"
        case .array(let elements): elements.map { $0.text ?? PrettyJSON.line($0) }.joined(separator: ", ")
        default: ""
        }
    }
}
