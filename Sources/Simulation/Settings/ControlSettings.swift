import SimulationAPI

/// `GET /_sim/settings`.
package struct ShowSettings: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as caller: Control) -> JSONValue {
        job.settings.document
    }
}

/// `PATCH /_sim/settings`: a JSON merge patch (RFC 7396). `null` resets a setting to its default.
package struct PatchSettings: Operation, Writes {
    package let patch: JSONValue

    package init(_ patch: JSONValue) {
        self.patch = patch
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> JSONValue {
        let settings = try Settings(job.settings.given.merging(patch), job.state.seed)
        try job.transaction.setNamespaceValue(.settings, StoredJSON.encode(settings.given))
        let changed = settings.document.changes(from: job.settings.document)
        try job.record(
            .settingsChanged, "settings",
            ["settings": settings.document, "changed": .array(changed.map { .string($0) })])
        job.state.settings = settings
        return settings.document
    }
}

extension JSONValue {
    /// The paths of the values that differ in another object, for instance `flagging.sdk`, sorted.
    fileprivate func changes(from other: JSONValue, at path: String = "") -> [String] {
        guard let members, let others = other.members else { return self == other ? [] : [path] }
        return Set(members.keys).union(others.keys).sorted().flatMap { key in
            (members[key] ?? .null).changes(from: others[key] ?? .null, at: path.isEmpty ? key : "\(path).\(key)")
        }
    }
}
