import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

extension ScenarioAction.Kind {
    private static let setResult = Self("set_result", members: ScenarioTarget.members + ["result", "reason"]) {
        fields, surroundings in
        let target = ScenarioTarget(&fields)
        let result = ResultID(rawValue: fields.requiredWord("result", ResultID.names))
        let reason = fields.word("reason", surroundings.seed.entrupy.catalogue.texts.invalidReasons.map(\.id))
        if reason != nil, result != .invalid { fields.report("reason", "needs the result invalid") }
        return { job in
            _ = try PatchAuthentication(entrupyID: target.find(job), result: result, reason: reason).perform(job)
        }
    }

    private static let resolveFlag = Self("resolve_flag", members: ScenarioTarget.members + ["note", "result"]) {
        fields, _ in
        let target = ScenarioTarget(&fields)
        let note = fields.requiredText("note")
        let result = fields.word("result", ResultID.self)
        return { job in _ = try ResolveFlag(target.find(job), note: note, result: result).perform(job) }
    }

    private static let retake = Self("retake", members: ScenarioTarget.members + ["regions", "message"]) {
        fields, surroundings in
        let target = ScenarioTarget(&fields)
        let regions = fields.words("regions", surroundings.seed.entrupy.catalogue.regionIDs)
        if regions?.isEmpty == true { fields.report("regions", "must name at least one region") }
        let request = RetakeRequest(regions: regions, message: fields.text("message"))
        return { job in _ = try AskForRetake(entrupyID: target.find(job), request: request).perform(job) }
    }

    private static let supportMessage = Self(
        "support_message", members: ScenarioTarget.members + ["message", "options"]
    ) { fields, _ in
        let target = ScenarioTarget(&fields)
        let message = fields.requiredText("message")
        let options = fields.elements("options", "must be a list of texts").map { options in
            var options = options
            return options.names.map { options.fields.requiredText($0) }
        }
        let request = SupportMessageRequest(message: message, options: options)
        return { job in _ = try SendSupportMessage(target.find(job), request).perform(job) }
    }

    /// Revokes one user's sessions, or everyone's.
    private static let revokeSessions = Self("revoke_sessions", members: ["username"]) { fields, _ in
        let username = fields.text("username")
        return { job in try RevokeSessions(username: username).perform(job) }
    }

    private static let expireSessions = Self("expire_sessions", members: ["username"]) { fields, _ in
        let username = fields.text("username")
        return { job in
            let user = try username.map { try Users.find($0, job) }
            for session in try job.transaction.activeSessions(userID: user?.id, limit: .max) {
                try Sessions.expire(token: session.token, job)
            }
        }
    }

    private static let triggerWebhook = Self("trigger_webhook", members: ScenarioTarget.members + ["event"]) {
        fields, _ in
        let target = ScenarioTarget(&fields)
        let event = WebhookEvent(rawValue: fields.requiredWord("event", WebhookEvent.names))
        return { job in
            _ = try TriggerWebhook(event: event ?? .sessionUpdated, entrupyID: target.find(job)).perform(job)
        }
    }

    static let ofEntrupy: [Self] = [
        setResult, resolveFlag, retake, supportMessage, revokeSessions, expireSessions,
        Self("insert_items", as: .items), triggerWebhook,
    ]
}

extension ScenarioExpectation.Kind {
    /// The way out for the scenario's author. Testers only wait for the item.
    private static func authorsWayOut(_ neighbour: String) -> String {
        "A scenario that means so has \(QueryName.item.member): true beside \(neighbour)"
    }

    private static let items = Self(name: "item", members: [QueryName.item.member]) { fields, _ in
        let isAnyItem = !fields.anyNames().isEmpty
        var item = fields.object("item", known: ["customer_item_id", "result", "flag"])
        let id = item.requiredText("customer_item_id")
        let result = item.word("result", ResultID.self)
        let flag = item.word("flag", FlagID.self)
        let text =
            "item \(id)" + (result.map { " is \($0.rawValue)" } ?? "") + (flag.map { ", flag \($0.rawValue)" } ?? "")
        return .init(text: text) { job, amount in
            let items = try job.transaction.itemStates(customerItemID: id)
            let found = items.count { [nil, $0.result].contains(result) && [nil, $0.flag].contains(flag) }
            // That no such item has the result says nothing if there is no such item.
            let isUnknown = items.isEmpty && (result != nil || flag != nil) && !isAnyItem
            if amount.contains(found), !isUnknown { return (found, nil) }
            let states = items.prefix(3).map { "\($0.customerItemID) is \($0.result.rawValue), \($0.flag.rawValue)" }
            let seen = states.isEmpty ? "no item \(id) was submitted yet" : states.joined(separator: "; ")
            return (
                found,
                isUnknown ? "\(seen). \(authorsWayOut("item"))" : "\(amount.tally(found)); \(seen)"
            )
        }
    }

    private static let captures = Self(name: "capture", members: [QueryName.item.member]) { fields, _ in
        let isAnyItem = !fields.anyNames().isEmpty
        var capture = fields.object("capture", known: ["status", "customer_item_id"])
        let status = Capture.Status(rawValue: capture.requiredWord("status", Capture.Status.names))
        let id = capture.text("customer_item_id")
        return .init(text: "capture\(id.map { " of \($0)" } ?? "") is \(status.rawValue)") { job, amount in
            let statuses = try job.transaction.captureStates(customerItemID: id)
            let found = statuses[status] ?? 0
            if let id, statuses.isEmpty, amount.contains(0), !isAnyItem {
                return (0, "there is no capture of \(id). \(authorsWayOut("capture"))")
            }
            if amount.contains(found) { return (found, nil) }
            let others = statuses.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 }.map { "\($0.1) \($0.0)" }
            let seen = others.isEmpty ? "none at all" : others.joined(separator: ", ")
            return (found, "\(amount.tally(found)); there are \(seen)")
        }
    }

    static let ofEntrupy: [Self] = [items, captures]
}

extension ScenarioSection {
    fileprivate static let items = Self(key: "items", hasRules: false) { value, _ in
        let items = try ScenarioItems(value)
        return ScenarioAction {
            try items.make($0)
        } notes: {
            items.notes($0.seed.entrupy.catalogue)
        }
    }

    /// Subscriptions come after the items, so that they are not notified of these.
    private static let subscriptions = Self(key: "subscriptions", hasRules: false) { value, _ in
        var fields = FieldReader(
            value, known: ["url", "secret_key", "events", "username", "organization", "version", "format", "signature"])
        let url = fields.requiredText("url")
        let secret = fields.text("secret_key") ?? "scenario-secret"
        let events = fields.words("events", WebhookEvent.names)
        let username = fields.text("username")
        let organization = fields.text("organization")
        let isV1 = fields.word("version", ["v1", "v2"]) == "v1"
        let format = fields.word("format", WebhookFormat.self)
        let signature = fields.word("signature", WebhookSignatureForm.self)
        try fields.finish()
        let request = SubscriptionRequest(
            url: url, secret_key: secret, events: events, username: username, format: format, signature: signature)
        let subscribe = Subscribe(request, isV1 ? .v1(minor: PartnerVersion.lastMinor) : .v2)
        return ScenarioAction { job in
            // Without a name, for the first organization.
            let found = try Subscriptions.organization(named: organization, job)
            _ = try subscribe.perform(job, as: Partner(organization: found))
        }
    }

    static let ofEntrupy: [Self] = [items, subscriptions]
}
