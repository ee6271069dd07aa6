import EntrupyAPI
import EntrupyStorage
import Foundation
import Hashes
import Simulation
import SimulationAPI
import Storage

/// Entrupy's part of seed data: the catalogue, every display text, and what organizations have beside accounts.
struct EntrupySeed: PlatformSeed {
    let organizations: [Organization]
    /// The places of the organizations by name.
    private let places: [TextKey: Int]
    /// The final results that may be flagged [D flag-eligible].
    let flagEligible: [ResultID]
    /// The settings of webhooks that namespaces with this seed begin with; `nil` for the platform's defaults.
    let webhooks: WebhookDefaults?
    let catalogue: Catalogue

    /// The settings of webhooks in seed data. Members that are `nil` have the platform's defaults.
    struct WebhookDefaults: Sendable {
        var format: WebhookFormat?
        var signature: WebhookSignatureForm?
        var domainVerification: Bool?

        var document: SeedDocument {
            .members([
                ("format", format.map { .text($0.rawValue) }), ("signature", signature.map { .text($0.rawValue) }),
                ("domain_verification", domainVerification.map { .bool($0) }),
            ])
        }
    }

    struct Organization: Sendable {
        let name: String
        let bundles: [String]
        /// Whether users may flag through the SDK; `nil` if the data does not say, and they may.
        let sdkFlagging: Bool?
        /// They belong to the organization that has their row; the ids here do not count.
        let partnerUsers: [PartnerUserRecord]
    }

    init(organizations: [Organization], flagEligible: [ResultID], webhooks: WebhookDefaults?, catalogue: Catalogue) {
        self.organizations = organizations
        places = Dictionary(organizations.enumerated().map { (TextKey($1.name), $0) }) { first, _ in first }
        self.flagEligible = flagEligible
        self.webhooks = webhooks
        self.catalogue = catalogue
    }

    var choices: [String: [Choice]] {
        [
            "results": ResultID.allCases.map { Choice($0.rawValue) },
            "item_results": Activity.authentication.results.map { Choice($0.rawValue) },
            "flags": FlagID.allCases.map { Choice($0.rawValue) },
            "invalid_reasons": catalogue.texts.invalidReasons.map { Choice(id: $0.id, name: $0.text[.english]) },
            "brands": catalogue.brands.map { Choice(id: $0.id, name: $0.name) },
            "categories": catalogue.categories.map { Choice($0.id) },
            "item_types": catalogue.itemTypes.listed.map { Choice($0.id) },
            "config_types": ConfigType.allCases.map { Choice($0.rawValue) },
        ]
    }

    func readAddition(_ fields: inout FieldReader) -> any SeedAddition { Addition(&fields, to: self) }

    func readOutcome(_ document: JSONValue, _ reading: OutcomeReading) throws -> (any PlatformOutcome)? {
        try ItemOutcome(document, catalogue, reading)
    }

    func withoutUsers() -> Self {
        Self(
            organizations: organizations.map {
                Organization(name: $0.name, bundles: $0.bundles, sdkFlagging: $0.sdkFlagging, partnerUsers: [])
            },
            flagEligible: flagEligible, webhooks: webhooks, catalogue: catalogue)
    }

    func insert(_ transaction: Transaction, organizations ids: [TextKey: Int64]) throws {
        for organization in organizations { try organization.load(transaction, organizations: ids) }
    }

    func members() -> [(key: String, value: SeedDocument)] {
        var members: [(key: String, value: SeedDocument)] = [
            ("flagging", .mapping([("eligible", .texts(flagEligible.map(\.rawValue)))]))
        ]
        if let webhooks { members.append(("webhooks", webhooks.document)) }
        return members + catalogue.document()
    }

    func members(
        ofOrganization name: String
    ) -> (beforeUsers: [(key: String, value: SeedDocument)], afterUsers: [(key: String, value: SeedDocument)]) {
        guard let organization = places[TextKey(name)].map({ organizations[$0] }) else { return ([], []) }
        let partnerUsers = organization.partnerUsers.map { user in
            SeedDocument.members([
                ("username", .text(user.username)), ("password", .text(user.password)),
                ("unique_user_id", .text(user.uniqueUserID)), ("email", .text(user.email)),
                ("first_name", user.firstName.map { .text($0) }), ("last_name", user.lastName.map { .text($0) }),
            ])
        }
        return (
            beforeUsers: [
                ("bundles", .texts(organization.bundles)),
                ("flagging", .mapping([("sdk", .bool(organization.sdkFlagging ?? true))])),
            ], afterUsers: [("partner_users", .list(partnerUsers))]
        )
    }

