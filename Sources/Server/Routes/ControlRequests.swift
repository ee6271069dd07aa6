import Entrupy
import EntrupyAPI
import Simulation
import SimulationAPI

// Decodes the operations of the control API. Their bodies refuse unknown members [D unknown-members].

extension FreezeClock {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["at"])
        let moment = fields.moment("at")
        try fields.finish()
        self.init(at: moment)
    }
}

/// The body of `POST /_sim/clock/advance`.
struct ClockAdvance: Sendable {
    let target: ClockTarget
    /// The end of the wait for receivers, in real time.
    let deadline: SettleDeadline

    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["by", "to", "max_wall"])
        let span = fields.span("by")
        let isNext = fields.value("to") == .string("next")
        let moment = isNext ? nil : fields.moment("to", or: " or \"next\"")
        deadline = SettleDeadline(fields.span("max_wall", to: SettleDeadline.max) ?? SettleDeadline.defaultWait)
        try fields.finish()
        switch (span, isNext, moment) {
        case (let span?, false, nil): target = .by(span)
        case (nil, true, nil): target = .next
        case (nil, false, let moment?): target = .to(moment)
        default:
            throw PlatformError.invalid([
                ErrorDetail("by", "give either \"by\" or \"to\", for instance {\"by\": \"2h\"}")
            ])
        }
    }
}

extension PatchUser {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["email", "first_name", "last_name", "rate_limits"])
        if fields.has("email") { _ = fields.string("email") }
        _ = fields.optionalString("first_name")
        _ = fields.optionalString("last_name")
        try fields.finish()
        self.init(request.path("username"), patch: request.body)
    }
}

extension PatchAuthentication {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["result", "reason", "flag", "catalog", "market_edge"])
        let result = fields.word("result", ResultID.self)
        let reason = fields.optionalString("reason")
        let flag = fields.optionalString("flag").map(FlagID.init(rawValue:))
        let catalog = fields.members("catalog")
        let marketEdge = fields.marketEdge()
        let removesMarketEdge = fields.has("market_edge") && marketEdge == nil
        try fields.finish()
        self.init(
            request.path("entrupy_id"), result: result, reason: reason, flag: flag, catalog: catalog,
            marketEdge: removesMarketEdge ? .remove : marketEdge.map { .set($0) })
    }
}

extension ResolveFlag {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["note", "result"])
        let note = fields.string("note")
        let result = fields.word("result", ResultID.self)
        try fields.finish()
        try self.init(request.path("entrupy_id"), note: note, result: result)
    }
}

extension AskForRetake {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["regions", "message"])
        let wanted = RetakeRequest(regions: fields.texts("regions"), message: fields.optionalString("message"))
        try fields.finish()
        self.init(request.path("entrupy_id"), wanted)
    }
}

extension SendSupportMessage {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["message", "options"])
        let wanted = SupportMessageRequest(message: fields.string("message"), options: fields.texts("options"))
        try fields.finish()
        try self.init(request.path("entrupy_id"), wanted)
    }
}

extension TransferCertificate {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["to"])
        let email = fields.string("to")
        try fields.finish()
        try self.init(request.path("entrupy_id"), to: email)
    }
}

extension SubscribeOrganization {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["organization"] + SubscriptionRequest.members)
        let organization = fields.optionalString("organization")
        let wanted = SubscriptionRequest(&fields)
        try fields.finish()
        self.init(organization: organization, wanted)
    }
}

extension PatchAnySubscription {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: SubscriptionRequest.members)
        let wanted = SubscriptionRequest(&fields)
        try fields.finish()
        self.init(request.path("id"), wanted, forgetsUsername: request.body["username"] == .null)
    }
}

extension TriggerWebhook {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["event", "entrupy_id"])
        fields.require("event")
        let event = fields.word("event", WebhookEvent.self)
        let entrupyID = fields.string("entrupy_id")
        try fields.finish()
        self.init(event ?? .sessionUpdated, entrupyID: entrupyID)
    }
}

