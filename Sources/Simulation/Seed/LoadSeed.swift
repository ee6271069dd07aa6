import SimulationAPI

/// Seed data to add to an existing namespace [D seed-data-later]: its organizations, and the parts of the platforms, in their order.
/// Every section is optional.
package typealias SeedPart = (organizations: [Seed.Organization], parts: [any SeedAddition])

extension Seed {
    /// Reads and checks data to add to this seed.
    ///
    /// - Throws: ``SeedError`` with the line, the path and what was expected.
    package func readPart(yaml: String) throws -> SeedPart {
        let known = Self.members(platforms)
        return try SourceDocument(yaml: yaml, file: "seed").read(known: known) { fields in
            if fields.isEmpty {
                fields.report("", "expected \(known.dropLast().joined(separator: ", ")) or \(known.last ?? "")")
            }
            return (Organization.list(&fields, platforms), try parts.map { try $0.readAddition(&fields) })
        }
    }

    /// This seed with a part added. Entries with the same name, id or key are replaced or merged.
    ///
    /// - Throws: ``SeedError`` if the two do not fit together.
    fileprivate func adding(_ part: SeedPart) throws -> Seed {
        let whole = Seed(
            organizations: Self.merged(organizations, part.organizations, by: \.name) { $0.adding($1) },
            parts: zip(parts, part.parts).map { $0.adding($1) }, platforms: platforms)
        return try Seed(name: "loaded", yaml: whole.document().yaml(), platforms)
    }

