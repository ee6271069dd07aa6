import EntrupyAPI
import Platform

// Initializers that read requests from their bodies. They check types; the platform checks everything else.

extension AuthorizeUserRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        self.init(
            sdk_authorization_request: fields.string("sdk_authorization_request"),
            unique_user_id: fields.string("unique_user_id"),
            email: fields.optionalString("email"), first_name: fields.optionalString("first_name"),
            last_name: fields.optionalString("last_name"))
        try fields.finish()
    }
}

extension PartnerLoginRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        self.init(username: fields.string("username"), password: fields.string("password"))
        try fields.finish()
    }
}

extension PartnerAuthorizationRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        self.init(
            sdk_authorization_request: fields.string("sdk_authorization_request"),
            unique_user_id: fields.optionalString("unique_user_id"), email: fields.optionalString("email"),
            first_name: fields.optionalString("first_name"), last_name: fields.optionalString("last_name"))
        try fields.finish()
    }
}

extension LoginRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        self.init(
            signed_authorization_request: fields.string("signed_authorization_request"),
            bundle_id: fields.optionalString("bundle_id"))
        try fields.finish()
    }
}

extension StartCaptureRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        let type = fields.optionalWord("config_type", ConfigType.self)
        let item = fields.object("item")
        var itemFields = FieldReader(item, prefix: "item.")
        for key in item.keys.sorted() where item[key]?.text?.utf8.contains(0) == true {
            itemFields.report(key, "must not hold the character U+0000")
        }
        try fields.finish()
        try itemFields.finish()
        self.init(config_type: type, item: item)
    }
}

extension SetFlagRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        self.init(
            flag: fields.bool("flag"), flag_reason_id: fields.optionalString("flag_reason_id"),
            message: fields.optionalString("message"))
        try fields.finish()
    }
}

extension SubscriptionRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        self.init(
            url: fields.optionalString("url"), secret_key: fields.optionalString("secret_key"),
            events: fields.texts("events"),
            channel: fields.optionalString("channel"), username: fields.optionalString("username"))
        try fields.finish()
    }
}

extension RetakeRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("regions", "message")
        let regions = fields.texts("regions")
        if regions == nil, !fields.has("regions") || body["regions"] == .null { fields.report("regions", "is missing") }
        let message = fields.optionalString("message")
        try fields.finish()
        self.init(regions: regions ?? [], message: message)
    }
}

extension SupportMessageRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("message", "options")
        self.init(message: fields.string("message"), options: fields.texts("options"))
        try fields.finish()
    }
}

extension FieldReader {
    /// An array of strings that may be absent or null.
    mutating func texts(_ key: String) -> [String]? {
        optional(key, "must be an array of strings without the character U+0000") { value in
            value.elements.flatMap { elements in
                let texts = elements.compactMap(\.text)
                return texts.count == elements.count && !texts.contains { $0.utf8.contains(0) } ? texts : nil
            }
        }
    }
}

extension TriggerWebhook {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("event", "entrupy_id")
        let event = fields.optionalWord("event", WebhookEvent.self)
        if !fields.has("event") || body["event"] == .null { fields.report("event", "is missing") }
        let entrupyID = fields.string("entrupy_id")
        try fields.finish()
        self.init(event ?? .sessionUpdated, entrupyID: entrupyID)
    }
}

extension PartnerFlagRequest {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        self.init(reason: fields.string("reason"), comments: fields.optionalString("comments"))
        try fields.finish()
    }
}

extension SearchRequest {
    /// A user's search.
    init(_ body: JSONObject) throws {
        try self.init(body, hasTextCursor: false, defaultLimit: SearchItems.defaultLimit)
    }

    /// An organization's search. `format_options`, and a filter's `text_fields`, are accepted and ignored [P].
    init(partner body: JSONObject, _ version: PartnerVersion) throws {
        try self.init(body, hasTextCursor: version == .v2, defaultLimit: SearchPartnerItems.defaultLimit)
    }

    private static func textCursor(_ fields: inout FieldReader) -> [String]? {
        let text = fields.optional("cursor", "must be the string from the previous answer's next_cursor", \.text)
        guard let text, !text.isEmpty else { return nil }
        return text.split(at: ".", omittingEmpty: false).map(String.init)
    }

    private static func arrayCursor(_ fields: inout FieldReader) -> [String]? {
        fields.optional("cursor", "must be the array of strings from the previous answer's next_cursor") { value in
            value.elements.flatMap { elements in
                let texts = elements.compactMap(\.text)
                return texts.count == elements.count ? texts : nil
            }
        }
    }

