import SimulationAPI
import Yams

/// Seed data for export, with its members in a fixed order.
enum SeedDocument {
    case text(String)
    case bool(Bool)
    case list([SeedDocument])
    case mapping([(key: String, value: SeedDocument)])

    /// YAML in the layout of `seed-data/standard.yaml`.
    func yaml() throws -> String {
        try Yams.serialize(node: node, width: -1, allowUnicode: true, sortKeys: false)
    }

    private var node: Node {
        switch self {
        // Texts that look like other types are quoted, so that they stay texts.
        case .text(let text): .scalar(text.represented())
        case .bool(let flag): Node(flag ? "true" : "false", Tag(.bool))
        case .list(let elements): Node.sequence(.init(elements.map(\.node), Tag(.seq)))
        case .mapping(let members):
            Node.mapping(.init(members.map { (Node($0.key, Tag(.str)), $0.value.node) }, Tag(.map)))
        }
    }

    /// JSON with the same content.
    var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .bool(let flag): .bool(flag)
        case .list(let elements): .array(elements.map(\.json))
        case .mapping(let members): .object(JSONObject(members.map { ($0.key, $0.value.json) }))
        }
    }
}

extension SeedDocument {
    private static func texts(_ values: [String]) -> SeedDocument { .list(values.map { .text($0) }) }

    private static func localized(_ text: LocalizedText) -> SeedDocument {
        .mapping([("en", .text(text.english)), ("ja", .text(text.japanese))])
    }

    /// A mapping of the members that have a value.
    private static func members(_ members: [(String, SeedDocument?)]) -> SeedDocument {
        .mapping(members.compactMap { key, value in value.map { (key, $0) } })
    }

    /// A complete seed.
    init(organizations: [Seed.Organization], flagEligible: [String], catalogue: Catalogue) {
        let places = Dictionary(
            catalogue.categories.enumerated().map { (TextKey($1.id), $0) }, uniquingKeysWith: { first, _ in first })
        self = .mapping([
            ("organizations", .list(organizations.map(Self.organization))),
            ("flagging", .mapping([("eligible", Self.texts(flagEligible))])),
            ("categories", .list(catalogue.categories.map(Self.category))),
            ("brands", .list(catalogue.brands.map { Self.brand($0, in: places) })),
            ("texts", Self.texts(catalogue.texts)),
        ])
    }

    private static func organization(_ organization: Seed.Organization) -> SeedDocument {
        .mapping([
            ("name", .text(organization.name)), ("api_tokens", texts(organization.apiTokens)),
            ("bundles", texts(organization.bundles)),
            ("flagging", .mapping([("sdk", .bool(organization.sdkFlagging))])),
            (
                "users",
                .list(
                    organization.users.map { user in
                        members([
                            ("unique_user_id", .text(user.uniqueUserID)), ("email", user.email.map { .text($0) }),
                            ("first_name", user.firstName.map { .text($0) }),
                            ("last_name", user.lastName.map { .text($0) }),
                            ("test_user", user.isTestUser ? .bool(true) : nil),
                        ])
                    })
            ),
            (
                "partner_users",
                .list(
                    organization.partnerUsers.map { user in
                        members([
                            ("username", .text(user.username)), ("password", .text(user.password)),
                            ("unique_user_id", .text(user.uniqueUserID)), ("email", .text(user.email)),
                            ("first_name", user.firstName.map { .text($0) }),
                            ("last_name", user.lastName.map { .text($0) }),
                        ])
                    })
            ),
        ])
    }

    private static func category(_ category: Catalogue.Category) -> SeedDocument {
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

    /// - Parameter places: the positions of the catalogue's categories. A brand's categories are sorted by them.
    private static func brand(_ brand: Catalogue.Brand, in places: [TextKey: Int]) -> SeedDocument {
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

    private static func texts(_ texts: Catalogue.Texts) -> SeedDocument {
        .mapping([
            (
                "results",
                .mapping(
                    ResultID.all.compactMap { id in
                        texts.results[id].map {
                            (id, .mapping([("header", localized($0.header)), ("message", localized($0.message))]))
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
                        texts.events[kind.rawValue].map {
                            (kind.rawValue, .mapping([("label", localized($0.label)), ("title", localized($0.title))]))
                        }
                    })
            ),
        ])
    }
}
