import Foundation
import Hashes
import SimulationAPI
import Storage

/// The initial data of a namespace: organizations and users, and a part for each platform.
package struct Seed: Sendable {
    /// `standard`, `empty`, a file's name, or `inline`.
    package let name: String
    /// The YAML it was read from.
    package let text: String
    package let organizations: [Organization]
    /// The parts of the platforms, in their order.
    package let parts: [any PlatformSeed]
    package let platforms: Platforms

    /// An organization with its accounts. Further members belong to platforms, see ``parts``.
    package struct Organization: Sendable {
        package let name: String
        package let apiTokens: [String]
        package let users: [User]
    }

    /// A user that exists from the start.
    package struct User: Sendable {
        package let uniqueUserID: String
        package let email: String?
        package let firstName: String?
        package let lastName: String?
        /// Whether the platform's limits on logins do not apply to the user.
        package let isTestUser: Bool
    }

    /// The API tokens, by organization.
    package var apiTokens: [String: [String]] {
        Dictionary(organizations.map { ($0.name, $0.apiTokens) }) { $0 + $1 }
    }

    /// The name of the template database that is made from this seed.
    package var templateKey: String {
        "\(name == "empty" ? "empty" : "seed")-\(Hex.string(SHA256.hash(data: Data(text.utf8))).prefix(32))"
    }

    /// Reads a seed from the name and text that a namespace has stored.
    package static func remembered(name: String, text: String, _ platforms: Platforms) throws -> Seed {
        if let builtIn = try platforms.seed(named: name), builtIn.text.isIdentical(to: text) { return builtIn }
        let seed = try Seed(name: name, yaml: text, platforms)
        return name == "empty" ? seed.withoutUsers() : seed
    }

    /// The same organizations and tokens, without users.
    package func withoutUsers() -> Seed {
        Seed(
            name: "empty", text: text,
            organizations: organizations.map { Organization(name: $0.name, apiTokens: $0.apiTokens, users: []) },
            parts: parts.map { $0.withoutUsers() }, platforms: platforms)
    }

    /// The members of seed data.
    package static func members(_ platforms: Platforms) -> [String] {
        ["organizations"] + platforms.all.flatMap(\.seedMembers.own)
    }

    /// A platform's part.
    package func part<Part: PlatformSeed>(_ type: Part.Type) -> Part {
        for part in parts { if let part = part as? Part { return part } }
        preconditionFailure("the platform that reads \(type) is not one of the server's")
    }

    /// Fills the database template of this seed data. Writes.
    package func insert(_ transaction: Transaction) throws {
        var ids: [TextKey: Int64] = [:]
        for organization in organizations {
            let id = try transaction.insertOrganization(name: organization.name)
            ids[TextKey(organization.name)] = id
            for token in organization.apiTokens {
                try transaction.insertAPIToken(token, organizationID: id)
            }
            for user in organization.users {
                _ = try transaction.insertUser(
                    organizationID: id, username: Username.of(user.uniqueUserID, in: organization.name),
                    uniqueUserID: user.uniqueUserID, email: user.email, firstName: user.firstName,
                    lastName: user.lastName, isTestUser: user.isTestUser, createdAt: Instant(microseconds: 0))
            }
        }
        for part in parts { try part.insert(transaction, organizations: ids) }
    }

    /// The seed as a document.
    package func document() -> SeedDocument {
        let organizations = organizations.map { organization in
            let members = parts.map { $0.members(ofOrganization: organization.name) }
            return SeedDocument.mapping(
                [("name", .text(organization.name)), ("api_tokens", .texts(organization.apiTokens))]
                    + members.flatMap(\.beforeUsers)
                    + [("users", .list(organization.users.map { $0.document() }))] + members.flatMap(\.afterUsers))
        }
        return .mapping([("organizations", .list(organizations))] + parts.flatMap { $0.members() })
    }
}

extension Seed {
    /// A seed that is not read from a text, for ``document()``.
    package init(organizations: [Organization], parts: [any PlatformSeed], platforms: Platforms) {
        self.init(name: "", text: "", organizations: organizations, parts: parts, platforms: platforms)
    }

    /// Reads and checks seed data.
    ///
    /// - Parameters:
    ///   - name: precedes the line in error messages.
    ///   - yaml: the file's text, YAML or JSON.
    /// - Throws: ``SeedError`` with the line, the path and what was expected.
    package init(name: String, yaml: String, _ platforms: Platforms) throws {
        self = try SourceDocument(yaml: yaml, file: name).read(known: Self.members(platforms)) { fields in
            fields.require("organizations")
            let organizations = Organization.list(&fields, platforms)
            let parts = try platforms.all.map { try $0.readSeed(&fields, text: yaml) }
            fields.checkUnique(organizations.map(\.name), "organization", in: "organizations")
            fields.checkUnique(organizations.flatMap(\.apiTokens), "an API token", in: "organizations", areSecret: true)
            let usernames = organizations.filter { !$0.name.isEmpty }.flatMap { organization in
                organization.users.filter { !$0.uniqueUserID.isEmpty }.map {
                    Username.of($0.uniqueUserID, in: organization.name)
                }
            }
            fields.checkUnique(usernames, "user", in: "organizations")
            return Seed(name: name, text: yaml, organizations: organizations, parts: parts, platforms: platforms)
        }
    }
}

extension Seed.Organization {
    /// The organizations of seed data; none if it has no such member.
    package static func list(_ fields: inout FieldReader, _ platforms: Platforms) -> [Self] {
        let known = ["name", "api_tokens", "users"] + platforms.all.flatMap(\.seedMembers.ofOrganizations)
        return fields.objects("organizations", known: known) { Self(&$0) } ?? []
    }

    private init(_ fields: inout FieldReader) {
        fields.require("api_tokens")
        self.init(
            name: fields.requiredText("name", maxBytes: 100),
            apiTokens: fields.list("api_tokens") { $0.token($1) } ?? [],
            users: fields.objects("users", known: Seed.User.members) { Seed.User(&$0) } ?? [])
    }
}

extension Seed.User {
    fileprivate static let members = ["unique_user_id", "email", "first_name", "last_name", "test_user"]

    fileprivate init(_ fields: inout FieldReader) {
        self.init(
            uniqueUserID: fields.uniqueUserID("unique_user_id"), email: fields.text("email", maxBytes: 254),
            firstName: fields.text("first_name", maxBytes: 254), lastName: fields.text("last_name", maxBytes: 254),
            isTestUser: fields.optionalBool("test_user") ?? false)
    }

    fileprivate func document() -> SeedDocument {
        .members([
            ("unique_user_id", .text(uniqueUserID)), ("email", email.map { .text($0) }),
            ("first_name", firstName.map { .text($0) }), ("last_name", lastName.map { .text($0) }),
            ("test_user", isTestUser ? .bool(true) : nil),
        ])
    }
}

extension FieldReader {
    /// An API token. A message does not show it.
    fileprivate mutating func token(_ key: String) -> String? {
        guard let text = text(key, maxBytes: 500) else { return nil }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            report(key, "must be a token of printable ASCII without spaces")
            return nil
        }
        return text
    }
}

/// The names of users.
package enum Username {
    /// The name of an organization's user, which is unique in a namespace [S].
    package static func of(_ uniqueUserID: String, in organization: String) -> String {
        "\(organization)-\(uniqueUserID)"
    }
}
