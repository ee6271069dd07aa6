import EntrupyAPI
import Storage

/// The valid values of every column of a namespace's database. Each row of an uploaded database is checked against
/// them [D snapshots].
///
/// A test fails if a column of the schema has no domain here.
enum NamespaceDomains {
    /// The values that a namespace holds about itself. They are checked first: the other domains depend on its seed
    /// data.
    static let world = TableDomain(
        "world", .columns(["key"]),
        [
            ("key", .word(NamespaceKey.allCases.map(\.rawValue))),
            (
                "value",
                .choice(Dictionary(uniqueKeysWithValues: NamespaceKey.allCases.map { ($0.rawValue, value(of: $0)) }))
            ),
        ])

    private static func value(of key: NamespaceKey) -> ColumnDomain {
        switch key {
        case .randomSeed: .decimal(0...Int64(SeededGenerator.largestSeed))
        case .seedName: .text(1...1000)
        case .seedText: .text(1...100_000_000)
        case .clockMode: .word(["running", "frozen"])
        // A moment, or the offset from real time.
        case .clockValue: .decimal(-Instant.end.microseconds...Instant.end.microseconds)
        case .madeFrozenAt:
            .text(
                0...20,
                reading: {
                    $0.isEmpty || Int64($0).map { 0...Instant.end.microseconds ~= $0 } == true
                        ? nil : "must be a moment in microseconds, or empty"
                })
        case .settings, .madeSettings: .object { _ = try Settings($0, flagEligible: []) }
        case .ttl: .decimal(1_000_000...Span.limit.microseconds)
        case .requestCounter: .decimal(0...1_000_000_000_000_000)
        case .renderingSalt: .text(0...100)
        case .scenario: .object()
        case .snapshot: .object()
        }
    }

    /// The domains of all other tables.
    static func tables(_ seed: Seed) -> [TableDomain] {
        accounts + access + captures(seed) + items(seed) + webhooks + time + [counters, rules(seed), sequences]
    }

    // MARK: Who there is

    private static let uniqueUserID = ColumnDomain.text(8...40, reading: TextRules.uniqueUserIDProblem)

    private static let accounts = [
        TableDomain(
            "organizations", .row, [("id", .row), ("name", .text(1...100)), ("sdk_flagging", .flag)]),
        TableDomain(
            "api_tokens", .columns(["token"]),
            [
                (
                    "token",
                    .text(1...500) { $0.allSatisfy { $0 > 0x20 && $0 < 0x7f } ? nil : "must be printable ASCII" }.secret
                ), ("organization_id", .row),
            ]
        ).referring("organization_id", to: "organizations", "id"),
        TableDomain(
            "bundles", .columns(["organization_id", "bundle_id"]),
            [("organization_id", .row), ("bundle_id", .text(1...255))]
        ).referring("organization_id", to: "organizations", "id"),
        TableDomain(
            "users", .row,
            [
                ("id", .row), ("organization_id", .row), ("username", .text(1...300)),
                ("unique_user_id", uniqueUserID), ("email", .name.orNull), ("first_name", .name.orNull),
                ("last_name", .name.orNull), ("is_test_user", .flag), ("submissions", .count), ("created_at", .time),
                (
                    "rate_limits",
                    .object { _ = try Settings.limits(ofUser: $0, namespace: .documented) }.orNull
                ),
            ]
        ).referring("organization_id", to: "organizations", "id"),
        TableDomain(
            "partner_users", .row,
            [
                ("organization_id", .row), ("username", .name), ("password", .name.secret),
                ("unique_user_id", uniqueUserID), ("email", .name), ("first_name", .name.orNull),
                ("last_name", .name.orNull),
            ]
        ).referring("organization_id", to: "organizations", "id"),
    ]

    // MARK: Who is let in

    private static let access = [
        TableDomain(
            "signed_requests", .columns(["id"]),
            [
                ("id", .id(.signedRequest).secret), ("user_id", .row), ("bundle_id", .prose.orNull),
                ("issued_at", .time), ("expires_at", .time), ("used_at", .time.orNull),
            ]
        ).referring("user_id", to: "users", "id"),
        TableDomain(
            "sessions", .columns(["token"]),
            [
                ("token", .id(.session).secret), ("user_id", .row), ("bundle_id", .prose.orNull),
                ("created_at", .time), ("soft_expires_at", .time), ("expires_at", .time), ("ended_at", .time.orNull),
                ("end_reason", .word(["logged_out", "expired", "revoked"]).orNull),
            ]
        ).referring("user_id", to: "users", "id"),
        TableDomain("logins", .row, [("user_id", .row), ("at", .time)]).referring("user_id", to: "users", "id"),
        TableDomain(
            "partner_sessions", .columns(["token"]), [("token", .id(.partnerSession).secret), ("username", .name)]
        ).referring("username", to: "partner_users", "username"),
    ]

