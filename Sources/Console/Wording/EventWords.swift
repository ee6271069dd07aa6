import SimulationAPI

/// The words of events and due work on pages.
enum EventWords {
    /// The kinds of events whose words are those of the kind.
    private static let plain: Set = [
        "session.ended", "session.expired", "capture.started", "capture.submitted", "capture.cancelled",
        "capture.timed_out", "item.submitted", "items.generated", "result.set", "result.changed", "flag.cleared",
        "flag.resolved", "certificate.transferred", "retake.answered", "support.message", "support.answered",
        "user.created", "subscription.created", "subscription.deleted", "settings.changed", "fault.added",
        "fault.removed", "request.held", "request.released", "scenario.started", "scenario.action", "clock.frozen",
        "clock.advanced", "clock.resumed", "component.session.started", "component.session.cleared",
        "component.session.expired", "component.started", "component.file.uploaded", "component.finished",
        "component.failed",
    ]

    private static let events = [
        "session.started": "Login", "image.uploaded": "Picture uploaded", "result.unplanned": "Result put off",
        "flag.set": "Item flagged", "partner.session.started": "Login at the back end",
        "retake.requested": "Retake asked for", "catalog.changed": "Catalogue data changed",
        "market_edge.changed": "Market data changed", "user.updated": "User changed",
        "subscription.updated": "Subscription changed", "subscription.verified": "Domain verified",
        "webhook.attempted": "Webhook attempt", "seed.loaded": "Seed data loaded",
        "outcome.added": "Outcome rule added", "outcome.matched": "Outcome rule applied",
        "outcome.removed": "Outcome rule removed", "due_work.failed": "Scheduled work failed",
        "component.code.created": "Validation code created", "component.client.rejected": "Client rejected",
    ]

    private static let dueWork: [String: String] = [
        "capture.timeout": "Capture times out", "result": "Result of", "session.expiry": "Session expires",
        "webhook.attempt": "Webhook attempt", "scenario.action": "Scenario action",
        "component.session.expiry": "Component session expires",
    ]

    static func event(_ kind: String) -> String {
        plain.contains(kind) ? FormField.label(kind.replacing(".", with: "_")) : events[kind] ?? kind
    }

    static func due(_ kind: String) -> String { dueWork[kind] ?? kind }

    /// The most telling data of an event, in a few words.
    static func summary(_ change: StateChange) -> String {
        let data = change.data.members ?? [:]
        func text(_ key: String) -> String? { data[key].flatMap { $0.text ?? $0.number?.text } }
        switch change.kind {
        case "webhook.attempted":
            let answer = text("status") ?? text("error") ?? "no answer"
            return "\(text("event") ?? "") attempt \(text("attempt") ?? "?"): \(answer), \(text("delivery") ?? "")"
        case "result.set", "result.changed":
            return [text("result"), text("rule").map { "by \(rule($0))" }].compactMap { $0 }.joined(separator: " ")
        case "flag.set": return text("flag_reason_id") ?? text("reason") ?? ""
        case "flag.resolved": return [text("result"), text("note")].compactMap { $0 }.joined(separator: ": ")
        case "image.uploaded": return text("region_id") ?? ""
        case "capture.submitted": return text("entrupy_id").map { "item \($0)" } ?? ""
        case "item.submitted": return text("username") ?? ""
        case "outcome.matched": return text("outcome_id") ?? ""
        case "support.message": return text("message") ?? ""
        case "scenario.action": return [text("action"), text("problem")].compactMap { $0 }.joined(separator: ": ")
        case "session.ended": return text("reason") ?? ""
        case "due_work.failed":
            return [text("kind").map(due), text("problem")].compactMap { $0 }.joined(separator: ": ")
        default:
            return data.keys.sorted().prefix(3).compactMap { key in text(key).map { "\(key) \($0)" } }
                .joined(separator: ", ")
        }
    }

