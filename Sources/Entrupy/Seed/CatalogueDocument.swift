import EntrupyAPI
import Simulation
import SimulationAPI

extension Catalogue {
    /// The catalogue's members of a seed, for export.
    func document() -> [(key: String, value: SeedDocument)] {
        let places = Dictionary(categories.enumerated().map { (TextKey($1.id), $0) }) { first, _ in first }
        var members: [(key: String, value: SeedDocument)] = [
            ("categories", .list(categories.map(SeedDocument.category)))
        ]
        if let listedItemTypes { members.append(("item_types", .list(listedItemTypes.map(SeedDocument.itemType)))) }
        return members + [
            ("brands", .list(brands.map { SeedDocument.brand($0, in: places) })),
            ("texts", SeedDocument.texts(texts)),
        ]
    }
}

extension SeedDocument {
    fileprivate static func category(_ category: Catalogue.Category) -> SeedDocument {
        func steps(_ steps: [Catalogue.Step]) -> SeedDocument {
            .list(
                steps.map { step in
                    .mapping([
                        ("region_id", .text(step.regionID)), ("required", .bool(step.required)),
                        ("display_name", localized(step.displayName)), ("guidance", localized(step.guidance)),
                    ])
                })
        }
        let (production, debug) = (steps(category.production), steps(category.debug))
        return .mapping([
            ("id", .text(category.id)), ("required_fields", texts(category.requiredFields)),
            ("capture_steps", .mapping([("production", production), ("debug", debug)])),
        ])
    }

    fileprivate static func itemType(_ type: ItemType) -> SeedDocument {
        .members([
            ("id", .text(type.id)), ("display_name", type.name.map { localized($0) }),
            ("aliases", type.aliases.isEmpty ? nil : texts(type.aliases)), ("categories", texts(type.categories)),
        ])
    }

    /// - Parameter places: the positions of the catalogue's categories. A brand's categories are sorted by them.
    fileprivate static func brand(_ brand: Catalogue.Brand, in places: [TextKey: Int]) -> SeedDocument {
        func lists(_ types: [String], _ materials: [String]) -> SeedDocument {
            .mapping([("item_types", texts(types)), ("materials", texts(materials))])
        }
        let categories = brand.categories.compactMap { category in
            places[TextKey(category.id)].map { (place: $0, category: category) }
        }.sorted { $0.place < $1.place }.map(\.category)
        return .mapping([
            ("id", .text(brand.id)), ("name", .text(brand.name)),
            ("categories", .mapping(categories.map { ($0.id, lists($0.itemTypes, $0.materials)) })),
        ])
    }

    fileprivate static func texts(_ texts: Catalogue.Texts) -> SeedDocument {
        let results = ResultID.allCases.map { id in
            (id.rawValue, texts.results[id].map { pair("header", localized($0.header), "message", $0.message) })
        }
        let events = EventKind.shown.map(\.name).map { name in
            (name, texts.events[name].map { pair("label", localized($0.label), "title", $0.title) })
        }
        let fields = ItemField.shown.map(\.rawValue).map { ($0, texts.textFields[$0].map(localized)) }
        return .mapping([
            ("results", .members(results)),
            ("invalid_reasons", .list(texts.invalidReasons.map { pair("id", .text($0.id), "text", $0.text) })),
            ("flag_reasons", .list(texts.flagReasons.map { pair("id", .text($0.id), "label", $0.label) })),
            ("text_fields", .members(fields)), ("events", .members(events)),
        ])
    }

    private static func pair(
        _ key: String, _ value: SeedDocument, _ textKey: String, _ text: LocalizedText
    ) -> SeedDocument {
        .mapping([(key, value), (textKey, localized(text))])
    }
}
