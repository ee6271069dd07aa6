import GRDB

/// A kind of object that the comparison of two states knows: its rows, and the words of the control API for them [D diff].
package struct ComparedKind: Sendable {
    /// The control API's word, for instance `session`.
    package let name: String
    let table: String
    /// The column by which others refer to it; `nil` if none does.
    package let id: String?
    /// The name that its row numbers have in references; `nil` if its ids are texts, which no two objects share.
    package let counted: String?
    private let filter: String
    private let order: String
    /// The members; those of the key tell objects apart, with their order among equals.
    package let members: [ComparedMember]
    /// Columns that the control API does not show, or that follow from others.
    let unshown: [String]

    /// - Parameters:
    ///   - id: the column of ids that are texts.
    ///   - row: the column of ids that are row numbers.
    ///   - order: SQL by which objects with the same key are matched. Without a column that counts them it begins with the members, so
    ///     that chance does not decide.
    ///   - filter: SQL that selects the rows.
    package init(
        _ name: String, in table: String, id: String? = nil, row: String? = nil, where filter: String = "1",
        order: String = "position", _ members: [ComparedMember], unshown: [String] = []
    ) {
        self.name = name
        self.table = table
        self.id = id ?? row
        counted = row == nil ? nil : name
        self.filter = filter
        self.order = order
        self.members = members
        self.unshown = unshown
    }

    /// A statement for the objects, in their order. Its columns: the id, each ``foreign`` member, the other members of the key as a JSON
    /// array, and those beside the key.
    ///
    /// - Parameters:
    ///   - isShown: whether ids, times and secrets are read; else whether there is one.
    ///   - isOne: whether the argument is the id of the only object.
    package func sql(isShown: Bool, isOne: Bool = false) -> String {
        func array(_ members: [ComparedMember]) -> String {
            "json_array(\(members.map { isShown ? $0.sql : $0.comparedSQL }.joined(separator: ", ")))"
        }
        let columns = [id ?? "NULL"] + foreign.map(\.sql) + [array(key), array(others)]
        let condition = isOne ? "\(id ?? "NULL") = ?" : "\(filter) ORDER BY \(order)"
        return "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE \(condition)"
    }

    /// The members that are not compared as they are stored: other objects, and addresses.
    package var foreign: [ComparedMember] { members.filter(\.isForeign) }
    package var key: [ComparedMember] { members.filter { $0.isKey && !$0.isForeign && !$0.isIgnored } }
    package var others: [ComparedMember] { members.filter { !$0.isKey && !$0.isForeign && !$0.isIgnored } }
}

/// A member of a ``ComparedKind``.
package struct ComparedMember: Sendable {
    package enum Role: Sendable, Hashable {
        /// Compared by its value.
        case value
        /// A JSON object, compared member by member.
        case document
        /// Another object, compared by which one it is. Holds the kind if that counts its objects, so that ids of others are equal to it.
        case reference(String?)
        /// The URL of a receiver.
        case address
        /// Compared by whether there is one.
        case id, time, secret
        /// Not compared.
        case ignored
    }

    /// The control API's word.
    package let name: String
    let sql: String
    package let role: Role
    /// Whether it tells objects apart.
    package private(set) var isKey = false

    private init(_ name: String, _ sql: String?, _ role: Role) {
        (self.name, self.sql, self.role) = (name, sql ?? name, role)
    }

    /// - Parameter sql: an expression for the value; the column of the same name if `nil`.
    package static func value(_ name: String, _ sql: String? = nil) -> Self { Self(name, sql, .value) }
    package static func flag(_ name: String, _ column: String? = nil) -> Self {
        Self(name, "json(iif(\(column ?? name), 'true', 'false'))", .value)
    }
    package static func document(_ name: String, _ column: String? = nil) -> Self { Self(name, column, .document) }
    package static func reference(_ name: String, _ column: String? = nil, to kind: String? = nil) -> Self {
        Self(name, column, .reference(kind))
    }
    package static func address(_ name: String) -> Self { Self(name, nil, .address) }
    package static func id(_ name: String, _ column: String? = nil) -> Self { Self(name, column, .id) }
    package static func time(_ name: String, _ column: String? = nil) -> Self { Self(name, column, .time) }
    package static func secret(_ name: String, _ column: String? = nil) -> Self { Self(name, column, .secret) }
    package static func ignored(_ name: String, _ column: String? = nil) -> Self { Self(name, column, .ignored) }

    /// This member as one of the key.
    package var key: Self {
        var member = self
        member.isKey = true
        return member
    }

    package var isForeign: Bool {
        switch role {
        case .reference, .address: true
        default: false
        }
    }

    package var isIgnored: Bool { role == .ignored }

    /// Whether only its place is compared: see ``Role/id``.
    package var isPlace: Bool { [.id, .time, .secret].contains(role) }

    fileprivate var comparedSQL: String { isPlace ? "\(sql) IS NOT NULL" : sql }
}

