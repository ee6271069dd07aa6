import EntrupyAPI
import EntrupyStorage
import Simulation
import Storage

/// Entrupy's tables, with the valid values of their columns [D snapshots].
enum EntrupyDomains {
    static let tables = [
        TableDomain(
            "bundles", .columns(["organization_id", "bundle_id"]),
            [("organization_id", .row), ("bundle_id", .text(1...255))]
        ).references("organization_id", to: "organizations", "id"),
        UserRecord.table.domain, PartnerUserRecord.table.domain, SignedRequestRecord.table.domain,
        SessionRecord.table.domain,
        TableDomain("logins", .row, [("user_id", .row), ("at", .time)]).references("user_id", to: "users", "id"),
        TableDomain(
            "partner_sessions", .columns(["token"]), [("token", .id(.partnerSession).secret), ("username", .name)],
            identity: ("token", IDKind.partnerSession.name)
        ).references("username", to: "partner_users", "username"),
        CaptureRecord.table.domain, CaptureImageRecord.table.domain, RetakeRecord.table.domain,
        ItemRecord.table.domain,
    ]

    /// The domains that stand in the declarations by name.
    static func names(_ seed: EntrupySeed) -> [String: ColumnDomain] {
        [
            "category": .word(seed.catalogue.categories.map(\.id)),
            "certificate": .id(.item),
            "image_bytes": .integer(1...Int64(ReceivedImage.limit)),
            "image_type": .word(ImageFormat.names),
            "market_edge": .object(MarketEdges.check),
            "rate_limits": .object { _ = try EntrupySettings.limits(ofUser: $0, namespace: .documented) },
            "unique_user_id": .text(8...40, reading: TextRules.uniqueUserIDProblem),
        ]
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
}
