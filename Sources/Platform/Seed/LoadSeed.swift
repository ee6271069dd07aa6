import EntrupyAPI
import EntrupyStorage
import SimulationAPI
import Storage

/// Seed data to add to an existing namespace [D seed-data-later]. Every section is optional.
struct SeedPart {
    let organizations: [Seed.Organization]
    let flagEligible: [String]?
    let categories: [Catalogue.Category]
    let brands: [Catalogue.Brand]
    let texts: Catalogue.Texts?

    /// Reads and checks the data.
    ///
    /// - Throws: ``SeedError`` with the line, the path and what was expected.
    init(yaml: String, for seed: Seed) throws {
        let root = try SeedNode(yaml: yaml, file: "seed")
        let members = try root.mapping(allowed: ["organizations", "flagging", "categories", "brands", "texts"])
        organizations = try members["organizations"]?.list { try Seed.Organization(seed: $0) } ?? []
        flagEligible = try members["flagging"]?.mapping(allowed: ["eligible"])["eligible"]?.list {
            try $0.oneOf(ResultID.all)
        }
        categories = try members["categories"]?.list { try Catalogue.Category(seed: $0) } ?? []
        let known = KnownNames(seed.catalogue.categories.map(\.id) + categories.map(\.id))
        brands = try members["brands"]?.list { try Catalogue.Brand(seed: $0, categories: known) } ?? []
        texts = try members["texts"].map { try Catalogue.Texts(seed: $0) }
        guard !members.members.isEmpty else {
            throw root.error("expected organizations, flagging, categories, brands or texts")
        }
    }
}

extension Seed {
    /// This seed with a part added. Entries with the same name, id or key are replaced or merged.
    ///
    /// - Throws: ``SeedError`` if the two do not fit together.
    func adding(_ part: SeedPart) throws -> Seed {
        let document = SeedDocument(
            organizations: Self.merged(organizations, part.organizations, by: \.name) { $0.adding($1) },
            flagEligible: part.flagEligible ?? flagEligible,
            catalogue: Catalogue(
                categories: Self.merged(catalogue.categories, part.categories, by: \.id) { $1 },
                brands: Self.merged(catalogue.brands, part.brands, by: \.id) { $1 },
                texts: part.texts ?? catalogue.texts, id: ""))
        return try Seed(name: "loaded", yaml: document.yaml())
    }

    fileprivate static func merged<Value>(
        _ old: [Value], _ new: [Value], by key: KeyPath<Value, String>, _ merge: (Value, Value) -> Value
    ) -> [Value] {
        var values = old
        var places = Dictionary(old.enumerated().map { (TextKey($1[keyPath: key]), $0) }) { first, _ in first }
        for value in new {
            let name = TextKey(value[keyPath: key])
            if let place = places[name] {
                values[place] = merge(values[place], value)
            } else {
                places[name] = values.count
                values.append(value)
            }
        }
        return values
    }
}

extension Seed.Organization {
    fileprivate func adding(_ other: Self) -> Self {
        func union(_ old: [String], _ new: [String]) -> [String] {
            let known = Set(old.map { TextKey($0) })
            return old + new.filter { !known.contains(TextKey($0)) }
        }
        return Self(
            name: name, apiTokens: union(apiTokens, other.apiTokens), bundles: union(bundles, other.bundles),
            sdkFlagging: other.saysFlagging ? other.sdkFlagging : sdkFlagging,
            users: Seed.merged(users, other.users, by: \.uniqueUserID) { $0.adding($1) },
            partnerUsers: Seed.merged(partnerUsers, other.partnerUsers, by: \.username) { $1 })
    }
}

extension Seed.User {
    /// The user with the other's values. Values the other lacks stay.
    fileprivate func adding(_ other: Self) -> Self {
        Self(
            uniqueUserID: uniqueUserID, email: other.email ?? email, firstName: other.firstName ?? firstName,
            lastName: other.lastName ?? lastName, isTestUser: other.isTestUser || isTestUser)
    }
}

