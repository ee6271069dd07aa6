import SimulationAPI

/// The namespaces of the server, and the snapshots of this one.
enum NamespacesPage {
    private static let rows = 200

    private struct View: Encodable, Sendable {
        let namespacesPath, snapshotsPath: String
        let snapshots: Rows<SnapshotRow>?
        /// The names of the snapshots as a JSON array.
        let snapshotNames: String
        let total: Int
        let find: String
        let rows: Rows<Row>?
        /// The number of namespaces that are found and not listed; `nil` if all are.
        let more: Int?
        let url, resetPath, bundlePath, exportPath, serverVersion, uptime, place, seed: String
        let randomSeed: Int
    }

    private struct Row: Encodable, Sendable {
        let info: NamespaceInfo
        let isCurrent: Bool
        let link, clockAt, size: String
        let ttl: String?
        let canDelete: Bool
        let deletePath: String

        init(_ info: NamespaceInfo, _ request: ConsoleRequest) {
            let isDefault = info.name == "default"
            self.info = info
            isCurrent = info.name == request.namespace
            link = "\(isDefault ? "" : "/ns/\(info.name)")/_sim/console"
            clockAt = Moment.text(info.clock.epoch)
            size = SizeText.text(info.database_bytes)
            ttl = info.ttl.map { Moment.span($0) }
            canDelete = !isDefault && !request.isReadOnly
            deletePath = "/_sim/namespaces/\(Link.escaped(info.name))"
        }
    }

    private struct SnapshotRow: Encodable, Sendable {
        let info: SnapshotInfo
        let path, savedAt, clockAt, size: String

        init(_ info: SnapshotInfo, _ request: ConsoleRequest) {
            self.info = info
            path = "\(request.base)/_sim/snapshots/\(Link.escaped(info.name))"
            savedAt = Moment.text(info.created_at)
            clockAt = Moment.text(info.clock.epoch)
            size = SizeText.text(info.database_bytes + info.image_bytes)
        }
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let all = try await api.get("namespaces", as: NamespaceList.self).namespaces
        let saved = try await api.get("snapshots", as: SnapshotList.self).snapshots
        let info = try await api.get("info", as: ServerInfo.self)
        let word = request.given("find") ?? ""
        let found = all.filter { word.isEmpty || $0.name.utf8.contains(word.utf8) }
        let view = View(
            namespacesPath: "/_sim/namespaces", snapshotsPath: "\(request.base)/_sim/snapshots",
            snapshots: Rows(saved.map { SnapshotRow($0, request) }),
            snapshotNames: PrettyJSON.line(.array(saved.map { .string($0.name) })), total: all.count, find: word,
            rows: Rows(found.prefix(rows).map { Row($0, request) }),
            more: found.count > rows ? found.count - rows : nil, url: info.namespace.url,
            resetPath: "\(request.base)/_sim/reset", bundlePath: "\(request.base)/_sim/bundle",
            exportPath: "\(request.base)/_sim/export", serverVersion: info.version,
            uptime: Moment.span(info.uptime), place: info.data_dir ?? "in memory", seed: info.namespace.seed,
            randomSeed: info.namespace.random_seed)
        return PagePart(section: "namespaces", title: "Namespaces and snapshots", template: "namespaces", view: view)
    }
}
