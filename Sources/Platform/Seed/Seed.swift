import Crypto
import Foundation
import SimulationAPI

/// The initial data of a namespace: organizations, users, the catalogue, and every display text.
package struct Seed: Sendable {
    /// `standard`, `empty`, a file's name, or `inline`.
    package let name: String
    /// The YAML it was read from.
    let text: String
    let organizations: [Organization]
    /// The final results that may be flagged [D flag-eligible].
    let flagEligible: [String]
    let catalogue: Catalogue

    struct Organization: Sendable {
        let name: String
        let apiTokens: [String]
        let bundles: [String]
        let sdkFlagging: Bool
        /// Whether the data sets ``sdkFlagging``. Otherwise it is the default.
        var saysFlagging = true
        let users: [User]
        let partnerUsers: [PartnerUser]
    }

    struct User: Sendable {
        let uniqueUserID: String
        let email: String?
        let firstName: String?
        let lastName: String?
        let isTestUser: Bool
    }

    struct PartnerUser: Sendable {
        let username: String
        let password: String
        let uniqueUserID: String
        let email: String
        let firstName: String?
        let lastName: String?
    }

    /// The API tokens, by organization.
    package var apiTokens: [String: [String]] {
        Dictionary(organizations.map { ($0.name, $0.apiTokens) }) { $0 + $1 }
    }

    /// The name of the template database that is made from this seed.
    var templateKey: String {
        "\(name == "empty" ? "empty" : "seed")-\(Hex.string(SHA256.hash(data: Data(text.utf8))).prefix(32))"
    }

    /// The default seed of namespaces: users, but no items.
    ///
    /// - Throws: ``SeedError`` if the built-in file is broken, which a test rules out.
    package static func standard() throws -> Seed {
        try builtIn.get()
    }

    private static let builtIn = Result {
        try Seed(name: "standard", yaml: String(decoding: PackageResources.standard_yaml, as: UTF8.self))
    }

    /// The built-in seed of a name, `standard` or `empty`; `nil` if there is none.
    package static func named(_ name: String) throws -> Seed? {
        if name.isIdentical(to: "standard") {
            try standard()
        } else if name.isIdentical(to: "empty") {
            try standard().withoutUsers()
        } else {
            nil
        }
    }

    /// Reads a seed from the name and text that a namespace has stored.
    static func remembered(name: String, text: String) throws -> Seed {
        let seed = try Seed(name: name, yaml: text)
        return name == "empty" ? seed.withoutUsers() : seed
    }

    /// The same organizations and tokens, without users.
    func withoutUsers() -> Seed {
        Seed(
            name: "empty", text: text,
            organizations: organizations.map {
                Organization(
                    name: $0.name, apiTokens: $0.apiTokens, bundles: $0.bundles, sdkFlagging: $0.sdkFlagging, users: [],
                    partnerUsers: [])
            },
            flagEligible: flagEligible, catalogue: catalogue)
    }

    private init(
        name: String, text: String, organizations: [Organization], flagEligible: [String], catalogue: Catalogue
    ) {
        self.name = name
        self.text = text
        self.organizations = organizations
        self.flagEligible = flagEligible
        self.catalogue = catalogue
    }

    /// Reads and checks seed data.
    ///
    /// - Parameters:
    ///   - name: precedes the line in error messages.
    ///   - yaml: the file's text, YAML or JSON.
    /// - Throws: ``SeedError`` with the line, the path and what was expected.
    package init(name: String, yaml: String) throws {
        let root = try SeedNode(yaml: yaml, file: name)
        let members = try root.mapping(allowed: ["organizations", "flagging", "categories", "brands", "texts"])
        let categories = try members.required("categories").list { try Catalogue.Category(seed: $0) }
        let known = KnownNames(categories.map(\.id))
        let brands = try members.required("brands").list { try Catalogue.Brand(seed: $0, categories: known) }
        let flagging = try members["flagging"]?.mapping(allowed: ["eligible"])["eligible"]
        self.init(
            name: name,
            text: yaml,
            organizations: try members.required("organizations").list { try Organization(seed: $0) },
            flagEligible: try flagging?.list { try $0.oneOf(ResultID.all) } ?? ["authentic", "unknown"],
            catalogue: Catalogue(
                categories: categories, brands: brands, texts: try Catalogue.Texts(seed: members.required("texts")),
                id: Hex.string(SHA256.hash(data: Data(yaml.utf8)).prefix(8))))
        try checkUniqueness(members)
    }

    /// Checks that names, tokens and ids are unique.
    private func checkUniqueness(_ members: SeedMapping) throws {
        func check(_ values: [String], _ what: String, in key: String) throws {
            var seen: Set<[UInt8]> = []
            for value in values where !seen.insert(Array(value.utf8)).inserted {
                throw try members.required(key).error("\(what) \"\(value)\" appears twice")
            }
        }
        try check(organizations.map(\.name), "organization", in: "organizations")
        try check(organizations.flatMap(\.apiTokens), "API token", in: "organizations")
        try check(organizations.flatMap(\.partnerUsers).map(\.username), "partner user", in: "organizations")
        try check(
            organizations.flatMap { organization in organization.users.map { "\(organization.name)-\($0.uniqueUserID)" }
            },
            "user", in: "organizations")
        for organization in organizations {
            try check(organization.bundles, "bundle", in: "organizations")
        }
        try check(catalogue.categories.map(\.id), "category", in: "categories")
        try check(catalogue.brands.map(\.id), "brand", in: "brands")
    }
}

