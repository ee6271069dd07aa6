import Storage

/// The valid values of every column of a namespace's database. Each row of an uploaded database is checked against
/// them [D snapshots].
///
/// A test fails if a column of the schema has no domain here.
package enum NamespaceDomains {
    /// The values that a namespace holds about itself. They are checked first: the other domains depend on its seed
    /// data.
    package static func namespaceValues(_ platforms: Platforms) -> TableDomain {
        let values = NamespaceKey.allCases.map { ($0.rawValue, value(of: $0, platforms)) }
        return TableDomain(
            "world", .columns(["key"]),
            [
                ("key", .word(NamespaceKey.allCases.map(\.rawValue))),
                ("value", .choice(Dictionary(uniqueKeysWithValues: values))),
            ])
    }

    private static func value(of key: NamespaceKey, _ platforms: Platforms) -> ColumnDomain {
        switch key {
        case .randomSeed: .decimal(0...Int64(SeededGenerator.maxSeed))
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
        case .settings, .madeSettings: .object { _ = try Settings($0, platforms) }
        case .ttl: .decimal(1_000_000...Span.limit.microseconds)
        case .requestCounter: .decimal(0...1_000_000_000_000_000)
        case .renderingSalt: .text(0...100)
        case .scenario: .object()
        case .snapshot: .object()
        }
    }

    /// The domains of all other tables.
    package static func tables(_ seed: Seed) -> [TableDomain] {
        let platforms = seed.platforms
        let own =
            accounts + webhooks(platforms) + time(platforms)
            + [counters(platforms), rules(seed), sequences(platforms)]
        let all = own + zip(platforms.all, seed.parts).flatMap { $0.tables($1) }
        return platforms.all.reduce(all) { tables, platform in tables.map { platform.extended($0) } }
    }

    // MARK: Accounts

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
        ).references("organization_id", to: "organizations", "id"),
    ]

    // MARK: Subscriptions

    private static func webhooks(_ platforms: Platforms) -> [TableDomain] {
        [subscriptions(platforms), deliveries(platforms), attempts(platforms)]
    }

    private static func subscriptions(_ platforms: Platforms) -> TableDomain {
        TableDomain(
            "subscriptions", .row,
            [
                ("position", .row), ("id", .id(.subscription)), ("organization_id", .row),
                ("username", .text(1...1000).orNull), ("version", .word(platforms.webhookVersions)),
                (
                    "url",
                    .text(1...WebhookTarget.maxBytes) { text in
                        if case .failure(let problem) = WebhookTarget.read(text) { problem.text } else { nil }
                    }
                ), ("secret", .text(1...WebhookSignature.maxSecretBytes).secret),
                (
                    "events",
                    .text(1...1000) { text in
                        let known = platforms.webhookEvents
                        return text.split(separator: " ").allSatisfy { known.contains(String($0)) }
                            ? nil : "must be some of \(known.joined(separator: " "))"
                    }
                ), ("created_at", .time), ("format", .word(platforms.webhookFormats)),
                ("signature", .word(platforms.webhookSignatures)), ("verification", .id(.verification).orNull),
                ("is_pending", .flag),
            ]
        ).references("organization_id", to: "organizations", "id")
            .check(
                "is_pending", where: "r.is_pending AND r.verification IS NULL",
                "must be 0 without a verification")
    }

    private static func deliveries(_ platforms: Platforms) -> TableDomain {
        TableDomain(
            "deliveries", .row,
            [
                // First, because the form of the body depends on it.
                ("format", .word(platforms.webhookFormats + [DeliveryRecord.verification])),
                ("position", .row), ("id", .id(.delivery)), ("subscription_id", .id(.subscription)),
                ("entrupy_id", .text(1...100)),
                ("event", .word(platforms.webhookEvents + [DeliveryRecord.verification])),
                ("event_id", .id(.webhookEvent)),
                ("body", body(platforms)), ("created_at", .time),
                ("status", .word(DeliveryRecord.Status.allCases.map(\.rawValue))), ("attempts", attemptCount),
                ("next_attempt_at", .time.orNull), ("fault_id", .id(.fault).orNull),
                ("fault_effect", .word(FaultRule.EffectName.ofWebhooks.map(\.rawValue)).orNull),
                ("fault_attempt", attemptCount.orNull),
                ("is_held", .flag),
            ]
        ).check(
            "event", where: "(r.event = 'verification') <> (r.format = 'verification')",
            "must be verification exactly where the format is"
        )
        .references(
            "entrupy_id", to: "subscriptions", "id",
            where: """
                r.format = 'verification' AND r.status IN ('waiting', 'sending', 'retrying')
                """
        )
        // A finished delivery may be older than its deleted subscription.
        .references(
            "subscription_id", to: "subscriptions", "id", where: "r.status IN ('waiting', 'sending', 'retrying')"
        )
        .check(
            "attempts", where: "r.attempts <> (SELECT COUNT(*) FROM attempts a WHERE a.delivery_id = r.id)",
            "must be the number of rows that the delivery has in attempts")
    }

    private static func attempts(_ platforms: Platforms) -> TableDomain {
        TableDomain(
            "attempts", .columns(["delivery_id", "number"]),
            [
                ("delivery_id", .id(.delivery)), ("number", .integer(1...1_000_000)), ("at", .time),
                ("status", .integer(0...999).orNull), ("error", .prose.orNull), ("milliseconds", .real(0...1e12)),
                ("answer", .prose.orNull), ("fault_id", .id(.fault).orNull),
                ("signature", .word(platforms.webhookSignatures).orNull),
            ]
        ).references("delivery_id", to: "deliveries", "id").check(
            "number", where: "r.number > (SELECT d.attempts FROM deliveries d WHERE d.id = r.delivery_id)",
            "must not be more than the attempts of its delivery")
    }

    /// The body of a delivery. A verification request to a domain has its URL there, which is checked again at each
    /// attempt.
    private static func body(_ platforms: Platforms) -> ColumnDomain {
        var domains = Dictionary(
            uniqueKeysWithValues: platforms.webhookFormats.map { ($0, ColumnDomain.encodedObject) })
        domains[DeliveryRecord.verification] = .blob(1...2 * WebhookTarget.maxBytes)
        return .choice(domains)
    }

    private static let attemptCount = ColumnDomain.integer(0...1_000_000)

    // MARK: Events and due work

    private static func time(_ platforms: Platforms) -> [TableDomain] {
        [
            TableDomain(
                "events", .row,
                [
                    ("sequence", .row), ("at", .time), ("kind", .word(platforms.eventKinds.map(\.name))),
                    ("subject", .text(0...1000)), ("data", .object()),
                ]),
            TableDomain(
                "due", .row,
                [
                    ("id", .row), ("due_at", .time), ("kind", .word(platforms.dueKinds.map(\.name))),
                    ("subject", .text(1...1000).secret),
                ]
            ).references("subject", to: "deliveries", "id", where: "r.kind = 'webhook.attempt'")
                .check(
                    "subject",
                    where: "r.kind = 'scenario.action' AND (r.subject GLOB '*[^0-9]*' OR length(r.subject) > 4)",
                    "must be the index of an action in the scenario's timeline"),
        ]
    }

    // MARK: Numbers and rules

    private static func counters(_ platforms: Platforms) -> TableDomain {
        TableDomain(
            "counters", .columns(["kind"]), [("kind", .word(platforms.idKinds.map(\.name))), ("value", .count)])
    }

    private static func rules(_ seed: Seed) -> TableDomain {
        let platforms = seed.platforms
        return TableDomain(
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
                        RuleRecord.Kind.fault.rawValue: .object { _ = try FaultRule($0, id: "stored", platforms) },
                        RuleRecord.Kind.outcome.rawValue: .object { document in
                            _ = try OutcomeRule(document, seed, .stored)
                        },
                    ])
                ), ("created_at", .time), ("seen", .count), ("hits", .count),
            ])
    }

    /// SQLite's own row counters.
    private static func sequences(_ platforms: Platforms) -> TableDomain {
        let tables = platforms.all.flatMap(\.countedTables) + ["subscriptions", "deliveries", "rules", "events", "due"]
        return TableDomain(
            "sqlite_sequence", .row,
            [("name", .word(tables)), ("seq", .integer(0...Transaction.rowIDs.upperBound))]
        ).check(
            "name", where: "EXISTS (SELECT 1 FROM sqlite_sequence o WHERE o.name = r.name AND o.rowid <> r.rowid)",
            "must be unique")
    }
}
