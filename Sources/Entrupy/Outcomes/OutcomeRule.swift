import EntrupyAPI
import Simulation
import SimulationAPI

/// A rule that decides the results of matching items [D outcome-rules].
struct OutcomeRule: Sendable {
    var id: String
    let result: ResultID
    let reason: String?
    /// The delay of the result; `nil` if the namespace's applies.
    let delay: Span?
    /// The maximum number of items the rule decides; `nil` if it has none.
    let times: Int?
    /// The number of items the rule has decided.
    var hits: Int
    /// The same number: every match decides.
    var seen: Int
    /// The rule as the client sent it.
    let document: JSONValue

    private let brand: String?
    private let customerItemID: Glob?
    private let username: String?
    private let category: String?
    private let configType: ConfigType?

    /// The facts about an item that rules examine.
    struct Subject {
        let brandID: String
        let brandName: String
        let customerItemID: String?
        let username: String
        let category: String
        let configType: ConfigType
        var activity = Activity.authentication
    }

    /// - Parameters:
    ///   - acceptsUnknownCategory: whether a category that the catalogue lacks is accepted; it matches no item.
    ///   - isStored: whether the rule was checked when it was added. Other seed data may have been loaded since,
    ///     so the catalogue may lack its category or reason.
    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every problem.
    init(
        _ document: JSONValue, id: String, hits: Int = 0, catalogue: Catalogue, acceptsUnknownCategory: Bool = false,
        isStored: Bool = false
    ) throws {
        var fields = FieldReader(document, known: ["match", "result", "reason", "after", "times"])
        var match = fields.object(
            "match", known: ["brand", "customer_item_id", "username", "product_category", "config_type"])
        brand = match.text("brand")
        customerItemID = match.text("customer_item_id").map { Glob($0) }
        username = match.text("username")
        category =
            acceptsUnknownCategory || isStored
            ? match.text("product_category") : match.word("product_category", catalogue.categories.map(\.id))
        configType = match.word("config_type", ConfigType.self)
        result = ResultID(rawValue: fields.requiredWord("result", ResultID.names))
        reason =
            isStored ? fields.text("reason") : fields.word("reason", catalogue.texts.invalidReasons.map(\.id))
        if let reason, result != .invalid {
            fields.report("reason", "\"\(reason)\" needs the result invalid")
        }
        delay = fields.span("after")
        times = fields.number("times", in: 1...1_000_000_000)
        try fields.finish()
        self.id = id
        self.hits = hits
        seen = hits
        self.document = document
    }

    /// Whether the rule decides the result of such an item.
    func decides(_ subject: Subject) -> Bool {
        if let times, hits >= times { return false }
        guard subject.activity.results.contains(result) else { return false }
        if let brand {
            let wanted = brand.lowercased()
            guard
                wanted.isIdentical(to: subject.brandID.lowercased())
                    || wanted.isIdentical(to: subject.brandName.lowercased())
            else { return false }
        }
        return (customerItemID.map { glob in subject.customerItemID.map(glob.matches) ?? false } ?? true)
            && (username?.isIdentical(to: subject.username) ?? true)
            && (category?.isIdentical(to: subject.category) ?? true)
            && [nil, subject.configType].contains(configType)
    }

    /// Notes on parts of the rule that currently match nothing.
    func notes(_ job: JobContext) throws -> [ErrorDetail] {
        var notes: [ErrorDetail] = []
        if configType == .debug {
            notes.append(
                ErrorDetail(
                    "match.config_type",
                    "the debug configuration makes every item invalid, before any rule applies"))
        }
        notes += self.notes(job.catalogue)
        if let username, try job.transaction.user(username: username) == nil {
            notes.append(ErrorDetail("match.username", "there is no user \"\(username)\" yet"))
        }
        if result == .needsReview, delay != nil {
            notes.append(
                ErrorDetail("after", "an item is needs_review from the start, so \"after\" has no effect"))
        }
        return notes
    }

    /// Notes on parts of the rule that the catalogue lacks. They are probably misspelt.
    func notes(_ catalogue: Catalogue) -> [ErrorDetail] {
        var notes: [ErrorDetail] = []
        if !Activity.authentication.results.contains(result) {
            notes.append(ErrorDetail("result", "\(result.rawValue) decides compared fingerprints alone"))
        }
        if let brand, catalogue.brand(matching: brand) == nil {
            notes.append(
                ErrorDetail(
                    "match.brand",
                    "the catalogue has no brand \"\(brand)\"; the rule still matches items that name it"))
        }
        if let category, catalogue.category(category) == nil {
            let ids = catalogue.categories.map(\.id).joined(separator: ", ")
            notes.append(
                ErrorDetail("match.product_category", "the catalogue has no category \"\(category)\"; it has \(ids)"))
        }
        return notes
    }
}