extension Seed.Organization {
    init(seed: SeedNode) throws {
        let members = try seed.mapping(
            allowed: ["name", "api_tokens", "bundles", "flagging", "users", "partner_users"])
        self.init(
            name: try members.required("name").string(maxBytes: 100),
            apiTokens: try members.required("api_tokens").list { try $0.token() },
            bundles: try members["bundles"]?.list { try $0.string(maxBytes: 255) } ?? [],
            sdkFlagging: try members["flagging"]?.mapping(allowed: ["sdk"])["sdk"]?.bool() ?? true,
            saysFlagging: members["flagging"] != nil,
            users: try members["users"]?.list { try Seed.User(seed: $0) } ?? [],
            partnerUsers: try members["partner_users"]?.list { try Seed.PartnerUser(seed: $0) } ?? [])
    }
}

extension Seed.User {
    init(seed: SeedNode) throws {
        let members = try seed.mapping(
            allowed: ["unique_user_id", "email", "first_name", "last_name", "test_user"])
        self.init(
            uniqueUserID: try members.required("unique_user_id").uniqueUserID(),
            email: try members["email"]?.string(maxBytes: 254),
            firstName: try members["first_name"]?.string(maxBytes: 254),
            lastName: try members["last_name"]?.string(maxBytes: 254),
            isTestUser: try members["test_user"]?.bool() ?? false)
    }
}

extension Seed.PartnerUser {
    init(seed: SeedNode) throws {
        let members = try seed.mapping(
            allowed: ["username", "password", "unique_user_id", "email", "first_name", "last_name"])
        self.init(
            username: try members.required("username").string(maxBytes: 254),
            password: try members.required("password").string(maxBytes: 254),
            uniqueUserID: try members.required("unique_user_id").uniqueUserID(),
            email: try members.required("email").string(maxBytes: 254),
            firstName: try members["first_name"]?.string(maxBytes: 254),
            lastName: try members["last_name"]?.string(maxBytes: 254))
    }
}

extension SeedNode {
    fileprivate func uniqueUserID() throws -> String {
        let value = try string(maxBytes: 40)
        if let problem = TextRules.uniqueUserIDProblem(value) { throw error(problem) }
        return value
    }

    fileprivate func token() throws -> String {
        let value = try string(maxBytes: 500)
        guard value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw error("expected a token of printable ASCII without spaces")
        }
        return value
    }
}
