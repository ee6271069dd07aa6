import EntrupyAPI

/// `GET /_sim/settings`.
package struct ShowSettings: OpenOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ visit: Visit) -> JSONValue {
        visit.settings.document
    }
}

/// `PATCH /_sim/settings`: a JSON merge patch (RFC 7396); null puts a setting back to its default.
package struct PatchSettings: OpenOperation {
    package static let access = Access.writes
    let patch: JSONValue

    package init(_ patch: JSONValue) {
        self.patch = patch
    }

    package func perform(_ visit: Visit) throws -> JSONValue {
        let settings = try Settings(
            visit.settings.document.merging(patch), flagEligible: visit.world.seed.flagEligible)
        try visit.transaction.setWorldValue(.settings, StoredJSON.encode(settings.document))
        try visit.record(.settingsChanged, "settings", ["settings": settings.document])
        visit.world.settings = settings
        return settings.document
    }
}
