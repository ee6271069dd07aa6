import AppComponentsAPI
import AppComponentsStorage
import Simulation
import SimulationAPI
import Storage

/// The tables of App Components, with the valid values of their columns [D snapshots].
enum ComponentDomains {
    static let tables = [
        ValidationCodeRecord.table.domain, WorkflowSessionRecord.table.domain, ComponentRunRecord.table.domain,
        ComponentFileRecord.table.domain,
        TableDomain(
            "component_rejections", .columns(["organization_id", "client_id"]),
            [("organization_id", .row), ("client_id", .text(1...64)), ("at", .time)]
        ).references("organization_id", to: "organizations", "id"),
    ]

    /// The domains that stand in the declarations by name.
    static let names: [String: ColumnDomain] = [
        "client": .object { _ = try Client(stored: $0) },
        "component_file": .word(["front", "back", Workflow.selfie, Workflow.video]),
        "component_file_type": .word(
            ImageFormat.names + VideoFormat.Container.names),
        "country": .text(3...3, reading: { Countries.contains($0) ? nil : Countries.expected }),
        "image_bytes": .integer(1...Int64(ReceivedImage.limit)),
        "image_quality": .word(ImageQuality.names),
        "location": .object { _ = try WireJSON.decode(Location.self, from: WireJSON.encode($0)) },
        "video_milliseconds": .integer(0...VideoFormat.maxMilliseconds),
        "workflow_error": .word(WorkflowFailure.names),
    ]

    /// A table of the engine, with what its rows refer to.
    static func extended(_ table: TableDomain) -> TableDomain {
        table.name == "due"
            ? table.references("subject", to: "component_sessions", "id", where: "r.kind = 'component.session.expiry'")
            : table
    }
}
