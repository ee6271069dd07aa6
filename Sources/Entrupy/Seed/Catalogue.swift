import EntrupyAPI
import Simulation
import SimulationAPI

/// The product categories, brands and display texts: the part of the seed that requests read.
struct Catalogue: Sendable {
    let categories: [Category]
    let brands: [Brand]
    /// The item types of the seed data; `nil` if it has none, and the built-in ones apply.
    let listedItemTypes: [ItemType]?
    let itemTypes: ItemTypes
    let texts: Texts
    /// Changes whenever the seed's text changes.
    let id: String
    /// The places of brands by their ids, and by their names in lower case; of equal ones, that of the first.
    private let placesByID: [TextKey: Int]
    private let placesByName: [TextKey: Int]

    init(categories: [Category], brands: [Brand], itemTypes: [ItemType]?, texts: Texts, id: String) {
        self.categories = categories
        self.brands = brands
        listedItemTypes = itemTypes
        self.itemTypes = ItemTypes(itemTypes, categories: categories, brands: brands)
        self.texts = texts
        self.id = id
        placesByID = Dictionary(brands.enumerated().map { (TextKey($1.id), $0) }) { first, _ in first }
        placesByName = Dictionary(brands.enumerated().map { (TextKey($1.name.lowercased()), $0) }) { first, _ in first }
    }

    /// The regions of all workflows, sorted.
    var regionIDs: [String] {
        let all = categories.flatMap { category in ConfigType.allCases.flatMap { category.steps($0).map(\.regionID) } }
        return Array(Set(all)).sorted()
    }

    struct Category: Sendable {
        let id: String
        /// The fields that the seed data requires.
        let requiredFields: [String]
        let production: [Step]
        let debug: [Step]
    }

    struct Step: Sendable {
        let regionID: String
        let required: Bool
        let displayName: LocalizedText
        let guidance: LocalizedText
    }

    struct Brand: Sendable {
        let id: String
        let name: String
        let categories: [(id: String, itemTypes: [String], materials: [String])]
    }

    struct Texts: Sendable {
        let results: [ResultID: ResultText]
        let invalidReasons: [(id: String, text: LocalizedText)]
        let flagReasons: [(id: String, label: LocalizedText)]
        let textFields: [String: LocalizedText]
        let events: [String: (label: LocalizedText, title: LocalizedText)]

        /// The texts of a result: those of the seed data, else the built-in ones. `nil` for another id, which is not
        /// looked up: the dictionary would hash its characters, and a stored event may have any text.
        func result(_ id: ResultID) -> ResultText? {
            if case .other = id { nil } else { results[id] ?? BuiltInTexts.results[id] }
        }
    }

    typealias ResultText = (header: LocalizedText, message: LocalizedText)

    /// The categories whose items have properties of their own [P].
    static let luxury = "luxury"
    static let apparel = "apparel"

    /// The category with this id; `nil` if the catalogue lacks it.
    func category(_ id: String) -> Category? { categories.first { $0.id.isIdentical(to: id) } }

    /// The category with this id, ignoring case; `nil` if the catalogue lacks it.
    func category(matching text: String) -> Category? { category(text) ?? category(text.lowercased()) }

    /// The brand with this name or id, ignoring case; `nil` if the catalogue lacks it.
    func brand(matching text: String) -> Brand? {
        let wanted = TextKey(text.lowercased())
        let place =
            [placesByID[wanted], placesByName[wanted]].compactMap(\.self).min()
            ?? placesByID[TextKey(ItemMetadata.identifier(text))]
        return place.map { brands[$0] }
    }
}

extension Catalogue.Category {
    /// The categories of seed data; none if it has no such member.
    static func list(_ fields: inout FieldReader) -> [Self] {
        fields.objects("categories", known: ["id", "required_fields", "capture_steps"]) { Self(&$0) } ?? []
    }

    private init(_ fields: inout FieldReader) {
        for key in ["required_fields", "capture_steps"] { fields.require(key) }
        id = fields.requiredIdentifier("id")
        requiredFields = fields.words("required_fields", ItemField.names) ?? []
        let count = fields.problemCount
        var steps = fields.optionalObject("capture_steps", known: ["production", "debug"])
        production = steps?.captureSteps("production") ?? []
        debug = steps?.captureSteps("debug") ?? []
        // Steps with problems say nothing about their number.
        if fields.problemCount == count, !production.isEmpty, debug.count >= production.count {
            fields.report("capture_steps", "must have fewer steps in debug than in production")
        }
    }
}

