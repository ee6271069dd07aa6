import EntrupyAPI
import EntrupyStorage
import SimulationAPI
import Storage

/// An action in a scenario's timeline [D scenarios].
enum ScenarioAction: Sendable {
    case setResult(ScenarioTarget, result: String, reason: String?)
    case resolveFlag(ScenarioTarget, note: String, result: String?)
    case retake(ScenarioTarget, RetakeRequest)
    case supportMessage(ScenarioTarget, SupportMessageRequest)
    /// Revokes one user's sessions, or everyone's.
    case revokeSessions(username: String?)
    case expireSessions(username: String?)
    case insertItems(ScenarioItems)
    /// Adds a fault rule, in the format of `POST /_sim/faults`.
    case fault(JSONValue)
    case clearFaults
    case triggerWebhook(WebhookEvent, ScenarioTarget)
    /// Applies a merge patch to the settings.
    case settings(JSONValue)

    /// The names of actions in scenarios.
    static let names = [
        "set_result", "resolve_flag", "retake", "support_message", "revoke_sessions", "expire_sessions", "insert_items",
        "fault", "clear_faults", "trigger_webhook", "settings",
    ]

    /// The members of each action that is an object of its own.
    private static let members = [
        "set_result": ScenarioTarget.members + ["result", "reason"],
        "resolve_flag": ScenarioTarget.members + ["note", "result"],
        "retake": ScenarioTarget.members + ["regions", "message"],
        "support_message": ScenarioTarget.members + ["message", "options"],
        "revoke_sessions": ["username"], "expire_sessions": ["username"],
        "trigger_webhook": ScenarioTarget.members + ["event"],
    ]

    /// Reads and checks an action.
    ///
    /// - Parameters:
    ///   - name: one of ``names``.
    ///   - base: the initial settings of a namespace.
    /// - Throws: ``PlatformError/invalid(_:_:)``, with fields that begin with `name`.
    init(_ name: String, _ value: JSONValue, _ seed: Seed, _ base: JSONValue) throws {
        var fields = Self.members[name].map { FieldReader(value, at: name, known: $0) } ?? FieldReader([:])
        switch name {
        case "set_result":
            let target = ScenarioTarget(&fields)
            let result = fields.requiredWord("result", ResultID.all)
            let reason = fields.word("reason", seed.catalogue.texts.invalidReasons.map(\.id))
            if reason != nil, result != ResultID.invalid { fields.report("reason", "needs the result invalid") }
            self = .setResult(target, result: result, reason: reason)
        case "resolve_flag":
            self = .resolveFlag(
                ScenarioTarget(&fields), note: fields.requiredText("note"), result: fields.word("result", ResultID.all))
        case "retake":
            let target = ScenarioTarget(&fields)
            let known = seed.catalogue.categories.flatMap { category in
                ConfigType.allCases.flatMap { category.steps($0).map(\.regionID) }
            }
            let regions = fields.words("regions", Array(Set(known)).sorted()) ?? []
            if regions.isEmpty { fields.report("regions", "must name at least one region") }
            self = .retake(target, RetakeRequest(regions: regions, message: fields.text("message")))
        case "support_message":
            let target = ScenarioTarget(&fields)
            let message = fields.requiredText("message")
            let options = fields.elements("options", "must be a list of texts").map { options in
                var options = options
                return options.names.map { options.fields.requiredText($0) }
            }
            self = .supportMessage(target, SupportMessageRequest(message: message, options: options))
        case "revoke_sessions": self = .revokeSessions(username: fields.text("username"))
        case "expire_sessions": self = .expireSessions(username: fields.text("username"))
        case "insert_items": self = .insertItems(try Self.within(name) { try ScenarioItems(value) })
        case "fault":
            _ = try Self.within(name) { try FaultRule(value, id: "") }
            self = .fault(value)
        case "clear_faults":
            if ![.bool(true), .null, .object([:])].contains(value) { fields.report(name, "must be true") }
            self = .clearFaults
        case "trigger_webhook":
            let target = ScenarioTarget(&fields)
            let event = fields.requiredWord("event", WebhookEvent.allCases.map(\.rawValue))
            self = .triggerWebhook(WebhookEvent(rawValue: event) ?? .sessionUpdated, target)
        case "settings":
            guard value.members != nil else {
                throw PlatformError.invalid(field: name, "must be an object, got \(value.quoted)")
            }
            _ = try Self.within(name) { try Settings(base.merging(value), flagEligible: seed.flagEligible) }
            self = .settings(value)
        default: throw PlatformError.bug("the action \(name) is not known")
        }
        try fields.finish()
    }

