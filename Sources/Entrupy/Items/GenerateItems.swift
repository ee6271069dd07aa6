import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// `POST /_sim/authentications`: generates any number of items without captures [D generated-items].
///
/// One item that is described alone sends webhooks and records its own events. Items that are counted, even if the
/// count is 1, send none and share one entry in the event log: the effects must not depend on the number.
///
/// The items are one minute apart, the newest now. `{n}` in a text of the template becomes the item's number, from 1.
package struct ItemTemplate: Sendable {
    let count: Int
    /// Whether the items are counted, and not one item that is described alone.
    let isCounted: Bool
    let username: String?
    let result: ResultID
    let reason: String?
    let flag: FlagID
    let formFactor: FormFactor
    let item: JSONObject
    /// The market data that the items are given [D market-edge]; `nil` if it follows from each item.
    let marketEdge: JSONObject?

    /// The maximum number of items in one call.
    package static let maxCount = 10_000_000
    /// The username if the template gives none.
    static let defaultUsername = "DemoOrg-sim-test-user"
    /// The number of items in one job, so that other requests run in between.
    static let batch = 1000
    /// The number of items from which the database runs in bulk mode, which empties the write-ahead log less often.
    static let large = 20_000
    /// The maximum number of ids in the answer.
    static let listed = 1000

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    package init(
        count: Int?, username: String? = nil, result: ResultID? = nil, reason: String? = nil, flag: FlagID? = nil,
        formFactor: FormFactor? = nil, item: JSONObject, marketEdge: JSONObject? = nil
    ) throws {
        let number = count ?? 1
        guard (1...Self.maxCount).contains(number) else {
            throw PlatformError.invalid(
                field: "count", "must be a whole number from 1 to \(Self.maxCount), got \(number)")
        }
        self.count = number
        isCounted = count != nil
        self.username = username
        self.result = result ?? .authentic
        self.reason = reason
        self.flag = flag ?? .unflagged
        self.formFactor = formFactor ?? .freeCamera
        self.item = item
        self.marketEdge = marketEdge
    }

    /// Reads a template.
    ///
    /// - Parameters:
    ///   - members: the members that `fields` reads.
    ///   - count: the number of items; `nil` for one item that is described alone.
    package init(_ fields: inout FieldReader, _ members: JSONObject, count: Int?) throws {
        let username = fields.optionalString("username")
        let result = fields.word("result", Activity.authentication.results.map(\.rawValue))
            .map(ResultID.init(rawValue:))
        let reason = fields.optionalString("reason")
        let flag = fields.word("flag", FlagID.self)
        let formFactor = fields.word("form_factor", FormFactor.self)
        let marketEdge = fields.marketEdge()
        if let text = fields.optionalString(Self.serialNumber), let problem = TextRules.tooLong(text, scalars: 1000) {
            fields.report(Self.serialNumber, problem)
        }
        let own = fields.object("metadata")
        fields.refuseMembers(except: Self.known, ignoring: Self.explained)
        var item = members.filter { $0.key.isOne(of: ItemField.names + [Self.serialNumber]) }
        for key in own.names {
            // None of them may come in by this way: some are refused beside it.
            if key.isOne(of: Self.known + Self.explained) {
                fields.report("metadata.\(key)", "belongs beside metadata, which holds what no document names")
            }
            item[key] = members["metadata"]?.members?[key]
        }
        for key in item.keys.sorted() where item[key]?.text?.utf8.contains(0) == true {
            fields.report(key, "must not contain the character U+0000")
        }
        for key in ["config_type", "entrupy_id", "submitted_at"] where fields.value(key) != nil {
            fields.report(key, "cannot be set: items are of type production, with generated ids, one minute apart")
        }
        if fields.value("capture_workflow") != nil {
            fields.report("capture_workflow", "cannot be set: generated items are authentications")
        }
        for key in ["count", "template"] where fields.has(key) {
            fields.report(key, "belongs beside the template, not in it: {\"count\": 3, \"template\": {…}}")
        }
        for key in Self.ofRules where fields.has(key) {
            fields.report(
                key,
                "decides nothing here: the item has its result at once; a scenario's timeline (set_result) or a patch of the item gives it another one later"
            )
        }
        try fields.finish()
        // The brand may be absent, null or empty. The default is Nike [D generated-items].
        if [nil, .null, .string("")].contains(item["brand"]) { item["brand"] = .string("Nike") }
        try self.init(
            count: count, username: username, result: result, reason: reason, flag: flag,
            formFactor: formFactor, item: item, marketEdge: marketEdge)
    }

    /// The market data that an item is given, with `{n}` in its texts replaced by the item's number; `nil` if there is none.
    fileprivate func numberedMarketEdge() throws -> NumberedText? {
        try marketEdge.map { NumberedText(try StoredJSON.encode(JSONValue.object($0))) }
    }
}