    // MARK: What is captured

    private static let configType = ColumnDomain.word(ConfigType.allCases.map(\.rawValue))

    private static func captures(_ seed: Seed) -> [TableDomain] {
        let category = ColumnDomain.word(seed.catalogue.categories.map(\.id))
        return [
            TableDomain(
                "captures", .row,
                [
                    ("position", .row), ("id", .id(.capture)), ("user_id", .row),
                    ("status", .word(Capture.Status.allCases.map(\.rawValue))), ("config_type", configType),
                    ("category", category), ("item", .object()), ("started_at", .time), ("expires_at", .time),
                    ("submitted_at", .time.orNull), ("ended_at", .time.orNull), ("entrupy_id", .id(.item).orNull),
                    ("retake_id", .id(.retake).orNull),
                ]
            ).referring("user_id", to: "users", "id").referring("entrupy_id", to: "items", "entrupy_id")
                .referring("retake_id", to: "retakes", "id"),
            TableDomain(
                "capture_images", .columns(["capture_id", "region_id"]),
                [
                    ("capture_id", .id(.capture)), ("region_id", .identifier), ("sha256", .sha256),
                    ("bytes", .integer(1...Int64(ReceivedImage.limit))),
                    ("media_type", .word(ImageFormat.allCases.map(\.rawValue))), ("uploaded_at", .time),
                    ("in_use", .flag),
                ]
            ).referring("capture_id", to: "captures", "id"),
            TableDomain(
                "retakes", .row,
                [
                    ("position", .row), ("id", .id(.retake)), ("entrupy_id", .id(.item)), ("user_id", .row),
                    ("regions", .prose), ("message", .prose.orNull), ("asked_at", .time),
                    ("answered_at", .time.orNull), ("capture_id", .id(.capture).orNull),
                ]
            ).referring("entrupy_id", to: "items", "entrupy_id").referring("user_id", to: "users", "id")
                .referring("capture_id", to: "captures", "id"),
        ]
    }

    // MARK: What was submitted