extension CheckSignature {
    init(_ request: RequestReader) throws {
        var fields = request.fields(known: ["secret", "signature", "body", "form"])
        let (secret, signature) = (fields.string("secret"), fields.string("signature"))
        let body = fields.string("body")
        let form = fields.word("form", WebhookSignatureForm.self)
        try fields.finish()
        self.init(secret: secret, signature: signature, body: body, form: form)
    }
}

extension ItemTemplate {
    /// Reads one item, or `{"count", "template"}`.
    init(_ body: JSONObject) throws {
        var count: Int?
        var template = body
        if body["count"] != nil || body["template"] != nil {
            var fields = FieldReader(body, known: ["count", "template"])
            count = fields.number("count", in: 1...Self.maxCount)
            template = fields.members("template") ?? [:]
            try fields.finish()
        }
        var fields = FieldReader(template)
        try self.init(&fields, template, count: count)
    }
}

// MARK: Lists

extension FieldReader {
    /// The page of a list: the query's `limit` and `cursor`.
    mutating func page(
        of sizes: ClosedRange<Int> = ControlPage.limits, default size: Int = ControlPage.defaultLimit
    ) -> (limit: Int, cursor: String?) {
        (number("limit", in: sizes) ?? size, given("cursor"))
    }
}

extension ListDue {
    init(_ request: RequestReader) throws {
        var query = request.query
        let limit = query.number("limit", in: ControlPage.limits)
        try query.finish()
        self.init(limit: limit ?? ControlPage.defaultLimit)
    }
}

extension ListUsers {
    init(_ request: RequestReader) throws {
        var query = request.query
        let uniqueUserID = query.text("unique_user_id")
        let (limit, cursor) = query.page()
        try query.finish()
        self.init(uniqueUserID: uniqueUserID, limit: limit, cursor: cursor)
    }
}

extension ListSessions {
    init(_ request: RequestReader) throws {
        var query = request.query
        let username = query.text("username")
        let limit = query.number("limit", in: ControlPage.limits)
        try query.finish()
        self.init(username: username, limit: limit ?? ControlPage.defaultLimit)
    }
}

extension RevokeSessions {
    init(_ request: RequestReader) throws {
        var query = request.query
        let username = query.text("username")
        try query.finish()
        self.init(username: username)
    }
}

extension ListAllCaptures {
    /// The states that can be listed.
    private enum Status: String, CaseIterable {
        case started, submitted, cancelled, timed_out, all
    }

    init(_ request: RequestReader) throws {
        var query = request.query
        let status = query.word("status", Status.self) ?? .started
        let (limit, cursor) = query.page()
        try query.finish()
        self.init(status: status == .all ? nil : .init(rawValue: status.rawValue), limit: limit, cursor: cursor)
    }
}

extension ListAuthentications {
    init(_ request: RequestReader) throws {
        var query = request.query
        let (limit, cursor) = query.page(of: Self.limits, default: Self.defaultLimit)
        let filter = Filter(
            text: query.text("text"), brand: query.text("brand"), category: query.text("category"),
            result: query.text("result"), flag: query.text("flag"), username: query.text("username"))
        let thumbnails = query.optionalBool("thumbnails")
        let order = query.word("sort", Order.self)
        try query.finish()
        self.init(
            filter, limit: limit, cursor: cursor, hasThumbnails: thumbnails ?? false,
            isBySubmission: order == .submitted)
    }

    /// The orders of the list, both with the newest item first.
    private enum Order: String, CaseIterable {
        case created, submitted
    }
}

extension ListDeliveries {
    init(_ request: RequestReader) throws {
        var query = request.query
        let status = query.word("status", DeliveryStatus.self)
        let entrupyID = query.text("entrupy_id")
        let (limit, cursor) = query.page(of: Self.limits, default: Self.defaultLimit)
        try query.finish()
        self.init(status: status, subject: entrupyID, limit: limit, cursor: cursor)
    }
}
