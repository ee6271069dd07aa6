import AppComponentsAPI
import Storage

/// A picture or video of a component.
package struct ComponentFileRecord: Sendable, Hashable {
    package var sessionID: String
    package var component: Component
    /// The side of the document, `selfie` or `video`.
    package var name: String
    /// Whether the document was tilted.
    package var isAngled: Bool
    package var sha256: String
    package var bytes: Int
    package var mediaType: String
    /// The judgement of a picture; `nil` for videos, and without real-time feedback.
    package var quality: String?
    /// The length of a video in milliseconds.
    package var duration: Int64?
    /// The number of uploads, of which this is the last.
    package var uploads: Int
    package var uploadedAt: Instant

    package init(
        sessionID: String, component: Component, name: String, isAngled: Bool, sha256: String, bytes: Int,
        mediaType: String, quality: String?, duration: Int64?, uploads: Int, uploadedAt: Instant
    ) {
        self.sessionID = sessionID
        self.component = component
        self.name = name
        self.isAngled = isAngled
        self.sha256 = sha256
        self.bytes = bytes
        self.mediaType = mediaType
        self.quality = quality
        self.duration = duration
        self.uploads = uploads
        self.uploadedAt = uploadedAt
    }
}

extension ComponentFileRecord: StoredRecord {
    package static let table = Table(
        "component_files", key: .columns(["session_id", "component", "name", "is_angled"]),
        blank: ComponentFileRecord(
            sessionID: "", component: .document, name: "", isAngled: false, sha256: "", bytes: 0, mediaType: "",
            quality: nil, duration: nil, uploads: 0, uploadedAt: .epoch)
    ) {
        $0.column("session_id", \.sessionID, .id("workflow_session"), refersTo: "component_sessions.id")
        $0.column("component", \.component, .word(Component.self))
        $0.column("name", \.name, .named("component_file"))
        $0.column("is_angled", \.isAngled, .flag)
        $0.column("sha256", \.sha256, .sha256)
        $0.column("bytes", \.bytes, .named("image_bytes"))
        $0.column("media_type", \.mediaType, .named("component_file_type"))
        $0.column("quality", \.quality, .named("image_quality").orNull)
        $0.column("duration", \.duration, .named("video_milliseconds").orNull)
        $0.column("uploads", \.uploads, .count)
        $0.column("uploaded_at", \.uploadedAt, .time)
        $0.column("in_use", .flag, value: true)
    }
}

extension Transaction {
    /// The files of a component that are in use.
    package func componentFiles(sessionID: String, component: Component) throws -> [ComponentFileRecord] {
        try records(
            "WHERE session_id = ? AND component = ? AND in_use = 1 ORDER BY name, is_angled", [sessionID, component])
    }

    /// Stores a file, and replaces the one before it.
    ///
    /// - Returns: the hash of the replaced one, if nothing else refers to it.
    package func putComponentFile(_ file: ComponentFileRecord, replacing before: String?) throws -> String? {
        try insert(file, replacing: true)
        return try unused(before)
    }

    /// Releases the files of a session.
    ///
    /// - Returns: the hashes that nothing refers to any longer.
    package func releaseComponentFiles(sessionID: String) throws -> [String] {
        try releaseImages(in: "component_files", where: "session_id", is: sessionID)
    }
}
