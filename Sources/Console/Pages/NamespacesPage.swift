import SimulationAPI

/// The namespaces of the server, and the snapshots of this one.
enum NamespacesPage {
    private static let rows = 200

    private struct View: Encodable, Sendable {
        let snapshots: Rows<SnapshotRow>?
        /// The names of the snapshots as a JSON array.
        let snapshotNames: String
        let total: Int
        let find: String
        let rows: Rows<Row>?
        /// The number of namespaces that are found and not listed; `nil` if all are.
        let more: Int?
        let server: ServerInfo
    }

    private struct Row: Encodable, Sendable {
        let info: NamespaceInfo
        let isCurrent: Bool
        let link: String
        let canDelete: Bool

        init(_ info: NamespaceInfo, _ request: ConsoleRequest) {
            let isDefault = info.name == "default"
            self.info = info
            isCurrent = info.name == request.namespace
            link = "\(isDefault ? "" : "/ns/\(info.name)")/_sim/console"
            canDelete = !isDefault && !request.isReadOnly
        }
    }

    private struct SnapshotRow: Encodable, Sendable {
        let info: SnapshotInfo
        let bytes: Int
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let all = try await api.get("namespaces", as: NamespaceList.self).namespaces
        let saved = try await api.get("snapshots", as: SnapshotList.self).snapshots
        let info = try await api.get("info", as: ServerInfo.self)
        let word = request.given("find") ?? ""
        let found = all.filter { word.isEmpty || $0.name.utf8.contains(word.utf8) }
        let view = View(
            snapshots: Rows(saved.map { SnapshotRow(info: $0, bytes: $0.database_bytes + $0.image_bytes) }),
            snapshotNames: PrettyJSON.line(.array(saved.map { .string($0.name) })), total: all.count, find: word,
            rows: Rows(found.prefix(rows).map { Row($0, request) }),
            more: found.count > rows ? found.count - rows : nil, server: info)
        return PagePart(section: "namespaces", title: "Namespaces and snapshots", template: "namespaces", view: view)
    }
}