    private init(_ body: JSONObject, hasTextCursor: Bool, defaultLimit: Int) throws {
        var fields = FieldReader(body)
        let cursor = hasTextCursor ? Self.textCursor(&fields) : Self.arrayCursor(&fields)
        let filters = fields.optional("filters", "must be an array of objects") { $0.elements }
        let start = fields.optional("start_date", "must be a number of epoch seconds, 0 for no bound", Self.date)
        let end = fields.optional("end_date", "must be a number of epoch seconds, 0 for no bound", Self.date)
        let limit = fields.optional("limit", "must be a whole number from 1 to 25") { value in
            if case .number(let number) = value { Int(exactly: number.double) } else { nil }
        }
        var read: [SearchFilter] = []
        if let filters, filters.count > SearchItems.maxFilters {
            fields.report("filters", "must be at most \(SearchItems.maxFilters), got \(filters.count)")
        }
        for (index, filter) in (filters ?? []).prefix(SearchItems.maxFilters).enumerated() {
            read.append(SearchFilter(filter, "filters[\(index)]", &fields))
        }
        try fields.finish()
        self.init(
            cursor: cursor, filters: read, start_date: start ?? 0, end_date: end ?? 0,
            limit: limit ?? defaultLimit)
    }

    private static func date(_ value: JSONValue) -> Double? {
        guard case .number(let number) = value, number.double >= 0 else { return nil }
        return number.double
    }
}

extension SearchFilter {
    /// Reads one filter and reports its problems to `fields`.
    fileprivate init(_ value: JSONValue, _ path: String, _ fields: inout FieldReader) {
        guard let members = value.members else {
            fields.report(path, "must be an object, got \(value.typeName)")
            self.init(key: "")
            return
        }
        var own = FieldReader(members, prefix: path + ".")
        self.init(
            // The search answers an unknown key, and a missing one, with the list of valid keys.
            key: own.optionalString("key") ?? "", value: own.optionalString("value"),
            values: own.optional("values", "must be an array of strings") { value in
                value.elements.flatMap { elements in
                    let texts = elements.compactMap(\.text)
                    return texts.count == elements.count && !texts.contains { $0.utf8.contains(0) } ? texts : nil
                }
            },
            exclude: own.optional("exclude", "must be true or false") { value in
                if case .bool(let flag) = value { flag } else { nil }
            })
        for problem in own.problems { fields.report(problem.field, problem.problem) }
    }
}

extension PatchAuthentication {
    init(_ entrupyID: String, _ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("result", "reason", "flag", "catalog")
        let result = fields.optionalString("result")
        let reason = fields.optionalString("reason")
        let flag = fields.optionalString("flag")
        let catalog = fields.optionalObject("catalog")
        try fields.finish()
        self.init(entrupyID, resultID: result, reason: reason, flagID: flag, catalog: catalog)
    }
}

extension ItemTemplate {
    /// Reads one item, or `{"count", "template"}`.
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        var count = 1
        var template = body
        if fields.has("count") || fields.has("template") {
            fields.allowOnly("count", "template")
            count =
                fields.optional("count", "must be a whole number from 1 to \(Self.maxCount)") { value in
                    if case .number(let number) = value { Int(exactly: number.double) } else { nil }
                } ?? 1
            template = fields.optionalObject("template") ?? [:]
        }
        var own = FieldReader(template)
        let username = own.optionalString("username")
        let result = own.optionalString("result")
        let reason = own.optionalString("reason")
        let flag = own.optionalString("flag")
        var item = template
        for key in ["username", "result", "reason", "flag"] { item[key] = nil }
        for key in item.keys.sorted() where item[key]?.text?.utf8.contains(0) == true {
            own.report(key, "must not hold the character U+0000")
        }
        for key in ["config_type", "entrupy_id", "submitted_at"] where template[key] != nil && template[key] != .null {
            own.report(key, "cannot be set: items are of type production, with generated ids, one minute apart")
        }
        for key in ["count", "template"] where own.has(key) {
            own.report(key, "belongs beside the template, not in it: {\"count\": 3, \"template\": {…}}")
        }
        try fields.finish()
        try own.finish()
        // The brand may be absent, null or empty. The default is Nike [D generated-items].
        if [nil, .null, .string("")].contains(item["brand"]) { item["brand"] = .string("Nike") }
        try self.init(count: count, username: username, result: result, reason: reason, flag: flag, item: item)
    }
}

extension PatchUser {
    init(_ username: String, _ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("email", "first_name", "last_name", "rate_limits")
        if fields.has("email") { _ = fields.string("email") }
        _ = fields.optionalString("first_name")
        _ = fields.optionalString("last_name")
        try fields.finish()
        self.init(username, patch: body)
    }
}

extension ResolveFlag {
    init(_ entrupyID: String, _ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("note", "result")
        let note = fields.string("note")
        let result = fields.optionalString("result")
        try fields.finish()
        try self.init(entrupyID, note: note, resultID: result)
    }
}