/// `POST /_sim/seed`: adds seed data to the namespace, and to the state that a reset restores.
package struct LoadSeed: Operation {
    package static let access = Access.writes
    let text: String

    /// - Parameter text: YAML or JSON.
    package init(_ text: String) {
        self.text = text
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> SeedLoaded {
        let part: SeedPart
        do {
            part = try SeedPart(yaml: text, for: job.state.seed)
        } catch let error as SeedError {
            throw PlatformError.invalid(error)
        }
        let seed: Seed
        do {
            seed = try job.state.seed.adding(part)
        } catch let error as SeedError {
            // Line numbers of the merged seed mean nothing to the caller.
            throw PlatformError.wrongState(
                "in the merged seed data, \(error.path.isEmpty ? "the seed data" : error.path) would be wrong: "
                    + error.problem)
        }
        var loaded = SeedLoaded(
            organizations: 0, users_created: 0, users_updated: 0, api_tokens: 0, brands: seed.catalogue.brands.count)
        var known = Dictionary(
            try job.transaction.organizations().map { (TextKey($0.name), $0.id) },
            uniquingKeysWith: { first, _ in first })
        for organization in part.organizations {
            let name = TextKey(organization.name)
            known[name] = try add(organization, known: known[name], &loaded, job)
        }
        try job.transaction.setNamespaceValue(.seedName, seed.name)
        try job.transaction.setNamespaceValue(.seedText, seed.text)
        try job.record(
            .seedLoaded, "seed", ["organizations": .array(part.organizations.map { .string($0.name) })])
        let settings = try Settings(job.settings.document, flagEligible: seed.flagEligible)
        job.state.adopt(seed, settings)
        return loaded
    }

    /// Adds an organization or updates it.
    ///
    /// - Parameter known: the id of the organization with that name; `nil` if there is none.
    /// - Returns: the organization's id.
    private func add(
        _ organization: Seed.Organization, known: Int64?, _ loaded: inout SeedLoaded, _ job: JobContext
    ) throws -> Int64 {
        let transaction = job.transaction
        let id: Int64
        if let known {
            id = known
            if organization.saysFlagging {
                try transaction.setFlagging(organizationID: id, organization.sdkFlagging)
            }
        } else {
            id = try transaction.insertOrganization(name: organization.name, sdkFlagging: organization.sdkFlagging)
            loaded.organizations += 1
        }
        for token in organization.apiTokens {
            guard let owner = try transaction.organization(apiToken: token) else {
                try transaction.insertAPIToken(token, organizationID: id)
                loaded.api_tokens += 1
                continue
            }
            guard owner.id == id else {
                throw PlatformError.wrongState("an API token of \(organization.name) already belongs to \(owner.name)")
            }
        }
        for bundle in organization.bundles where try !transaction.hasBundle(bundle, organizationID: id) {
            try transaction.insertBundle(bundle, organizationID: id)
        }
        for user in organization.users {
            try add(user, to: id, "\(organization.name)-\(user.uniqueUserID)", &loaded, job)
        }
        for user in organization.partnerUsers {
            try transaction.upsertPartnerUser(
                PartnerUserRecord(
                    organizationID: id, username: user.username, password: user.password,
                    uniqueUserID: user.uniqueUserID, email: user.email, firstName: user.firstName,
                    lastName: user.lastName))
        }
        return id
    }

    private func add(
        _ user: Seed.User, to organizationID: Int64, _ username: String, _ loaded: inout SeedLoaded, _ job: JobContext
    ) throws {
        guard let known = try job.transaction.user(username: username) else {
            _ = try job.transaction.insertUser(
                organizationID: organizationID, username: username, uniqueUserID: user.uniqueUserID, email: user.email,
                firstName: user.firstName, lastName: user.lastName, isTestUser: user.isTestUser, createdAt: job.now)
            try job.record(.userCreated, username, ["by": .string("seed")])
            loaded.users_created += 1
            return
        }
        // Values the seed lacks stay.
        let new = (user.email ?? known.email, user.firstName ?? known.firstName, user.lastName ?? known.lastName)
        guard new != (known.email, known.firstName, known.lastName) else { return }
        try job.transaction.updateUser(id: known.id, email: new.0, firstName: new.1, lastName: new.2)
        try job.record(.userUpdated, username, ["by": .string("seed")])
        loaded.users_updated += 1
    }
}

/// `GET /_sim/export`: the namespace's organizations, users and catalogue as seed data [D seed-data-later]. Items,
/// captures and sessions are not included.
package struct ExportSeed: Operation {
    package static let access = Access.reads

    package init() {}

    /// The same seed data in both formats.
    package struct Answer: Sendable {
        package let yaml: String
        package let json: JSONValue
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> Answer {
        let transaction = job.transaction
        let users = Dictionary(
            grouping: try transaction.users(before: .max, limit: .max).reversed(), by: \.organizationID)
        let organizations = try transaction.organizations().map { organization in
            Seed.Organization(
                name: organization.name, apiTokens: try transaction.apiTokens(organizationID: organization.id),
                bundles: try transaction.bundles(organizationID: organization.id),
                sdkFlagging: organization.sdkFlagging,
                users: (users[organization.id] ?? []).map {
                    Seed.User(
                        uniqueUserID: $0.uniqueUserID, email: $0.email, firstName: $0.firstName,
                        lastName: $0.lastName, isTestUser: $0.isTestUser)
                },
                partnerUsers: try transaction.partnerUsers(organizationID: organization.id).map {
                    Seed.PartnerUser(
                        username: $0.username, password: $0.password, uniqueUserID: $0.uniqueUserID, email: $0.email,
                        firstName: $0.firstName, lastName: $0.lastName)
                })
        }
        let document = SeedDocument(
            organizations: organizations, flagEligible: job.state.seed.flagEligible, catalogue: job.catalogue)
        return Answer(yaml: try document.yaml(), json: document.json)
    }
}

extension PlatformError {
    /// A scenario error with its place and what was expected.
    static func invalid(scenario error: SeedError) -> PlatformError {
        let place = error.line.map { "line \($0): " } ?? ""
        return .invalid(
            "the scenario is wrong: \(place)\(error.path.isEmpty ? "" : "\(error.path): ")\(error.problem)",
            [ErrorDetail(error.path, "\(place)\(error.problem)")])
    }

    /// A seed data error with its place and what was expected.
    static func invalid(_ error: SeedError) -> PlatformError {
        let place = error.line.map { "line \($0): " } ?? ""
        return .invalid(
            "the seed data is wrong: \(place)\(error.path.isEmpty ? "" : "\(error.path): ")\(error.problem)",
            [ErrorDetail(error.path.isEmpty ? "seed" : "seed.\(error.path)", "\(place)\(error.problem)")])
    }
}