    /// Reads Entrupy's members of seed data. Problems go to `fields`.
    init(_ fields: inout FieldReader, text: String) {
        for key in ["categories", "brands", "texts"] { fields.require(key) }
        let categories = Catalogue.Category.list(&fields)
        let known = Self.known(fields.has("categories"), categories)
        self.init(
            organizations: Organization.list(&fields),
            flagEligible: Self.flagEligible(&fields) ?? [.authentic, .unknown],
            webhooks: WebhookDefaults(&fields),
            catalogue: Catalogue(
                categories: categories, brands: Catalogue.Brand.list(&fields, categories: known),
                itemTypes: ItemType.list(&fields, categories: known),
                texts: Catalogue.Texts(&fields)
                    ?? Catalogue.Texts(results: [:], invalidReasons: [], flagReasons: [], textFields: [:], events: [:]),
                id: Hex.string(SHA256.hash(data: Data(text.utf8)).prefix(8))))
        fields.checkUnique(organizations.flatMap(\.partnerUsers).map(\.username), "partner user", in: "organizations")
        for organization in organizations { fields.checkUnique(organization.bundles, "bundle", in: "organizations") }
        fields.checkUnique(catalogue.categories.map(\.id), "category", in: "categories")
        fields.checkUnique(catalogue.brands.map(\.id), "brand", in: "brands")
        // A name leads to one type.
        let names = (catalogue.listedItemTypes ?? []).flatMap { type in
            Set(ItemTypes.names(of: type).map(TextKey.init)).map(\.text)
        }
        fields.checkUnique(names, "name of an item type", in: "item_types")
    }

    /// The categories that brands and item types may have, in their order; `nil` for any: where they are missing, or one has a problem
    /// with its id, all that name them would have problems too.
    fileprivate static func known(_ areThere: Bool, _ categories: [Catalogue.Category]) -> KnownNames? {
        areThere && !categories.contains { $0.id.isEmpty } ? KnownNames(categories.map(\.id)) : nil
    }

    /// The results that may be flagged; `nil` if the seed data does not say.
    fileprivate static func flagEligible(_ fields: inout FieldReader) -> [ResultID]? {
        guard var flagging = fields.optionalObject("flagging", known: ["eligible"]) else { return nil }
        return flagging.words("eligible", Flags.eligibleNames)?.map { ResultID(rawValue: $0) }
    }

    /// The part with the organizations of a namespace, for export.
    init(of job: JobContext) throws {
        let organizations = try job.transaction.organizations().map { organization in
            Organization(
                name: organization.name, bundles: try job.transaction.bundles(organizationID: organization.id),
                sdkFlagging: organization.sdkFlagging,
                partnerUsers: try job.transaction.partnerUsers(organizationID: organization.id))
        }
        self.init(
            organizations: organizations, flagEligible: job.entrupy.seed.flagEligible,
            webhooks: job.entrupy.seed.webhooks, catalogue: job.catalogue)
    }
}

extension EntrupySeed.WebhookDefaults {
    /// `nil` if the seed data has no such member.
    fileprivate init?(_ fields: inout FieldReader) {
        let known = ["format", "signature", "domain_verification"]
        guard var webhooks = fields.optionalObject("webhooks", known: known) else { return nil }
        self.init(
            format: webhooks.word("format", WebhookFormat.self),
            signature: webhooks.word("signature", WebhookSignatureForm.self),
            domainVerification: webhooks.optionalBool("domain_verification"))
    }
}

extension EntrupySeed.Organization {
    /// Entrupy's members of the organizations; none if there is no such member. The engine refuses members that nobody knows.
    fileprivate static func list(_ fields: inout FieldReader) -> [Self] {
        fields.objects("organizations", known: nil) { Self(&$0) } ?? []
    }