extension FreezeClock {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("at")
        let moment = fields.moment("at")
        try fields.finish()
        self.init(at: moment)
    }
}

extension ClockTarget {
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("by", "to", "max_wall")
        let span = fields.optional("by", Span.expectation, Span.init)
        let isNext = fields.optional("to", "") { $0 == .string("next") } ?? false
        let moment = isNext ? nil : fields.moment("to", or: " or \"next\"")
        try fields.finish()
        switch (span, isNext, moment) {
        case (let span?, false, nil): self = .by(span)
        case (nil, true, nil): self = .next
        case (nil, false, let moment?): self = .to(moment)
        default:
            throw PlatformError.invalid([
                ErrorDetail("by", "give either \"by\" or \"to\", for instance {\"by\": \"2h\"}")
            ])
        }
    }
}

extension SettleDeadline {
    /// Reads `max_wall`: the maximum real time that an advance of the clock waits for receivers.
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        let span = fields.optional("max_wall", "must be a duration of at most 10m, for instance \"60s\"") { value in
            Span(value).flatMap { $0 <= Self.max ? $0 : nil }
        }
        try fields.finish()
        self.init(span ?? Self.defaultWait)
    }
}

extension NamespaceOptions {
    /// Reads the options of a namespace with a given name.
    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("seed", "random_seed", "clock", "ttl")
        try self.init(&fields)
    }

    /// Reads the options of a namespace whose name the server makes up, and the prefix of that name.
    static func fresh(_ body: JSONObject) throws -> (prefix: String?, options: NamespaceOptions) {
        var fields = FieldReader(body)
        fields.allowOnly("prefix", "seed", "random_seed", "clock", "ttl")
        let prefix = fields.optionalString("prefix")
        return (prefix, try NamespaceOptions(&fields))
    }

    private init(_ fields: inout FieldReader) throws {
        self.init()
        ttl = fields.timeToLive()
        seed = fields.optional("seed", "must be \"standard\", \"empty\" or seed data") { value in
            value.text != nil || value.members != nil ? value : nil
        }
        randomSeed = fields.optional("random_seed", "must be a whole number from 0 to 9007199254740991") { value in
            guard case .number(let number) = value, let seed = number.integer, (0..<1 << 53).contains(seed) else {
                return nil
            }
            return seed
        }
        if let clock = fields.optionalObject("clock") {
            var clockFields = FieldReader(clock, prefix: "clock.")
            clockFields.allowOnly("freeze")
            frozenAt = clockFields.moment("freeze")
            for problem in clockFields.problems { fields.report(problem.field, problem.problem) }
        }
        try fields.finish()
    }
}

/// The body of `POST /_sim/snapshots/{name}/fork`.
struct ForkRequest: Sendable {
    let namespace: String
    let ttl: Span?

    init(_ body: JSONObject) throws {
        var fields = FieldReader(body)
        fields.allowOnly("namespace", "ttl")
        namespace = fields.string("namespace")
        ttl = fields.timeToLive()
        try fields.finish()
    }
}

extension ScenarioStart {
    /// Reads the body of `POST /_sim/scenarios/{name}/start`.
    ///
    /// - Parameter isStrict: the query's `strict`.
    init(_ body: JSONObject, isStrict: Bool) throws {
        var fields = FieldReader(body)
        fields.allowOnly("namespace", "replace", "ttl", "run")
        func flag(_ key: String) -> Bool {
            fields.optional(key, "must be true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
                ?? false
        }
        let namespace = fields.optionalString("namespace")
        let ttl = fields.timeToLive()
        let (replaces, runs) = (flag("replace"), flag("run"))
        if ttl != nil, namespace == nil { fields.report("ttl", "is for a new namespace: give \"namespace\" too") }
        try fields.finish()
        self.init(namespace: namespace, replaces: replaces, ttl: ttl, runs: runs, isStrict: isStrict)
    }
}

extension FieldReader {
    /// A namespace's time to live. `nil` if it has none.
    fileprivate mutating func timeToLive() -> Span? {
        optional("ttl", "must be a duration from 1s to 30d, such as 30m, or a number of seconds") {
            Span($0).flatMap { (1_000_000...30 * 86_400_000_000).contains($0.microseconds) ? $0 : nil }
        }
    }

    /// A moment, in ISO 8601 or epoch seconds. `nil` if it is absent.
    mutating func moment(_ key: String, or alternative: String = "") -> Instant? {
        optional(key, "must be ISO 8601 with an offset, such as 2026-01-05T09:00:00Z\(alternative)") { value in
            switch value {
            case .string(let text): Instant(text)
            case .number(let number): Instant(epoch: number.double)
            default: nil
            }
        }
    }
}
