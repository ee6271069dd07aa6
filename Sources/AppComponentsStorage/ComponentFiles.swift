import GRDB
import Storage

/// A picture or video of a component.
package struct ComponentFileRecord: Sendable, Hashable {
    package var sessionID: String
    package var component: String
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
        sessionID: String, component: String, name: String, isAngled: Bool, sha256: String, bytes: Int,
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

    fileprivate init(row: Row) {
        self.init(
            sessionID: row[0], component: row[1], name: row[2], isAngled: row[3], sha256: row[4], bytes: row[5],
            mediaType: row[6], quality: row[7], duration: row[8], uploads: StoredCount.clamped(row[9]),
            uploadedAt: row[10])
    }
}

extension Transaction {
    private static let fileColumns = """
        session_id, component, name, is_angled, sha256, bytes, media_type, quality, duration, uploads, uploaded_at
        """

    /// The files of a component that are in use.
    package func componentFiles(sessionID: String, component: String) throws -> [ComponentFileRecord] {
        try all(
            """
            SELECT \(Self.fileColumns) FROM component_files WHERE session_id = ? AND component = ? AND in_use = 1
            ORDER BY name, is_angled
            """, [sessionID, component], ComponentFileRecord.init(row:))
    }

    /// Stores a file, and replaces the one before it.
    ///
    /// - Returns: the hash of the replaced one, if nothing else refers to it.
    package func putComponentFile(_ file: ComponentFileRecord, replacing before: String?) throws -> String? {
        try run(
            "INSERT OR REPLACE INTO component_files (\(Self.fileColumns), in_use) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
            [
                file.sessionID, file.component, file.name, file.isAngled, file.sha256, file.bytes, file.mediaType,
                file.quality, file.duration, file.uploads, file.uploadedAt,
            ])
        return try unused(before)
    }

    /// Releases the files of a session.
    ///
    /// - Returns: the hashes that nothing refers to any longer.
    package func releaseComponentFiles(sessionID: String) throws -> [String] {
        try releaseImages(in: "component_files", where: "session_id", is: sessionID)
    }
}