    private static func items(_ seed: Seed) -> [TableDomain] {
        let result = ColumnDomain.word(ResultID.all)
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
                    ("certificate_id", .id(.certificate).orNull), ("revision", .count),
                    // Uploaded renderings are never used: see ``NamespaceKey/renderingSalt``.
                    ("rendering_key", .integer(.min ... .max).orNull), ("sdk_rendering", .unread),
                    ("catalog", .object().orNull), ("certificate_holder", .name.orNull),
                ]
            ).referring("organization_id", to: "organizations", "id").referring("user_id", to: "users", "id")
                .referring("capture_id", to: "captures", "id")
        ]
    }

    // MARK: Who is told

    private static let webhooks = [
        TableDomain(
            "subscriptions", .row,
            [
                ("position", .row), ("id", .id(.subscription)), ("organization_id", .row),
                ("username", .text(1...1000).orNull), ("version", .word(PartnerVersion.accepted + ["2"])),
                (
                    "url",
                    .text(1...WebhookTarget.maxBytes) { text in
                        if case .failure(let problem) = WebhookTarget.read(text) { problem.text } else { nil }
                    }
                ), ("secret", .text(1...Subscriptions.maxSecretBytes).secret),
                (
                    "events",
                    .text(1...1000) { text in
                        let known = WebhookEvent.allCases.map(\.rawValue)
                        return text.split(separator: " ").allSatisfy { known.contains(String($0)) }
                            ? nil : "must be some of \(known.joined(separator: " "))"
                    }
                ), ("created_at", .time),
            ]
        ).referring("organization_id", to: "organizations", "id"),
        TableDomain(
            "deliveries", .row,
            [
                ("position", .row), ("id", .id(.delivery)), ("subscription_id", .id(.subscription)),
                ("entrupy_id", .id(.item)), ("event", .word(WebhookEvent.allCases.map(\.rawValue))),
                ("event_id", .id(.webhookEvent)), ("body", .encodedObject), ("created_at", .time),
                ("status", .word(DeliveryRecord.Status.allCases.map(\.rawValue))), ("attempts", attempts),
                ("next_attempt_at", .time.orNull), ("fault_id", .id(.fault).orNull),
                ("fault_effect", .word(FaultRule.EffectName.ofWebhooks.map(\.rawValue)).orNull),
                ("fault_attempt", attempts.orNull),
                ("is_held", .flag),
            ]
        ).referring("entrupy_id", to: "items", "entrupy_id")
            // A finished delivery may be older than its deleted subscription.
            .referring(
                "subscription_id", to: "subscriptions", "id", where: "r.status IN ('waiting', 'sending', 'retrying')"
            )
            .refusing(
                "attempts", where: "r.attempts <> (SELECT COUNT(*) FROM attempts a WHERE a.delivery_id = r.id)",
                "must be the number of rows that the delivery has in attempts"),
        TableDomain(
            "attempts", .columns(["delivery_id", "number"]),
            [
                ("delivery_id", .id(.delivery)), ("number", .integer(1...1_000_000)), ("at", .time),
                ("status", .integer(0...999).orNull), ("error", .prose.orNull), ("milliseconds", .real(0...1e12)),
                ("answer", .prose.orNull), ("fault_id", .id(.fault).orNull),
            ]
        ).referring("delivery_id", to: "deliveries", "id").refusing(
            "number", where: "r.number > (SELECT d.attempts FROM deliveries d WHERE d.id = r.delivery_id)",
            "must not be more than the attempts of its delivery"),
    ]

    private static let attempts = ColumnDomain.integer(0...1_000_000)

    // MARK: What has happened, and what will

    private static let time = [
        TableDomain(
            "events", .row,
            [
                ("sequence", .row), ("at", .time), ("kind", .word(EventKind.allCases.map(\.rawValue))),
                ("subject", .text(0...1000)), ("data", .object()),
            ]),
        TableDomain(
            "due", .row,
            [
                ("id", .row), ("due_at", .time), ("kind", .word(DueWork.Kind.allCases.map(\.rawValue))),
                ("subject", .text(1...1000).secret),
            ]
        ).referring("subject", to: "captures", "id", where: "r.kind = 'capture.timeout'")
            .referring("subject", to: "items", "entrupy_id", where: "r.kind = 'result'")
            .referring("subject", to: "sessions", "token", where: "r.kind = 'session.expiry'")
            .referring("subject", to: "deliveries", "id", where: "r.kind = 'webhook.attempt'")
            .refusing(
                "subject",
                where: "r.kind = 'scenario.action' AND (r.subject GLOB '*[^0-9]*' OR length(r.subject) > 4)",
                "must be the index of an action in the scenario's timeline"),
    ]

    // MARK: Numbers and rules

    private static let counters = TableDomain(
        "counters", .columns(["kind"]),
        [("kind", .word(SeededGenerator.Kind.allCases.map(\.rawValue))), ("value", .count)])

    private static func rules(_ seed: Seed) -> TableDomain {
        TableDomain(
            "rules", .row,
            [
                // First, because the form of the document depends on it.
                ("kind", .word(RuleRecord.Kind.allCases.map(\.rawValue))), ("position", .row),
                (
                    "id",
                    .choice([
                        RuleRecord.Kind.fault.rawValue: .id(.fault), RuleRecord.Kind.outcome.rawValue: .id(.outcome),
                    ])
                ),
                (
                    "document",
                    .choice([
                        RuleRecord.Kind.fault.rawValue: .object { _ = try FaultRule($0, id: "stored") },
                        RuleRecord.Kind.outcome.rawValue: .object {
                            _ = try OutcomeRule($0, id: "stored", catalogue: seed.catalogue, isStored: true)
                        },
                    ])
                ), ("created_at", .time), ("seen", .count), ("hits", .count),
            ])
    }

    /// SQLite's own row counters.
    private static let sequences = TableDomain(
        "sqlite_sequence", .row,
        [
            ("name", .word(["captures", "items", "retakes", "subscriptions", "deliveries", "rules", "events", "due"])),
            ("seq", .integer(0...Transaction.rowIDs.upperBound)),
        ]
    ).refusing(
        "name", where: "EXISTS (SELECT 1 FROM sqlite_sequence o WHERE o.name = r.name AND o.rowid <> r.rowid)",
        "must be unique")
}
