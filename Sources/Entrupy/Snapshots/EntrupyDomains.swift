import EntrupyAPI
import Simulation
import Storage

/// The valid values of every column of Entrupy's tables [D snapshots].
enum EntrupyDomains {
    static func tables(_ seed: EntrupySeed) -> [TableDomain] {
        users + access + captures(seed) + items(seed)
    }

    /// A table of the engine, with what its rows refer to.
    static func extended(_ table: TableDomain) -> TableDomain {
        switch table.name {
        case "deliveries":
            table.references("entrupy_id", to: "items", "entrupy_id", where: "r.format <> 'verification'")
        case "due":
            table.references("subject", to: "captures", "id", where: "r.kind = 'capture.timeout'")
                .references("subject", to: "items", "entrupy_id", where: "r.kind = 'result'")
                .references("subject", to: "sessions", "token", where: "r.kind = 'session.expiry'")
        default: table
        }
    }

    /// The columns that hold each id of a kind once.
    static let idColumns: [(kind: IDKind, table: String, column: String)] = [
        // Not of items: an id that an item has is passed over.
        (.capture, "captures", "id"), (.session, "sessions", "token"),
        (.signedRequest, "signed_requests", "id"), (.partnerSession, "partner_sessions", "token"),
        (.retake, "retakes", "id"),
    ]

    // MARK: Accounts

    private static let uniqueUserID = ColumnDomain.text(8...40, reading: TextRules.uniqueUserIDProblem)

    private static let users = [
        TableDomain(
            "bundles", .columns(["organization_id", "bundle_id"]),
            [("organization_id", .row), ("bundle_id", .text(1...255))]
        ).references("organization_id", to: "organizations", "id"),
        TableDomain(
            "users", .row,
            [
                ("id", .row), ("organization_id", .row), ("username", .text(1...300)),
                ("unique_user_id", uniqueUserID), ("email", .name.orNull), ("first_name", .name.orNull),
                ("last_name", .name.orNull), ("is_test_user", .flag), ("submissions", .count), ("created_at", .time),
                (
                    "rate_limits",
                    .object { _ = try EntrupySettings.limits(ofUser: $0, namespace: .documented) }.orNull
                ),
            ]
        ).references("organization_id", to: "organizations", "id"),
        TableDomain(
            "partner_users", .row,
            [
                ("organization_id", .row), ("username", .name), ("password", .name.secret),
                ("unique_user_id", uniqueUserID), ("email", .name), ("first_name", .name.orNull),
                ("last_name", .name.orNull),
            ]
        ).references("organization_id", to: "organizations", "id"),
    ]

    // MARK: Access

    private static let access = [
        TableDomain(
            "signed_requests", .columns(["id"]),
            [
                ("id", .id(.signedRequest).secret), ("user_id", .row), ("bundle_id", .prose.orNull),
                ("issued_at", .time), ("expires_at", .time), ("used_at", .time.orNull),
            ]
        ).references("user_id", to: "users", "id"),
        TableDomain(
            "sessions", .columns(["token"]),
            [
                ("token", .id(.session).secret), ("user_id", .row), ("bundle_id", .prose.orNull),
                ("created_at", .time), ("soft_expires_at", .time), ("expires_at", .time), ("ended_at", .time.orNull),
                ("end_reason", .word(["logged_out", "expired", "revoked"]).orNull),
            ]
        ).references("user_id", to: "users", "id"),
        TableDomain("logins", .row, [("user_id", .row), ("at", .time)]).references("user_id", to: "users", "id"),
        TableDomain(
            "partner_sessions", .columns(["token"]), [("token", .id(.partnerSession).secret), ("username", .name)]
        ).references("username", to: "partner_users", "username"),
    ]

    // MARK: Captures

    private static let configType = ColumnDomain.word(ConfigType.allCases.map(\.rawValue))

