import SimulationAPI

/// The namespaces of the server, and the snapshots of this one.
enum NamespacesPage {
    private static let rows = 200

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let all = try await api.get("namespaces", as: NamespaceList.self).namespaces
        let saved = try await api.get("snapshots", as: SnapshotList.self).snapshots
        let infoAnswer = try await api.get("info", as: ServerInfo.self)
        let word = request.given("find") ?? ""
        let found = all.filter { word.isEmpty || $0.name.utf8.contains(word.utf8) }
        let info = infoAnswer
        let now = info.namespace.clock.epoch
        let view: View = [
            "rows": found.prefix(rows).map { namespace($0, request) }, "hasRows": !found.isEmpty,
            "isNotFound": found.isEmpty, "find": word, "total": all.count, "hasMore": found.count > rows,
            "more": max(0, found.count - rows), "namespacesPath": "/_sim/namespaces",
            "snapshots": saved.map { snapshot($0, request) }, "hasSnapshots": !saved.isEmpty,
            "noSnapshots": saved.isEmpty,
            "snapshotNames": PrettyJSON.line(.array(saved.map { .string($0.name) })),
            "snapshotsPath": "\(request.base)/_sim/snapshots", "resetPath": "\(request.base)/_sim/reset",
            "bundlePath": "\(request.base)/_sim/bundle", "exportPath": "\(request.base)/_sim/export",
            "isDefault": request.namespace == "default", "canDelete": request.namespace != "default",
            "deletePath": "/_sim/namespaces/\(Link.escaped(request.namespace))",
            "serverVersion": info.version, "uptime": Moment.span(info.uptime),
            "place": info.data_dir ?? "in memory", "seed": info.namespace.seed,
            "randomSeed": "\(info.namespace.random_seed)", "now": Moment.text(now), "url": info.namespace.url,
        ]
        return PagePart(section: "namespaces", title: "Namespaces and snapshots", template: "namespaces", view: view)
    }

    private static func namespace(_ info: NamespaceInfo, _ request: ConsoleRequest) -> View {
        let base = info.name == "default" ? "" : "/ns/\(info.name)"
        return [
            "key": info.name, "name": info.name, "isCurrent": info.name == request.namespace,
            "link": "\(base)/_sim/console", "url": info.url, "seed": info.seed,
            "clock": info.clock.mode, "clockAt": Moment.text(info.clock.epoch),
            "users": info.counts.users, "items": info.counts.authentications, "captures": info.counts.captures,
            "size": SizeText.text(info.database_bytes), "hasTTL": info.ttl != nil,
            "ttl": info.ttl.map { Moment.span($0) } ?? "",
            "canDelete": info.name != "default" && !request.isReadOnly,
            "deletePath": "/_sim/namespaces/\(Link.escaped(info.name))",
        ]
    }

    private static func snapshot(_ info: SnapshotInfo, _ request: ConsoleRequest) -> View {
        let path = "\(request.base)/_sim/snapshots/\(Link.escaped(info.name))"
        return [
            "key": "snapshot-\(info.name)", "name": info.name, "path": path, "savedAt": Moment.text(info.created_at),
            "clockAt": Moment.text(info.clock.epoch), "clockMode": info.clock.mode,
            "items": info.counts.authentications, "users": info.counts.users,
            "size": SizeText.text(info.database_bytes + info.image_bytes), "images": info.images,
        ]
    }
}