    /// The values of both lists. `merge` joins those with the same key.
    package static func merged<Value>(
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

    /// The texts of both lists, each once.
    package static func union(_ old: [String], _ new: [String]) -> [String] {
        let known = Set(old.map { TextKey($0) })
        return old + new.filter { !known.contains(TextKey($0)) }
    }
}

extension Seed.Organization {
    fileprivate func adding(_ other: Self) -> Self {
        Self(
            name: name, apiTokens: Seed.union(apiTokens, other.apiTokens),
            users: Seed.merged(users, other.users, by: \.uniqueUserID) { $0.adding($1) })
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

extension Namespace {
    /// `POST /_sim/seed`: adds seed data to the namespace, and to the state that a reset restores.
    ///
    /// Reads the data, and merges it, outside of the namespace's jobs: either takes up to seconds.
    ///
    /// - Parameter text: YAML or JSON.
    package func loadSeed(_ text: Result<String, PlatformError>, _ head: RequestHead) async -> Completed<SeedLoaded> {
        await runLongOperation(head) {
            let text = try text.get()
            let seed = try await run(.background, .reads) { $0.state.seed }.result.get()
            let load = try await environment.offload { try LoadSeed(text, into: seed) }
            return try await answer(.success(load), head.later).result.get()
        }
    }
}

/// Adds seed data to a namespace.
struct LoadSeed: Operation, Writes {
    private let text: String
    /// The seed that the data was merged into.
    private let old: Seed
    private let part: SeedPart
    private let merged: Seed

    /// Reads the data, and merges it into the seed that the namespace has now.
    ///
    /// - Parameter text: YAML or JSON.
    /// - Throws: ``PlatformError`` if the data is wrong, or does not fit the seed.
    init(_ text: String, into seed: Seed) throws {
        self.text = text
        old = seed
        do {
            part = try seed.readPart(yaml: text)
        } catch let error as SeedError {
            throw PlatformError.invalid(error)
        }
        do {
            merged = try seed.adding(part)
        } catch let error as SeedError {
            // Line numbers of the merged seed mean nothing to the caller.
            throw PlatformError.wrongState(
                "the seed data does not fit the namespace's: \(error.path.isEmpty ? "" : "\(error.path): ")"
                    + error.problem + error.more)
        }
    }

    func perform(_ job: JobContext, as caller: Control) throws -> SeedLoaded {
        // Another call may have added data in the meantime, or a reset taken it away.
        guard job.state.seed.text.isIdentical(to: old.text) else {
            return try LoadSeed(text, into: job.state.seed).add(job)
        }
        return try add(job)
    }

    private func add(_ job: JobContext) throws -> SeedLoaded {
        var loaded = SeedLoaded(organizations: 0, users_created: 0, users_updated: 0, api_tokens: 0, brands: 0)
        var known = Dictionary(
            try job.transaction.organizations().map { (TextKey($0.name), $0.id) },
            uniquingKeysWith: { first, _ in first })
        for organization in part.organizations {
            let name = TextKey(organization.name)
            known[name] = try add(organization, known: known[name], &loaded, job)
        }
        for (addition, merged) in zip(part.parts, merged.parts) {
            try addition.load(job, organizations: known, into: merged, &loaded)
        }
        try job.transaction.setNamespaceValue(.seedName, merged.name)
        try job.transaction.setNamespaceValue(.seedText, merged.text)
        try job.record(
            .seedLoaded, "seed", ["organizations": .array(part.organizations.map { .string($0.name) })])
        let settings = try Settings(job.settings.given, merged)
        job.state.adopt(merged, settings)
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
        } else {
            id = try transaction.insertOrganization(name: organization.name)
            loaded.organizations += 1
        }
        for token in organization.apiTokens {
            guard let owner = try transaction.organization(apiToken: token) else {
                try transaction.insertAPIToken(token, organizationID: id)
                loaded.api_tokens += 1
                continue
            }
            guard owner.id == id else {
                throw PlatformError.wrongState(
                    "an API token of \(organization.name) already belongs to \(owner.name): give each organization its own tokens"
                )
            }
        }
        for user in organization.users {
            try add(user, to: id, Username.of(user.uniqueUserID, in: organization.name), &loaded, job)
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
        var new = known
        new.email = user.email ?? known.email
        new.firstName = user.firstName ?? known.firstName
        new.lastName = user.lastName ?? known.lastName
        new.isTestUser = user.isTestUser || known.isTestUser
        guard new != known else { return }
        try job.transaction.updateUser(new)
        try job.record(.userUpdated, username, ["by": .string("seed")])
        loaded.users_updated += 1
    }
}

/// `GET /_sim/export`: the namespace's organizations, users and the platforms' data as seed data [D seed-data-later].
/// Objects that users made are not included.
package struct ExportSeed: Operation, Reads {
    package init() {}

    /// The same seed data in both formats.
    package typealias Answer = (yaml: String, json: JSONValue)

    package func perform(_ job: JobContext, as caller: Control) throws -> Answer {
        let transaction = job.transaction
        let users = Dictionary(
            grouping: try transaction.users(before: .max, limit: .max).reversed(), by: \.organizationID)
        let organizations = try transaction.organizations().map { organization in
            Seed.Organization(
                name: organization.name, apiTokens: try transaction.apiTokens(organizationID: organization.id),
                users: (users[organization.id] ?? []).map {
                    Seed.User(
                        uniqueUserID: $0.uniqueUserID, email: $0.email, firstName: $0.firstName,
                        lastName: $0.lastName, isTestUser: $0.isTestUser)
                })
        }
        let platforms = job.state.seed.platforms
        let document = Seed(
            organizations: organizations, parts: try platforms.all.map { try $0.exportSeed(job) }, platforms: platforms
        ).document()
        return (try document.yaml(), document.json)
    }
}

extension PlatformError {
    /// A scenario error with its place and what was expected.
    package static func invalid(scenario error: SeedError) -> PlatformError {
        invalid("the scenario", error) { $0 }
    }

    /// A seed data error with its place and what was expected.
    package static func invalid(_ error: SeedError) -> PlatformError {
        invalid("the seed data", error) { $0.isEmpty ? "seed" : "seed.\($0)" }
    }

    /// - Parameter field: the field of a path in the document.
    private static func invalid(
        _ document: String, _ error: SeedError, _ field: (String) -> String
    ) -> PlatformError {
        func place(_ error: SeedError) -> String {
            error.line.map { "line \($0)\(error.column.map { ", column \($0)" } ?? ""): " } ?? ""
        }
        let path = error.path.isEmpty ? "" : "\(error.path): "
        return .invalid(
            "\(document) is wrong: \(place(error))\(path)\(error.problem)\(error.more)",
            error.all.map { ErrorDetail(field($0.path), place($0) + $0.problem) })
    }
}