    private static func captures(_ seed: EntrupySeed) -> [TableDomain] {
        let category = ColumnDomain.word(seed.catalogue.categories.map(\.id))
        return [
            TableDomain(
                "captures", .row,
                [
                    ("position", .row), ("id", .id(.capture)), ("user_id", .row),
                    ("status", .word(Capture.Status.names)), ("config_type", configType),
                    ("category", category), ("item", .object()), ("started_at", .time), ("expires_at", .time),
                    ("submitted_at", .time.orNull), ("ended_at", .time.orNull), ("entrupy_id", .id(.item).orNull),
                    ("retake_id", .id(.retake).orNull),
                    ("activity", .word(Activity.allCases.map(\.rawValue))),
                    ("fingerprint_parent", .id(.item).orNull),
                ]
            ).references("user_id", to: "users", "id").references("entrupy_id", to: "items", "entrupy_id")
                .references("retake_id", to: "retakes", "id")
                .references("fingerprint_parent", to: "items", "entrupy_id"),
            TableDomain(
                "capture_images", .columns(["capture_id", "region_id"]),
                [
                    ("capture_id", .id(.capture)), ("region_id", .identifier), ("sha256", .sha256),
                    ("bytes", .integer(1...Int64(ReceivedImage.limit))),
                    ("media_type", .word(ImageFormat.allCases.map(\.rawValue))), ("uploaded_at", .time),
                    ("in_use", .flag),
                ]
            ).references("capture_id", to: "captures", "id"),
            TableDomain(
                "retakes", .row,
                [
                    ("position", .row), ("id", .id(.retake)), ("entrupy_id", .id(.item)), ("user_id", .row),
                    ("regions", .prose), ("message", .prose.orNull), ("asked_at", .time),
                    ("answered_at", .time.orNull), ("capture_id", .id(.capture).orNull),
                ]
            ).references("entrupy_id", to: "items", "entrupy_id").references("user_id", to: "users", "id")
                .references("capture_id", to: "captures", "id"),
        ]
    }

    // MARK: Items

    private static func items(_ seed: EntrupySeed) -> [TableDomain] {
        let result = ColumnDomain.word(ResultID.names)
        return [
            TableDomain(
                "items", .row,
                [
                    ("position", .row), ("entrupy_id", .id(.item)), ("capture_id", .id(.capture).orNull),
                    ("organization_id", .row), ("user_id", .row), ("config_type", configType),
                    ("category", .word(seed.catalogue.categories.map(\.id))), ("brand_id", .prose),
                    ("brand_name", .prose), ("customer_item_id", .text(1...2000).orNull), ("metadata", .object()),
                    ("capture_started_at", .time.orNull), ("submitted_at", .time), ("updated_at", .time),
                    ("result_id", result), ("result_final", .flag), ("result_reason", .identifier.orNull),
                    ("result_at", .time.orNull), ("initial_result_id", result.orNull),
                    ("initial_result_at", .time.orNull),
                    ("decided_by", .word(Decision.Rule.allCases.map(\.rawValue))),
                    ("planned_result_id", result.orNull), ("planned_reason", .identifier.orNull),
                    ("flag_id", .identifier), ("flag_reason_id", .identifier.orNull), ("flag_message", .prose.orNull),
                    ("flagged_at", .time.orNull), ("flag_resolved_at", .time.orNull), ("flag_note", .prose.orNull),
                    ("certificate_id", .id(.item, .certificate).orNull), ("revision", .count),
                    // Uploaded renderings are never used: see ``NamespaceKey/renderingSalt``.
                    ("rendering_key", .integer(.min ... .max).orNull), ("sdk_rendering", .unread),
                    ("catalog", .object().orNull), ("certificate_holder", .name.orNull),
                    ("activity", .word(Activity.allCases.map(\.rawValue))),
                    ("fingerprint_parent", .id(.item).orNull),
                    ("market_edge", .object(MarketEdges.check).orNull),
                ]
            ).references("organization_id", to: "organizations", "id").references("user_id", to: "users", "id")
                .references("capture_id", to: "captures", "id")
        ]
    }
}