extension ItemTemplate {
    /// Reads one item, or `{"count", "template"}`.
    package init(_ input: some RequestInput) throws {
        let body = input.body
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

    private static let serialNumber = "serial_number"
    /// The members of a template [D generated-items].
    private static let known =
        ItemField.names + [serialNumber]
        + ["username", "result", "reason", "flag", "form_factor", GivenMarketEdge.name, "metadata"]
    /// Members of rules, which an item does not have.
    private static let ofRules = ["after", "delay", "match", "times"]
    /// Members that have a message of their own.
    private static let explained =
        ofRules + ["config_type", "entrupy_id", "submitted_at", "capture_workflow", "count", "template"]
}

extension Namespace {
    /// Generates items, in batches of one job each.
    package func generateItems(
        _ input: Result<ItemTemplate, PlatformError>, _ head: RequestHead
    ) async -> Completed<GeneratedItems> {
        let plan = await answer(input.map(PlanGeneration.init), head)
        guard case .success(let generation) = plan.result else {
            return Completed(
                requestID: plan.requestID,
                result: plan.result.map { _ in GeneratedItems(count: 0, entrupy_ids: [], webhooks: false) })
        }
        let isLarge = generation.template.count >= ItemTemplate.large
        if isLarge { await setBulk(true) }
        let result = await generate(generation, head)
        if isLarge { await setBulk(false) }
        return Completed(requestID: plan.requestID, result: result)
    }

    private func generate(
        _ generation: Generation, _ head: RequestHead
    ) async -> Result<GeneratedItems, PlatformError> {
        let notes = generation.notes
        var made = GeneratedItems(
            count: 0, entrupy_ids: [], webhooks: !generation.template.isCounted, notes: notes.nonEmpty)
        while made.count < generation.template.count {
            guard !environment.isStopping else {
                return .failure(
                    .unavailable(
                        "the server is stopping; \(made.count) of \(generation.template.count) items were made"))
            }
            let job = GenerateBatch(generation: generation, from: made.count)
            switch await answer(.success(job), head.later).result {
            case .failure(let error): return .failure(error)
            case .success(let ids):
                made.count += ids.count
                made.entrupy_ids += ids.prefix(max(0, ItemTemplate.listed - made.entrupy_ids.count))
            }
        }
        return .success(made)
    }

    private func setBulk(_ isBulk: Bool) async {
        _ = await run(.background, .reads) { try $0.state.database.setBulk(isBulk, $0.transaction) }
    }
}

/// A generation that was checked: its user, and the time of the newest item.
struct Generation: Sendable {
    let template: ItemTemplate
    let user: UserRecord
    let newest: Instant
    let stateGeneration: Int
    /// Notes on members that are probably meant otherwise.
    let notes: [ErrorDetail]
}

/// Checks a template against the namespace, and creates its user if necessary. Writes.
struct PlanGeneration: Operation, Writes {
    let template: ItemTemplate