    /// Runs `body` and prefixes the fields of its errors with the action's name.
    private static func within<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PlatformError where error.kind == .invalid {
            throw PlatformError.invalid(
                error.message,
                error.details.map { ErrorDetail($0.field.isEmpty ? name : "\(name).\($0.field)", $0.problem) })
        }
    }

    /// Performs the action. Writes.
    ///
    /// - Throws: ``PlatformError`` if the action fails.
    func perform(_ job: JobContext) throws {
        switch self {
        case .setResult(let target, let result, let reason):
            _ = try PatchAuthentication(
                target.find(job), resultID: result, reason: reason, flagID: nil, catalog: nil
            ).perform(job)
        case .resolveFlag(let target, let note, let result):
            _ = try ResolveFlag(target.find(job), note: note, resultID: result).perform(job)
        case .retake(let target, let request): _ = try AskForRetake(target.find(job), request).perform(job)
        case .supportMessage(let target, let request):
            _ = try SendSupportMessage(target.find(job), request).perform(job)
        case .revokeSessions(let username): try RevokeSessions(username: username).perform(job)
        case .expireSessions(let username):
            let user = try username.map { try Users.find($0, job) }
            for session in try job.transaction.activeSessions(userID: user?.id, limit: .max) {
                try Sessions.expire(token: session.token, job)
            }
        case .insertItems(let items): try items.make(job)
        case .fault(let document): _ = try AddFault(document).perform(job)
        case .clearFaults: try RemoveFaults(nil).perform(job)
        case .triggerWebhook(let event, let target):
            _ = try TriggerWebhook(event, entrupyID: target.find(job)).perform(job)
        case .settings(let patch): _ = try PatchSettings(patch).perform(job)
        }
    }

    var name: String {
        switch self {
        case .setResult: "set_result"
        case .resolveFlag: "resolve_flag"
        case .retake: "retake"
        case .supportMessage: "support_message"
        case .revokeSessions: "revoke_sessions"
        case .expireSessions: "expire_sessions"
        case .insertItems: "insert_items"
        case .fault: "fault"
        case .clearFaults: "clear_faults"
        case .triggerWebhook: "trigger_webhook"
        case .settings: "settings"
        }
    }
}

/// The item of an action, given by one of two ids.
///
/// A `customer_item_id`, which may be a glob, means the latest matching item. An `entrupy_id` means exactly that
/// item.
struct ScenarioTarget: Sendable {
    private let customerItemID: String?
    private let entrupyID: String?

    /// The names of its members.
    static let members = ["customer_item_id", "entrupy_id"]

    init(_ fields: inout FieldReader) {
        customerItemID = fields.text("customer_item_id")
        entrupyID = fields.text("entrupy_id")
        if (customerItemID == nil) == (entrupyID == nil) {
            fields.report("customer_item_id", "must be given, or else entrupy_id, but not both")
        }
    }

    /// The item's id.
    ///
    /// - Throws: ``PlatformError/notFound(_:)``.
    func find(_ job: JobContext) throws -> String {
        if let entrupyID { return entrupyID }
        guard let customerItemID, let found = try job.transaction.latestItem(customerItemID: customerItemID) else {
            throw PlatformError.notFound("there is no item with the customer_item_id \"\(customerItemID ?? "")\"")
        }
        return found
    }
}
