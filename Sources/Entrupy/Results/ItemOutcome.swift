import EntrupyAPI
import Simulation
import SimulationAPI

/// A rule that decides the results of matching items [D outcome-rules].
struct ItemOutcome: Sendable {
    let resultID: ResultID
    let reason: String?
    /// The delay of the result; `nil` if the namespace's applies.
    let delay: Span?
    /// The maximum number of items the rule decides; `nil` if it has none.
    let times: Int?

    private let brand: String?
    private let customerItemID: Glob?
    private let username: String?
    private let category: String?
    private let configType: ConfigType?

    struct Subject {
        let brandID: String
        let brandName: String
        var customerItemID: String?
        let username: String
        let category: String
        var configType: ConfigType
        var activity = Activity.authentication
    }

    /// Reads a rule. A rule of a scenario may name a category that the catalogue lacks; it then matches no item. A
    /// stored rule may also name a reason that the catalogue lacks.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every problem.
    init(_ document: JSONValue, _ catalogue: Catalogue, _ reading: OutcomeReading) throws {
        var fields = FieldReader(document, known: ["match", "result", "reason", "after", "times"])
        var match = fields.object(
            "match", known: ["brand", "customer_item_id", "username", "product_category", "config_type"])
        brand = match.text("brand")
        customerItemID = match.text("customer_item_id").map { Glob($0) }
        username = match.text("username")
        category = match.text("product_category").map { catalogue.category(matching: $0)?.id ?? $0 }
        if reading == .new, let category, catalogue.category(category) == nil {
            let ids = catalogue.categories.map(\.id).joined(separator: ", ")
            match.report("product_category", "must be one of \(ids), got \"\(category.excerpt)\"")
        }
        configType = match.word("config_type", ConfigType.self)
        resultID = ResultID(rawValue: fields.requiredWord("result", ResultID.names))
        reason =
            reading == .stored
            ? fields.text("reason") : fields.word("reason", catalogue.texts.invalidReasons.map(\.id))
        if let reason, resultID != .invalid {
            fields.report("reason", "\"\(reason)\" needs the result invalid")
        }
        delay = fields.span("after")
        times = fields.number("times", in: 1...1_000_000_000)
        try fields.finish()
    }

    /// Whether the rule decides the result of such an item.
    func decides(_ subject: Subject) -> Bool {
        subject.activity.results.contains(resultID) && parts(subject).allSatisfy(\.matches)
    }

    /// The parts of the condition, compared with an item.
    func parts(_ subject: Subject) -> [RulePart] {
        var parts: [RulePart] = []
        func add(_ field: String, _ expected: String?, _ actual: String?, _ matches: (String, String) -> Bool) {
            guard let expected else { return }
            let fits = actual.map { matches(expected, $0) } ?? false
            parts.append(RulePart(field: field, expected: expected, actual: actual, matches: fits))
        }
        add("brand", brand, subject.brandName) { wanted, name in
            [subject.brandID, name].contains { $0.lowercased().isIdentical(to: wanted.lowercased()) }
        }
        add("customer_item_id", customerItemID?.pattern, subject.customerItemID) { customerItemID?.matches($1) == true }
        add("username", username, subject.username) { $0.isIdentical(to: $1) }
        add("product_category", category, subject.category) { $0.isIdentical(to: $1) }
        add("config_type", configType?.rawValue, subject.configType.rawValue) { $0.isIdentical(to: $1) }
        return parts
    }

    /// The first rule that decides the result of such an item.
    ///
    /// - Parameter excluded: the id of a rule that does not count.
    static func first(
        for subject: Subject, without excluded: String? = nil, _ job: JobContext
    ) throws -> (rule: OutcomeRule, outcome: Self)? {
        // The debug configuration comes before every rule.
        guard subject.configType != .debug else { return nil }
        return try Outcomes.first(job, without: excluded) { $0.decides(subject) }
    }
}

extension ItemOutcome: PlatformOutcome {
    var result: String { resultID.rawValue }

    func notes(_ job: JobContext) throws -> [RuleNote] {
        var notes: [RuleNote] = []
        if configType == .debug {
            notes.append(
                RuleNote(
                    "match.config_type", "the debug configuration makes every item invalid, before any rule applies"))
        }
        notes += self.notes(job.state.seed).map { RuleNote($0) }
        if let username, try job.transaction.user(username: username) == nil {
            notes.append(RuleNote("match.username", "there is no user \"\(username)\" yet", may_change: true))
        }
        if resultID == .needsReview, delay != nil {
            notes.append(RuleNote("after", "an item is needs_review from the start, so \"after\" has no effect"))
        }
        return notes
    }

    func notes(_ seed: Seed) -> [ErrorDetail] {
        let catalogue = seed.entrupy.catalogue
        var notes: [ErrorDetail] = []
        if !Activity.authentication.results.contains(resultID) {
            let kind = resultID.isOfComparisonsOnly ? "compared" : "registered"
            notes.add("result", "only \(kind) fingerprints can have \(result)")
        }
        if let brand, catalogue.brand(matching: brand) == nil {
            let near = NearestName.nearest(to: brand, among: catalogue.brands.map(\.name))
            let guess = near.map { "did you mean \($0)? " } ?? ""
            notes.add(
                "match.brand",
                "the catalogue has no brand \"\(brand)\"; \(guess)the rule still matches items that name it")
        }
        if let category, catalogue.category(category) == nil {
            let ids = catalogue.categories.map(\.id).joined(separator: ", ")
            notes.add("match.product_category", "the catalogue has no category \"\(category)\"; it has \(ids)")
        }
        return notes
    }
}
