import GRDB
import Storage

/// The record of one item's capture.
package struct CaptureRecord: Sendable, Hashable {
    /// The place in the order of starts; assigned by the database.
    package var position: Int64
    package var id: String
    package var userID: Int64
    /// `started`, `submitted`, `cancelled`, `timed_out`.
    package var status: String
    package var configType: String
    package var category: String
    /// The item as the app described it, a JSON object.
    package var item: String
    package var startedAt: Instant
    package var expiresAt: Instant
    package var submittedAt: Instant?
    /// The time at which it was cancelled or timed out.
    package var endedAt: Instant?
    package var entrupyID: String?
    /// The retake it answers; `nil` if it answers none.
    package var retakeID: String?
    /// The service that the platform performs, for instance `authentication`.
    package var activity: String
    /// The item that the captured one is compared with; `nil` if it is not compared.
    package var fingerprintParent: String?

    package init(
        position: Int64 = 0, id: String, userID: Int64, status: String, configType: String, category: String,
        item: String, startedAt: Instant, expiresAt: Instant, submittedAt: Instant? = nil, endedAt: Instant? = nil,
        entrupyID: String? = nil, retakeID: String? = nil, activity: String, fingerprintParent: String? = nil
    ) {
        self.retakeID = retakeID
        self.activity = activity
        self.fingerprintParent = fingerprintParent
        self.position = position
        self.id = id
        self.userID = userID
        self.status = status
        self.configType = configType
        self.category = category
        self.item = item
        self.startedAt = startedAt
        self.expiresAt = expiresAt
        self.submittedAt = submittedAt
        self.endedAt = endedAt
        self.entrupyID = entrupyID
    }

    fileprivate init(row: Row) {
        self.init(
            position: row[0], id: row[1], userID: row[2], status: row[3], configType: row[4], category: row[5],
            item: row[6], startedAt: row[7], expiresAt: row[8], submittedAt: row[9], endedAt: row[10],
            entrupyID: row[11], retakeID: row[12], activity: row[13], fingerprintParent: row[14])
    }
}

/// An image uploaded for a region of a capture.
package struct CaptureImageRecord: Sendable, Hashable {
    package var captureID: String
    package var regionID: String
    /// The SHA-256 of the bytes in lower-case hex, which is their name in the image store.
    package var sha256: String
    package var bytes: Int
    package var mediaType: String
    package var uploadedAt: Instant

    package init(
        captureID: String, regionID: String, sha256: String, bytes: Int, mediaType: String, uploadedAt: Instant
    ) {
        self.captureID = captureID
        self.regionID = regionID
        self.sha256 = sha256
        self.bytes = bytes
        self.mediaType = mediaType
        self.uploadedAt = uploadedAt
    }

    fileprivate init(row: Row) {
        self.init(
            captureID: row[0], regionID: row[1], sha256: row[2], bytes: StoredCount.clamped(row[3]), mediaType: row[4],
            uploadedAt: row[5])
    }
}

extension Transaction {
    private static let captureColumns = """
        position, id, user_id, status, config_type, category, item, started_at, expires_at, submitted_at, ended_at,
        entrupy_id, retake_id, activity, fingerprint_parent
        """

    /// Adds a capture; its `position` is assigned here.
    package func insertCapture(_ capture: CaptureRecord) throws {
        try runDirectly(
            """
            INSERT INTO captures (id, user_id, status, config_type, category, item, started_at, expires_at,
                submitted_at, ended_at, entrupy_id, retake_id, activity, fingerprint_parent)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { statement in
            try statement.bind(capture.id, at: 1)
            try statement.bind(capture.userID, at: 2)
            try statement.bind(capture.status, at: 3)
            try statement.bind(capture.configType, at: 4)
            try statement.bind(capture.category, at: 5)
            try statement.bind(capture.item, at: 6)
            try statement.bind(capture.startedAt, at: 7)
            try statement.bind(capture.expiresAt, at: 8)
            try statement.bind(capture.submittedAt?.microseconds, at: 9)
            try statement.bind(capture.endedAt?.microseconds, at: 10)
            try statement.bind(capture.entrupyID, at: 11)
            try statement.bind(capture.retakeID, at: 12)
            try statement.bind(capture.activity, at: 13)
            try statement.bind(capture.fingerprintParent, at: 14)
        }
    }

    package func capture(id: String) throws -> CaptureRecord? {
        try first("SELECT \(Self.captureColumns) FROM captures WHERE id = ?", [id], CaptureRecord.init(row:))
    }

    /// A user's captures before a position, newest first.
    package func captures(userID: Int64, status: String?, before position: Int64, limit: Int) throws -> [CaptureRecord]
    {
        if let status {
            try all(
                """
                SELECT \(Self.captureColumns) FROM captures WHERE user_id = ? AND status = ? AND position < ?
                ORDER BY position DESC LIMIT ?
                """, [userID, status, position, limit], CaptureRecord.init(row:))
        } else {
            try all(
                """
                SELECT \(Self.captureColumns) FROM captures WHERE user_id = ? AND position < ?
                ORDER BY position DESC LIMIT ?
                """, [userID, position, limit], CaptureRecord.init(row:))
        }
    }

    /// All users' captures before a position, newest first.
    package func captures(status: String?, before position: Int64, limit: Int) throws -> [CaptureRecord] {
        try all(
            """
            SELECT \(Self.captureColumns) FROM captures WHERE position < ?1 AND (?2 IS NULL OR status = ?2)
            ORDER BY position DESC LIMIT ?3
            """, [position, status, limit], CaptureRecord.init(row:))
    }

    /// Moves a started capture to its final state.
    package func endCapture(
        id: String, status: String, submittedAt: Instant? = nil, endedAt: Instant? = nil, entrupyID: String? = nil
    ) throws {
        try run(
            "UPDATE captures SET status = ?, submitted_at = ?, ended_at = ?, entrupy_id = ? WHERE id = ?",
            [status, submittedAt, endedAt, entrupyID, id])
    }

    /// Stores a region's image, and replaces any before it.
    ///
    /// - Returns: the replaced image, if nothing else refers to it.
    package func putCaptureImage(_ image: CaptureImageRecord) throws -> String? {
        let before: String? = try first(
            "SELECT sha256 FROM capture_images WHERE capture_id = ? AND region_id = ?",
            [image.captureID, image.regionID]
        ) { $0[0] }
        try run(
            "INSERT OR REPLACE INTO capture_images VALUES (?, ?, ?, ?, ?, ?, 1)",
            [image.captureID, image.regionID, image.sha256, image.bytes, image.mediaType, image.uploadedAt])
        return try unused(before)
    }

    /// Releases the images of a capture that was cancelled or timed out. The rows stay, because they say which
    /// regions had an image.
    ///
    /// - Returns: the images that nothing refers to any longer.
    package func releaseCaptureImages(captureID: String) throws -> [String] {
        try releaseImages(in: "capture_images", where: "capture_id", is: captureID)
    }

    package func captureImages(captureID: String) throws -> [CaptureImageRecord] {
        try all(
            """
            SELECT capture_id, region_id, sha256, bytes, media_type, uploaded_at FROM capture_images
            WHERE capture_id = ?
            """, [captureID], CaptureImageRecord.init(row:))
    }

    /// The media type of an image in use in this namespace; `nil` if the image is not in use.
    package func imageMediaType(sha256: String) throws -> String? {
        try first("SELECT media_type FROM capture_images WHERE sha256 = ? AND in_use = 1 LIMIT 1", [sha256]) { $0[0] }
    }
}