    private init(_ fields: inout FieldReader) {
        var flagging = fields.optionalObject("flagging", known: ["sdk"])
        self.init(
            name: fields.requiredText("name", maxBytes: 100),
            bundles: fields.list("bundles") { $0.text($1, maxBytes: 255) } ?? [],
            sdkFlagging: flagging == nil ? nil : flagging?.optionalBool("sdk") ?? true,
            partnerUsers: fields.objects("partner_users", known: PartnerUserRecord.members) {
                PartnerUserRecord(&$0)
            } ?? [])
    }

    /// Adds the bundles, and stores the switch and the partner users in place of those that the organization has. Writes.
    ///
    /// - Parameter ids: the rows of the organizations by name.
    fileprivate func load(_ transaction: Transaction, organizations ids: [TextKey: Int64]) throws {
        guard let id = ids[TextKey(name)] else { return }
        if let sdkFlagging { try transaction.setFlagging(organizationID: id, sdkFlagging) }
        for bundle in bundles where try !transaction.hasBundle(bundle, organizationID: id) {
            try transaction.insertBundle(bundle, organizationID: id)
        }
        for var user in partnerUsers {
            user.organizationID = id
            try transaction.upsertPartnerUser(user)
        }
    }

    fileprivate func adding(_ other: Self) -> Self {
        Self(
            name: name, bundles: Seed.union(bundles, other.bundles), sdkFlagging: other.sdkFlagging ?? sdkFlagging,
            partnerUsers: Seed.merged(partnerUsers, other.partnerUsers, by: \.username) { $1 })
    }
}

extension PartnerUserRecord {
    fileprivate static let members = ["username", "password", "unique_user_id", "email", "first_name", "last_name"]

    fileprivate init(_ fields: inout FieldReader) {
        self.init(
            organizationID: 0, username: fields.requiredText("username", maxBytes: 254),
            password: fields.requiredText("password", maxBytes: 254),
            uniqueUserID: fields.uniqueUserID("unique_user_id"), email: fields.requiredText("email", maxBytes: 254),
            firstName: fields.text("first_name", maxBytes: 254), lastName: fields.text("last_name", maxBytes: 254))
    }
}

// MARK: Adding

extension EntrupySeed {
    /// Entrupy's part of seed data that is added to a namespace.
    struct Addition: SeedAddition {
        let organizations: [Organization]
        let flagEligible: [ResultID]?
        let webhooks: WebhookDefaults?
        let categories: [Catalogue.Category]
        let itemTypes: [ItemType]?
        let brands: [Catalogue.Brand]
        let texts: Catalogue.Texts?

        init(_ fields: inout FieldReader, to seed: EntrupySeed) {
            organizations = Organization.list(&fields)
            flagEligible = EntrupySeed.flagEligible(&fields)
            webhooks = WebhookDefaults(&fields)
            categories = Catalogue.Category.list(&fields)
            let known = EntrupySeed.known(true, seed.catalogue.categories + categories)
            itemTypes = ItemType.list(&fields, categories: known)
            brands = Catalogue.Brand.list(&fields, categories: known)
            texts = Catalogue.Texts(&fields)
        }

        func load(
            _ job: JobContext, organizations ids: [TextKey: Int64], into seed: any PlatformSeed,
            _ loaded: inout SeedLoaded
        ) throws {
            for organization in organizations { try organization.load(job.transaction, organizations: ids) }
            if let seed = seed as? EntrupySeed { loaded.brands = seed.catalogue.brands.count }
        }
    }

    func adding(_ addition: any SeedAddition) -> Self {
        guard let addition = addition as? Addition else { return self }
        return Self(
            organizations: Seed.merged(organizations, addition.organizations, by: \.name) { $0.adding($1) },
            flagEligible: addition.flagEligible ?? flagEligible, webhooks: addition.webhooks ?? webhooks,
            catalogue: Catalogue(
                categories: Seed.merged(catalogue.categories, addition.categories, by: \.id) { $1 },
                brands: Seed.merged(catalogue.brands, addition.brands, by: \.id) { $1 },
                itemTypes: addition.itemTypes.map {
                    Seed.merged(catalogue.listedItemTypes ?? BuiltInTexts.itemTypes, $0, by: \.id) { $1 }
                } ?? catalogue.listedItemTypes,
                texts: addition.texts ?? catalogue.texts, id: ""))
    }
}
