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
        let events: [String: EventText]

        /// The texts of a result: those of the seed data, else the built-in ones. `nil` for another id, which is not
        /// looked up: the dictionary would hash its characters, and a stored event may have any text.
        func result(_ id: ResultID) -> ResultText? {
            if case .other = id { nil } else { results[id] ?? BuiltInTexts.results[id] }
        }
    }

    struct ResultText: Sendable {
        let header: LocalizedText
        let message: LocalizedText
    }

    struct EventText: Sendable {
        let label: LocalizedText
        let title: LocalizedText
    }

    /// The categories whose items have properties of their own [P].
    static let luxury = "luxury"
    static let apparel = "apparel"

    /// The category with this id; `nil` if the catalogue lacks it.
    func category(_ id: String) -> Category? {
        categories.first { $0.id.isIdentical(to: id) }
    }

    /// The category with this id, ignoring case; `nil` if the catalogue lacks it.
    func category(matching text: String) -> Category? {
        category(text) ?? category(text.lowercased())
    }

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
    init(seed: SeedNode) throws {
        let members = try seed.mapping(allowed: ["id", "required_fields", "capture_steps"])
        let steps = try members.required("capture_steps")
        let workflows = try steps.mapping(allowed: ["production", "debug"])
        self.init(
            id: try members.required("id").identifier(),
            requiredFields: try members.required("required_fields").list {
                try $0.oneOf(ItemField.allCases.map(\.rawValue))
            },
            production: try Self.steps(workflows.required("production")),
            debug: try Self.steps(workflows.required("debug")))
        guard debug.count < production.count else {
            throw steps.error("debug must have fewer steps than production")
        }
    }

    private static func steps(_ node: SeedNode) throws -> [Catalogue.Step] {
        let steps = try node.list { try Catalogue.Step(seed: $0) }
        guard steps.contains(where: \.required) else { throw node.error("expected at least one required step") }
        guard Set(steps.map(\.regionID)).count == steps.count else { throw node.error("a region_id appears twice") }
        return steps
    }
}

extension Catalogue.Step {
    fileprivate init(seed: SeedNode) throws {
        let members = try seed.mapping(allowed: ["region_id", "required", "display_name", "guidance"])
        self.init(
            regionID: try members.required("region_id").identifier(),
            required: try members.required("required").bool(),
            displayName: try members.required("display_name").localized(),
            guidance: try members.required("guidance").localized())
    }
}

extension Catalogue.Brand {
    init(seed: SeedNode, categories: KnownNames) throws {
        let members = try seed.mapping(allowed: ["id", "name", "categories"])
        id = try members.required("id").identifier()
        name = try members.required("name").string(maxBytes: 200)
        self.categories = try members.required("categories").mapping(allowed: categories).members.map { id, node in
            let lists = try node.mapping(allowed: ["item_types", "materials"])
            return (
                id, try lists["item_types"]?.list { try $0.identifier() } ?? [],
                try lists["materials"]?.list { try $0.identifier() } ?? []
            )
        }
    }
}

extension Catalogue.Texts {
    init(seed: SeedNode) throws {
        let members = try seed.mapping(
            allowed: ["results", "invalid_reasons", "flag_reasons", "text_fields", "events"])
        // Seed data of an earlier release lacks the texts of results, fields and events that were added since. Results
        // then have the built-in texts, and the others their ids [D seed-texts].
        results = try Self.results(seed: members.required("results"))
        let reasons = try members.required("invalid_reasons")
        invalidReasons = try reasons.list { node in
            let members = try node.mapping(allowed: ["id", "text"])
            return (try members.required("id").identifier(), try members.required("text").localized())
        }
        guard invalidReasons.contains(where: { $0.id == ResultID.debugReason }) else {
            throw reasons.error("\(ResultID.debugReason) is missing")
        }
        let flags = try members.required("flag_reasons")
        flagReasons = try flags.list { node in
            let members = try node.mapping(allowed: ["id", "label"])
            return (try members.required("id").identifier(), try members.required("label").localized())
        }
        guard !flagReasons.isEmpty else { throw flags.error("expected at least one reason") }
        let fields = try members.required("text_fields").mapping(allowed: ItemField.shown.map(\.rawValue))
        textFields = try Dictionary(
            uniqueKeysWithValues: ItemField.shown.compactMap { field in
                try fields[field.rawValue].map { (field.rawValue, try $0.localized()) }
            })
        let events = try members.required("events").mapping(allowed: EventKind.shown.map(\.name))
        self.events = try Dictionary(
            uniqueKeysWithValues: EventKind.shown.compactMap { kind in
                guard let texts = try events[kind.name]?.mapping(allowed: ["label", "title"]) else { return nil }
                return (
                    kind.name,
                    Catalogue.EventText(
                        label: try texts.required("label").localized(), title: try texts.required("title").localized())
                )
            })
    }
}

extension Catalogue.Texts {
    /// The texts of results.
    static func results(seed: SeedNode) throws -> [ResultID: Catalogue.ResultText] {
        let results = try seed.mapping(allowed: ResultID.names)
        return try Dictionary(
            uniqueKeysWithValues: ResultID.allCases.compactMap { id in
                guard let texts = try results[id.rawValue]?.mapping(allowed: ["header", "message"]) else { return nil }
                return (
                    id,
                    Catalogue.ResultText(
                        header: try texts.required("header").localized(),
                        message: try texts.required("message").localized())
                )
            })
    }
}

extension SeedNode {
    /// A result that may be flagged.
    func flaggableResult() throws -> ResultID {
        ResultID(rawValue: try oneOf(Flags.eligibleNames))
    }

    /// One of the words of `type`.
    func oneOf<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) throws -> Word? where Word.RawValue == String {
        Word(rawValue: try oneOf(Word.allCases.map(\.rawValue)))
    }
}