/// The objects of a platform that a comparison of two states looks at.
package struct ComparedState: Sendable {
    /// A kind stands behind those that it refers to.
    package let kinds: [ComparedKind]
    /// The tables without such an object, with the reason.
    package let leftOut: [String: String]

    package init(_ kinds: [ComparedKind] = [], leftOut: [String: String] = [:]) {
        self.kinds = kinds
        self.leftOut = leftOut
    }
}

extension ComparedState {
    /// The engine's, before those of the platforms.
    package static let ofEngine = ComparedState(
        [
            ComparedKind(
                "organization", in: "organizations", row: "id", order: "id",
                [.value("organization", "name").key, .flag("sdk_flagging"), .id("id")]),
            ComparedKind(
                "api_token", in: "api_tokens", order: "organization_id",
                [.reference("organization", "organization_id", to: "organization").key, .secret("token")]),
            ComparedKind(
                "user", in: "users", row: "id", order: "id",
                [
                    .value("username").key, .reference("organization", "organization_id", to: "organization"),
                    .value("unique_user_id"), .value("email"), .value("first_name"), .value("last_name"),
                    .flag("test_user", "is_test_user"), .value("submissions"), .document("rate_limits"),
                    .time("created_at"), .id("id"),
                ]),
            ComparedKind("outcome", in: "rules", where: "kind = 'outcome'", rule, unshown: ["kind", "position"]),
            ComparedKind("fault", in: "rules", where: "kind = 'fault'", rule, unshown: ["kind", "position"]),
        ],
        leftOut: [
            "world": "the clock's mode, the seed data, the scenario and the settings are read by themselves",
            "counters": "ids follow from them",
            "due": "the object that it is for is compared, in the state in which it waits",
            "past_work": "history", "control_calls": "history",
            "events": "history; support's messages in it are compared",
            "sqlite_sequence": "rows' numbers follow from it",
        ])

    /// The engine's, behind those of the platforms: webhooks are about their objects.
    package static let ofWebhooks = [
        ComparedKind(
            "subscription", in: "subscriptions", id: "id",
            [
                .address("url").key, .reference("organization", "organization_id", to: "organization"),
                .value("username"), .value("version"), .value("events"), .value("format"), .value("signature"),
                .flag("pending", "is_pending"), .secret("secret_key", "secret"), .id("verification"),
                .time("created_at"),
                .id("id"),
            ], unshown: ["position"]),
        ComparedKind(
            "delivery", in: "deliveries", id: "id",
            [
                .reference("subscription", "subscription_id").key, .value("event").key,
                .reference("subject", "entrupy_id").key, .value("status"), .value("attempts"),
                .value("fault", "fault_effect"), .time("next_attempt_at"), .time("created_at"), .id("event_id"),
                .id("id"),
                .ignored("body"),
            ], unshown: ["position", "format", "is_held", "fault_id", "fault_attempt", "cause", "trace"]),
        ComparedKind(
            "attempt", in: "attempts", order: "delivery_id, number",
            [
                .reference("delivery", "delivery_id").key, .value("number").key, .value("status"), .value("error"),
                .value("signature"), .id("fault_id"), .time("at"), .ignored("milliseconds"), .ignored("answer"),
            ]),
    ]

    private static let rule: [ComparedMember] = [
        .value("match", "json_extract(document, '$.match')").key,
        .document("rule", "json_remove(document, '$.match') || ''"), .value("seen"),
        .value("hits"), .time("created_at"), .id("id"),
    ]
}

extension Transaction {
    /// Whether the schema is the current one. A snapshot of another version is not read.
    ///
    /// - Parameter migrations: those of the platforms.
    package func hasSchema(_ migrations: [Migration]) throws -> Bool {
        let migrator = Schema.migrator(appending: migrations)
        do {
            return try migrator.appliedIdentifiers(database) == Set(migrator.migrations)
        } catch {
            throw StorageError.from(error)
        }
    }

    /// All API tokens, which no output may have.
    package func apiTokens() throws -> [String] { try all("SELECT token FROM api_tokens ORDER BY token") { try $0[0] } }
}