extension Catalogue.Step {
    fileprivate init(_ fields: inout FieldReader) {
        regionID = fields.requiredIdentifier("region_id")
        required = fields.bool("required")
        displayName = fields.requiredLocalized("display_name")
        guidance = fields.requiredLocalized("guidance")
    }
}

extension Catalogue.Brand {
    /// The brands of seed data; none if it has no such member.
    ///
    /// - Parameter categories: those that a brand may have, and their order; `nil` for any.
    static func list(_ fields: inout FieldReader, categories: KnownNames?) -> [Self] {
        fields.objects("brands", known: ["id", "name", "categories"]) { Self(&$0, categories) } ?? []
    }

    private init(_ fields: inout FieldReader, _ known: KnownNames?) {
        id = fields.requiredIdentifier("id")
        name = fields.requiredText("name", maxBytes: 200)
        fields.require("categories")
        var lists: FieldReader? =
            if let known {
                fields.optionalObject("categories", known: known)
            } else {
                fields.optionalObject("categories", known: nil)
            }
        let named = lists.map { known?.sorted($0.names) ?? $0.names } ?? []
        categories = named.compactMap { id in
            guard var category = lists?.optionalObject(id, known: ["item_types", "materials"]) else { return nil }
            return (
                id, category.list("item_types") { $0.identifier($1) } ?? [],
                category.list("materials") { $0.identifier($1) } ?? []
            )
        }
    }
}

extension Catalogue.Texts {
    /// `nil` if the seed data has no texts.
    init?(_ fields: inout FieldReader) {
        let known = ["results", "invalid_reasons", "flag_reasons", "text_fields", "events"]
        guard var texts = fields.optionalObject("texts", known: known) else { return nil }
        for key in known { texts.require(key) }
        // Seed data may lack the texts of some results, fields and events. Results
        // then have the built-in texts, and the others their ids [D seed-texts].
        results = Self.results(&texts)
        invalidReasons = texts.reasons("invalid_reasons", "text")
        if texts.has("invalid_reasons"), !invalidReasons.contains(where: { $0.id == ResultID.debugReason }) {
            texts.report("invalid_reasons", "\(ResultID.debugReason) is missing")
        }
        flagReasons = texts.reasons("flag_reasons", "label").map { (id: $0.id, label: $0.text) }
        if texts.isEmptyList("flag_reasons") { texts.report("flag_reasons", "must have at least one reason") }
        var fieldTexts = texts.optionalObject("text_fields", known: ItemField.shown.map(\.rawValue))
        textFields = Dictionary(
            uniqueKeysWithValues: ItemField.shown.compactMap { field in
                fieldTexts?.localized(field.rawValue).map { (field.rawValue, $0) }
            })
        var events = texts.optionalObject("events", known: EventKind.shown.map(\.name))
        self.events = Dictionary(
            uniqueKeysWithValues: EventKind.shown.compactMap { kind in
                guard var event = events?.optionalObject(kind.name, known: ["label", "title"]) else { return nil }
                return (kind.name, (event.requiredLocalized("label"), event.requiredLocalized("title")))
            })
    }

    /// The texts of results, of the texts of seed data.
    static func results(_ texts: inout FieldReader) -> [ResultID: Catalogue.ResultText] {
        var results = texts.optionalObject("results", known: ResultID.names)
        return Dictionary(
            uniqueKeysWithValues: ResultID.allCases.compactMap { id in
                guard var text = results?.optionalObject(id.rawValue, known: ["header", "message"]) else { return nil }
                return (id, (text.requiredLocalized("header"), text.requiredLocalized("message")))
            })
    }
}

extension FieldReader {
    /// The steps of a workflow, which must be given.
    fileprivate mutating func captureSteps(_ key: String) -> [Catalogue.Step] {
        require(key)
        let known = ["region_id", "required", "display_name", "guidance"]
        let count = problemCount
        guard let steps = objects(key, known: known, { Catalogue.Step(&$0) }) else { return [] }
        if problemCount == count, !steps.contains(where: \.required) {
            report(key, "must have at least one required step")
        }
        checkUnique(steps.map(\.regionID), "region_id", in: key)
        return steps
    }

    /// Ids, and a text of each.
    fileprivate mutating func reasons(_ key: String, _ text: String) -> [(id: String, text: LocalizedText)] {
        objects(key, known: ["id", text]) { ($0.requiredIdentifier("id"), $0.requiredLocalized(text)) } ?? []
    }
}
