import SimulationAPI

/// The words of events and due work on pages.
enum EventWords {
    private static let events: [String: String] = [
        "session.started": "Login", "session.ended": "Session ended", "session.expired": "Session expired",
        "capture.started": "Capture started", "image.uploaded": "Picture uploaded",
        "capture.submitted": "Capture submitted", "capture.cancelled": "Capture cancelled",
        "capture.timed_out": "Capture timed out", "item.submitted": "Item submitted",
        "items.generated": "Items generated", "result.set": "Result set", "result.changed": "Result changed",
        "result.unplanned": "Result put off", "flag.set": "Item flagged", "flag.cleared": "Flag cleared",
        "flag.resolved": "Flag resolved", "certificate.transferred": "Certificate transferred",
        "partner.session.started": "Login at the back end", "retake.requested": "Retake asked for",
        "retake.answered": "Retake answered", "support.message": "Support message",
        "support.answered": "Support answered", "catalog.changed": "Catalogue data changed",
        "market_edge.changed": "Market data changed",
        "user.created": "User created", "user.updated": "User changed",
        "subscription.created": "Subscription created", "subscription.updated": "Subscription changed",
        "subscription.deleted": "Subscription deleted", "subscription.verified": "Domain verified",
        "webhook.attempted": "Webhook attempt", "seed.loaded": "Seed data loaded",
        "settings.changed": "Settings changed", "outcome.added": "Outcome rule added",
        "outcome.matched": "Outcome rule applied", "outcome.removed": "Outcome rule removed",
        "fault.added": "Fault added", "fault.removed": "Fault removed", "request.held": "Request held",
        "request.released": "Request released",
        "scenario.started": "Scenario started",
        "scenario.action": "Scenario action", "due_work.failed": "Scheduled work failed",
        "clock.frozen": "Clock frozen", "clock.advanced": "Clock advanced",
        "clock.resumed": "Clock resumed", "component.code.created": "Validation code created",
        "component.session.started": "Component session started",
        "component.session.cleared": "Component session cleared",
        "component.session.expired": "Component session expired", "component.started": "Component started",
        "component.file.uploaded": "Component file uploaded", "component.finished": "Component finished",
        "component.failed": "Component failed", "component.client.rejected": "Client rejected",
    ]

    private static let dueWork: [String: String] = [
        "capture.timeout": "Capture times out", "result": "Result of", "session.expiry": "Session expires",
        "webhook.attempt": "Webhook attempt", "scenario.action": "Scenario action",
        "component.session.expiry": "Component session expires",
    ]

    static func event(_ kind: String) -> String { events[kind] ?? kind }

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

/// The object that an event or a piece of due work is about, and the page that shows it.
struct Subject {
    let id: String
    /// The path of the page; `nil` if there is none.
    let link: String?

    init(kind: String, id: String, _ request: ConsoleRequest) {
        self.id = id
        let escaped = URLPart.escaped(id)
        let family = kind.split(separator: ".").first.map(String.init) ?? kind
        let path: String? =
            switch family {
            case "capture", "image": "/captures#\(escaped)"
            case "item", "result", "flag", "retake", "support", "certificate", "catalog", "market_edge":
                "/items/\(escaped)"
            case "items": "/items"
            case "user": "/users/\(escaped)"
            case "session": kind == "session.expiry" ? "/users#\(escaped)" : "/users/\(escaped)"
            case "webhook": "/webhooks/deliveries/\(escaped)"
            case "subscription": "/webhooks#\(escaped)"
            case "fault": "/rules#\(escaped)"
            case "outcome": kind == "outcome.matched" ? "/items/\(escaped)" : "/rules#\(escaped)"
            case "scenario": kind == "scenario.started" ? "/scenarios/\(escaped)" : "/scenarios"
            case "request": "/rules#held"
            case "settings": "/settings"
            case "component": "/components#\(escaped)"
            default: nil
            }
        // A removal of all rules has no subject.
        link = id == "*" ? nil : path.map { request.console + $0 }
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