    func perform(_ job: JobContext, as caller: Control) throws -> Generation {
        let metadata = ItemMetadata(members: template.item)
        // The largest number gives the longest texts.
        var problems = metadata.numbered(template.count).fieldProblems().map {
            ErrorDetail(String($0.field.dropFirst("item.".count)), $0.problem)
        }
        if let name = JSONValue.object(template.item).firstNumberedName {
            problems.add(name, "\(NumberedText.mark) stands for a number in texts, not in the names of members")
        }
        if let text = try template.numberedMarketEdge() {
            problems += MarketEdges.problems(try StoredJSON.decode(text.numbered(template.count)))
        }
        if job.catalogue.category(metadata.flow(job.catalogue).category) == nil {
            let ids = job.catalogue.categories.map(\.id).joined(separator: ", ")
            problems.add("product_category", "must be one of \(ids)")
        }
        let reasons = job.catalogue.texts.invalidReasons.map(\.id)
        if let reason = template.reason {
            if template.result != .invalid {
                problems.add("reason", "needs the result invalid")
            } else if !reason.isOne(of: reasons) {
                problems.add("reason", "must be one of \(reasons.joined(separator: ", "))")
            }
        }
        try problems.check()
        guard job.now.microseconds >= Int64(template.count) * Span.minute.microseconds else {
            throw PlatformError.invalid(
                field: "count",
                "must be at most \(job.now.microseconds / Span.minute.microseconds): items are one minute apart, and none may be older than 1970"
            )
        }
        let user = try Users.findOrCreate(template.username ?? ItemTemplate.defaultUsername, job)
        var notes: [ErrorDetail] = []
        func note(_ field: ItemField, _ isKnown: Bool, _ reason: (String) -> String) {
            guard !isKnown, let text = metadata.text(field), !text.contains(NumberedText.mark) else { return }
            let problem = "an item that a capture submits with it ends as not_supported, because \(reason(text))"
            notes.add(field.rawValue, "\"\(text.excerpt)\": \(problem)")
        }
        note(.brand, metadata.brand(job.catalogue).isKnown) { Results.unknownBrand($0, job) }
        note(.itemType, metadata.flow(job.catalogue).isSupported) { _ in Results.unknownItemType(metadata, job) }
        return Generation(
            template: template, user: user, newest: job.now, stateGeneration: job.state.generation, notes: notes)
    }
}

struct GenerateBatch: Operation, Writes {
    let generation: Generation
    let from: Int

