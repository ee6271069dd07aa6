import AppComponentsAPI
import Simulation
import SimulationAPI
import Storage

/// The valid values of every column of the tables of App Components [D snapshots].
enum ComponentDomains {
    static let tables = [
        TableDomain(
            "component_codes", .columns(["code"]),
            [
                ("code", .id(.validationCode)), ("organization_id", .row), ("workflow_id", .text(1...64)),
                ("client", client), ("created_at", .time), ("expires_at", .time), ("used_at", .time.orNull),
            ]
        ).references("organization_id", to: "organizations", "id"),
        TableDomain(
            "component_sessions", .row,
            [
                ("position", .row), ("id", .id(.workflowSession)), ("organization_id", .row.orNull),
                ("environment", .word(WorkflowEnvironment.allCases.map(\.rawValue))), ("workflow_id", .text(1...64)),
                ("client", client), ("started_at", .time), ("expires_at", .time), ("ended_at", .time.orNull),
                (
                    "end_reason",
                    .word([WorkflowSessionInfo.Status.cleared.rawValue, WorkflowSessionInfo.Status.expired.rawValue])
                        .orNull
                ),
            ]
        ).references("organization_id", to: "organizations", "id").check(
            "end_reason", where: "(r.ended_at IS NULL) <> (r.end_reason IS NULL)",
            "must be there exactly where ended_at is"),
        TableDomain(
            "component_runs", .columns(["session_id", "component"]),
            [
                ("session_id", .id(.workflowSession)), ("component", .word(Component.allCases.map(\.rawValue))),
                ("status", .word(ComponentState.Status.allCases.map(\.rawValue))),
                ("document_type", .word(IdentityDocument.allCases.map(\.rawValue)).orNull),
                (
                    "issuing_country",
                    .text(3...3, reading: { Countries.contains($0) ? nil : Countries.expected }).orNull
                ),
                (
                    "location",
                    .object { _ = try WireJSON.decode(Location.self, from: WireJSON.encode($0)) }.orNull
                ), ("started_at", .time), ("ended_at", .time.orNull),
                ("error", .word(WorkflowFailure.names).orNull),
            ]
        ).references("session_id", to: "component_sessions", "id").check(
            "document_type", where: "(r.component = 'document') <> (r.document_type IS NOT NULL)",
            "must be there exactly where the component is document"),
        TableDomain(
            "component_files", .columns(["session_id", "component", "name", "is_angled"]),
            [
                ("session_id", .id(.workflowSession)), ("component", .word(Component.allCases.map(\.rawValue))),
                ("name", .word(["front", "back", Workflow.selfie, Workflow.video])), ("is_angled", .flag),
                ("sha256", .sha256), ("bytes", .integer(1...Int64(ReceivedImage.limit))),
                (
                    "media_type",
                    .word(ImageFormat.allCases.map(\.rawValue) + VideoFormat.Container.allCases.map(\.rawValue))
                ), ("quality", .word(ImageQuality.allCases.map(\.rawValue)).orNull),
                ("duration", .integer(0...VideoFormat.maxMilliseconds).orNull), ("uploads", .count),
                ("uploaded_at", .time), ("in_use", .flag),
            ]
        ).references("session_id", to: "component_sessions", "id"),
        TableDomain(
            "component_rejections", .columns(["organization_id", "client_id"]),
            [("organization_id", .row), ("client_id", .text(1...64)), ("at", .time)]
        ).references("organization_id", to: "organizations", "id"),
    ]

    private static let client = ColumnDomain.object { _ = try Client(stored: $0) }

    /// A table of the engine, with what its rows refer to.
    static func extended(_ table: TableDomain) -> TableDomain {
        table.name == "due"
            ? table.references("subject", to: "component_sessions", "id", where: "r.kind = 'component.session.expiry'")
            : table
    }
}