    /// The words for what decided a result.
    static func rule(_ id: String) -> String {
        switch id {
        case "namespace_default": "the default of the settings"
        case "control": "the control API"
        case "outcome_rule": "an outcome rule"
        case "magic_customer_item_id": "the customer_item_id"
        case "debug_configuration": "the debug configuration"
        default: id.replacing("_", with: " ")
        }
    }

    /// The style of an event's mark: `good`, `bad`, `warn`, `calm`, or empty.
    static func style(_ kind: String, _ data: JSONValue) -> String {
        switch kind {
        case "capture.timed_out", "session.expired", "due_work.failed", "component.failed", "component.client.rejected":
            "bad"
        case "webhook.attempted":
            data.members?["delivery"]?.text == "delivered" ? "good" : "bad"
        case "result.set", "result.changed":
            Style.result(data.members?["result"]?.text ?? "", isFinal: true)
        case "flag.set", "retake.requested", "capture.cancelled": "warn"
        case "flag.resolved", "flag.cleared", "component.finished", "subscription.verified": "good"
        default: kind.hasPrefix("clock.") || kind.hasPrefix("fault.") || kind.hasPrefix("outcome.") ? "calm" : ""
        }
    }
}

/// The object that an event or a piece of due work is about.
enum Subject {
    /// The lane of charts and the page, by the kind or by its first part; `*` stands for the object's id.
    private static let places: [String: (lane: String, page: String?)] = [
        "session": ("Sessions", "/users/*"), "session.expiry": ("Sessions", "/users#*"),
        "user": ("Sessions", "/users/*"), "partner": ("Sessions", nil),
        "capture": ("Capture", "/captures#*"), "image": ("Capture", "/captures#*"),
        "item": ("Review", "/items/*"), "items": ("Review", "/items"), "result": ("Review", "/items/*"),
        "outcome.matched": ("Review", "/items/*"), "flag": ("Flag", "/items/*"),
        "retake": ("Support", "/items/*"), "support": ("Support", "/items/*"), "catalog": ("Support", "/items/*"),
        "certificate": ("Support", "/items/*"), "market_edge": ("Support", "/items/*"),
        "webhook": ("Webhooks", "/webhooks/deliveries/*"), "subscription": ("Webhooks", "/webhooks#*"),
        "component": ("Components", "/components#*"), "fault": ("Control", "/rules#*"),
        "outcome": ("Control", "/rules#*"), "request": ("Control", "/rules#held"),
        "scenario": ("Control", "/scenarios"), "scenario.started": ("Control", "/scenarios/*"),
        "settings": ("Control", "/settings"),
    ]

    private static func place(_ kind: String) -> (lane: String, page: String?) {
        places[kind] ?? kind.split(separator: ".").first.flatMap { places[String($0)] } ?? ("Control", nil)
    }

    static func lane(_ kind: String) -> String { place(kind).lane }

    /// The path of the page that shows the object; `nil` if there is none.
    static func link(_ kind: String, _ id: String, _ request: ConsoleRequest) -> String? {
        // A removal of all rules has no subject.
        guard id != "*", let page = place(kind).page else { return nil }
        return request.console + page.replacing(each: "*", with: URLPart.escaped(id))
    }
}

/// The style of a status, a result or a flag.
enum Style {
    static func result(_ id: String, isFinal: Bool) -> String {
        switch id {
        case "authentic", "match", "analyzed", "registered", "match_found": "good"
        case "needs_review": "accent"
        case "invalid", "no_match", "registration_invalid", "no_match_found": "bad"
        default: isFinal ? "warn" : "accent"
        }
    }

    static func flag(_ id: String) -> String {
        switch id {
        case "none": ""
        case "flagged": "warn"
        default: "good"
        }
    }

    static func delivery(_ status: String) -> String {
        switch status {
        case "delivered": "good"
        case "failed", "cancelled": "bad"
        case "retrying": "warn"
        default: "accent"
        }
    }
}
