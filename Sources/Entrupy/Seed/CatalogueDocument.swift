import EntrupyAPI
import Simulation
import SimulationAPI

extension Catalogue {
    /// The catalogue's members of a seed, for export.
    func document() -> [(key: String, value: SeedDocument)] {
        let places = Dictionary(
            categories.enumerated().map { (TextKey($1.id), $0) }, uniquingKeysWith: { first, _ in first })
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
        return .mapping([
            ("id", .text(category.id)), ("required_fields", texts(category.requiredFields)),
            (
                "capture_steps",
                .mapping([("production", steps(category.production)), ("debug", steps(category.debug))])
            ),
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
        let categories = brand.categories.compactMap { category in
            places[TextKey(category.id)].map { (place: $0, category: category) }
        }.sorted { $0.place < $1.place }.map(\.category)
        return .mapping([
            ("id", .text(brand.id)), ("name", .text(brand.name)),
            (
                "categories",
                .mapping(
                    categories.map { category in
                        (
                            category.id,
                            .mapping([
                                ("item_types", texts(category.itemTypes)), ("materials", texts(category.materials)),
                            ])
                        )
                    })
            ),
        ])
    }

    fileprivate static func texts(_ texts: Catalogue.Texts) -> SeedDocument {
        .mapping([
            (
                "results",
                .mapping(
                    ResultID.allCases.compactMap { id in
                        texts.results[id].map {
                            (
                                id.rawValue,
                                .mapping([("header", localized($0.header)), ("message", localized($0.message))])
                            )
                        }
                    })
            ),
            (
                "invalid_reasons",
                .list(texts.invalidReasons.map { .mapping([("id", .text($0.id)), ("text", localized($0.text))]) })
            ),
            (
                "flag_reasons",
                .list(texts.flagReasons.map { .mapping([("id", .text($0.id)), ("label", localized($0.label))]) })
            ),
            (
                "text_fields",
                .mapping(
                    ItemField.shown.compactMap { field in
                        texts.textFields[field.rawValue].map { (field.rawValue, localized($0)) }
                    })
            ),
            (
                "events",
                .mapping(
                    EventKind.shown.compactMap { kind in
                        texts.events[kind.name].map {
                            (kind.name, .mapping([("label", localized($0.label)), ("title", localized($0.title))]))
                        }
                    })
            ),
        ])
    }
}