    func perform(_ job: JobContext, as caller: Control) throws -> [String] {
        guard job.state.generation == generation.stateGeneration else {
            throw PlatformError.wrongState("the namespace was reset while items were being made")
        }
        let template = generation.template
        let count = min(ItemTemplate.batch, template.count - from)
        // Counted in the same transaction as the items: the process may be killed between two batches.
        try job.transaction.countSubmissions(userID: generation.user.id, count: count)
        let firstID = try job.state.counters.next(.item, count: count, job.transaction)
        let plain = ItemMetadata(members: template.item)
        let stored = NumberedText(try StoredJSON.encode(JSONValue.object(plain.members)))
        let marketEdge = try template.numberedMarketEdge()
        let customerItemID = plain.text(.customerItemID).map(NumberedText.init)
        let brandText = NumberedText(plain.text(.brand) ?? "")
        var brand = plain.brand(job.catalogue)
        let category = plain.flow(job.catalogue).category
        let ids = try (0..<count).map { index in
            let number = from + index + 1
            if brandText.isNumbered {
                brand = ItemMetadata(members: [ItemField.brand.rawValue: .string(brandText.numbered(number))])
                    .brand(job.catalogue)
            }
            var id = job.state.generator.text(.item, counter: firstID + Int64(index))
            if try job.transaction.hasItem(entrupyID: id) { id = try Items.nextID(job) }
            let submittedAt = Instant(
                microseconds: generation.newest.microseconds - Int64(from + index) * Span.minute.microseconds)
            var item = ItemRecord(
                entrupyID: id, captureID: nil, organizationID: generation.user.organizationID,
                userID: generation.user.id, configType: .production, category: category, brandID: brand.id,
                brandName: brand.name, customerItemID: customerItemID?.numbered(number),
                metadata: stored.numbered(number), captureStartedAt: nil, submittedAt: submittedAt,
                result: template.result, decidedBy: .control)
            item.resultFinal = template.result.isFinal
            item.resultReason = template.result == .invalid ? template.reason ?? Results.defaultReason(job) : nil
            if item.resultFinal {
                item.resultAt = submittedAt
                item.initialResult = template.result
                item.initialResultAt = submittedAt
            }
            if template.result == .authentic { item.certificateID = id }
            item.flag = template.flag
            item.formFactor = template.formFactor
            item.marketEdge = marketEdge?.numbered(number)
            if template.flag != .unflagged {
                item.flagReasonID = job.catalogue.texts.flagReasons[0].id
                item.flaggedAt = submittedAt
                item.flagResolvedAt = template.flag == .resolved ? submittedAt : nil
            }
            try job.transaction.insert(item)
            if !template.isCounted || item.flag != .unflagged { try GenerateItems.record(item, job) }
            if !template.isCounted {
                try Webhooks.enqueue(.sessionUpdated, item, job)
                if item.resultFinal { try Webhooks.enqueue(.sessionCompleted, item, job) }
            }
            return id
        }
        if template.isCounted {
            try job.record(
                .itemsGenerated, generation.user.username,
                ["count": .number(JSONNumber(count)), "first": .string(ids[0]), "last": .string(ids[count - 1])])
        }
        return ids
    }
}

/// The entries in the event log for items without a capture.
enum GenerateItems {
    static let submission: JSONObject = ["by": .string("control")]

    /// The data of the event for the item's first result.
    static func result(_ id: ResultID) -> JSONObject {
        ["result": .string(id.rawValue), "rule": .string(DecisionRule.control.rawValue)]
    }

    /// Records the events that the item would have had. Writes.
    fileprivate static func record(_ item: ItemRecord, _ job: JobContext) throws {
        var events: [(EventKind, JSONObject)] = [(.itemSubmitted, submission)]
        if let result = item.initialResult { events.append((.resultSet, self.result(result))) }
        if item.flaggedAt != nil, let reason = item.flagReasonID {
            events.append((.flagSet, ["flag_reason_id": .string(reason)]))
        }
        if item.flagResolvedAt != nil { events.append((.flagResolved, ["result": .string(item.result.rawValue)])) }
        for (kind, data) in events {
            try job.insertEvent(
                at: item.submittedAt, kind, item.entrupyID, encoded: StoredJSON.encode(JSONValue.object(data)))
        }
    }
}

/// A text in which `{n}` is replaced by a number.
private struct NumberedText {
    static let mark = "{n}"
    private let parts: [Substring]

    var isNumbered: Bool { parts.count > 1 }

    init(_ text: String) { parts = text.split(atEach: Self.mark) }

    func numbered(_ number: Int) -> String {
        isNumbered ? parts.joined(separator: String(number)) : String(parts[0])
    }
}

extension JSONValue {
    /// The first member name that contains `{n}`, at any depth.
    fileprivate var firstNumberedName: String? {
        let members = self.members ?? [:]
        return members.keys.sorted().first { NumberedText($0).isNumbered }
            ?? (members.values + (elements ?? [])).lazy.compactMap { $0.firstNumberedName }.first
    }
}

extension ItemMetadata {
    fileprivate func numbered(_ number: Int) -> ItemMetadata {
        ItemMetadata(
            members: members.mapValues { value in
                value.text.map { .string(NumberedText($0).numbered(number)) } ?? value
            })
    }
}
