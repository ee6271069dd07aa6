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
                ("key", .word(NamespaceKey.names)),
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
        case .requestCounter, .sequenceCounter: .decimal(0...1_000_000_000_000_000)
        case .restoredAt, .deliveriesForgottenBefore: .decimal(0...Instant.end.microseconds)
        case .renderingSalt: .text(0...100)
        case .scenario: .object()
        case .snapshot: .object()
        }
    }

    /// The valid rows of all other tables.
    package static func tables(_ seed: Seed) -> [TableDomain] {
        let platforms = seed.platforms
        let names = names(seed)
        // Each platform names domains for itself: two of them may mean different ones by a name.
        let parts = zip(platforms.all, seed.parts).flatMap { platform, part in
            let names = names.merging(platform.tables.names(part)) { _, own in own }
            return platform.tables.domains.map { $0.resolved(names) }
        }
        return (own.map { $0.resolved(names) } + parts + [sequences(declared(platforms))]).map { table in
            platforms.all.reduce(table) { $1.tables.extended($0) }
        }
    }

    /// The declarations of all tables, without what the seed data decides.
    static func declared(_ platforms: Platforms) -> [TableDomain] {
        own + platforms.all.flatMap(\.tables.domains)
    }

    private static let own = [
        OrganizationRecord.table.domain,
        TableDomain("api_tokens", .columns(["token"]), [("token", apiToken.secret), ("organization_id", .row)])
            .references("organization_id", to: "organizations", "id"),
        SubscriptionRecord.table.domain, DeliveryRecord.table.domain, AttemptRecord.table.domain,
        EventRecord.table.domain, DueRecord.table.domain, PastWorkRecord.table.domain,
        ControlCallRecord.table.domain,
        TableDomain("counters", .columns(["kind"]), [("kind", .named("id_kind")), ("value", .count)]),
        RuleRecord.table.domain,
    ]

    private static let apiToken = ColumnDomain.text(1...500) {
        $0.allSatisfy { $0 > 0x20 && $0 < 0x7f } ? nil : "must be printable ASCII"
    }

    /// The domains that stand in the declarations by name, but for those of the platforms.
    private static func names(_ seed: Seed) -> [String: ColumnDomain] {
        let platforms = seed.platforms
        var names = Dictionary(uniqueKeysWithValues: platforms.idKinds.map { ("id \($0.name)", ColumnDomain.id($0)) })
        names["object"] = .object()
        names["id_kind"] = .word(platforms.idKinds.map(\.name))
        names["event_kind"] = .word(platforms.eventKinds.map(\.name))
        names["due_kind"] = .word(platforms.dueKinds.map(\.name))
        names["fault"] = .object { _ = try FaultRule($0, id: "stored", platforms) }
        names["outcome"] = .object { _ = try OutcomeRule($0, seed, .stored) }
        names["webhook_fault"] = .word(WebhookEffect.all.map(\.name))
        names["webhook_version"] = .word(platforms.webhookVersions)
        names["webhook_format"] = .word(platforms.webhookFormats)
        names["webhook_signature"] = .word(platforms.webhookSignatures)
        names["webhook_secret"] = .text(1...WebhookSignature.maxSecretBytes)
        names["webhook_url"] = .text(1...WebhookTarget.maxBytes) { text in
            if case .failure(let problem) = WebhookTarget.read(text) { problem.text } else { nil }
        }
        names["webhook_events"] = .text(1...1000) { text in
            let known = platforms.webhookEvents
            return text.split(separator: " ").allSatisfy { known.contains(String($0)) }
                ? nil : "must be some of \(known.joined(separator: " "))"
        }
        names["delivery_format"] = .word(platforms.webhookFormats + [DeliveryRecord.verification])
        let events = platforms.webhookEvents + [DeliveryRecord.verification]
        names["delivery_event"] = .text(1...100) { text in
            events.contains { $0.isIdentical(to: text) } || platforms.isFutureWebhookEvent(text)
                ? nil : "must be one of \(events.joined(separator: ", "))"
        }
        names["delivery_body"] = body(platforms)
        return names
    }

    /// The body of a delivery. A verification request to a domain has its URL there, which is checked again at each
    /// attempt.
    private static func body(_ platforms: Platforms) -> ColumnDomain {
        var domains = Dictionary(
            uniqueKeysWithValues: platforms.webhookFormats.map { ($0, ColumnDomain.encodedObject) })
        domains[DeliveryRecord.verification] = .blob(1...2 * WebhookTarget.maxBytes)
        return .choice(domains)
    }

    /// SQLite's own row counters.
    private static func sequences(_ tables: [TableDomain]) -> TableDomain {
        let counted = tables.filter { if case .counted = $0.key { true } else { false } }
        return TableDomain(
            "sqlite_sequence", .row,
            [("name", .word(counted.map(\.name))), ("seq", .integer(0...Transaction.rowIDs.upperBound))]
        ).check(
            "name", where: "EXISTS (SELECT 1 FROM sqlite_sequence o WHERE o.name = r.name AND o.rowid <> r.rowid)",
            "must be unique")
    }
}
