import EntrupyAPI
import Storage

/// The record of one item's capture.
package struct CaptureRecord: Sendable, Hashable {
    /// The place in the order of starts; assigned by the database.
    package var position: Int64 = 0
    package var id: String
    package var userID: Int64
    package var status = Capture.Status.started
    package var configType: ConfigType
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
    /// The service that the platform performs.
    package var activity: Activity
    /// The item that the captured one is compared with; `nil` if it is not compared.
    package var fingerprintParent: String?

    package init(
        id: String, userID: Int64, configType: ConfigType, category: String, item: String, startedAt: Instant,
        expiresAt: Instant, retakeID: String? = nil, activity: Activity = .authentication,
        fingerprintParent: String? = nil
    ) {
        self.retakeID = retakeID
        self.activity = activity
        self.fingerprintParent = fingerprintParent
        self.id = id
        self.userID = userID
        self.configType = configType
        self.category = category
        self.item = item
        self.startedAt = startedAt
        self.expiresAt = expiresAt
    }
}

extension CaptureRecord: StoredRecord {
    package static let table = Table(
        "captures", key: .counted,
        blank: CaptureRecord(
            id: "", userID: 0, configType: .production, category: "", item: "", startedAt: .epoch, expiresAt: .epoch)
    ) {
        $0.column("position", \.position, .row, isAssigned: true)
        $0.identity("id", \.id, "capture")
        $0.column("user_id", \.userID, .row, refersTo: "users.id")
        $0.column("status", \.status, .word(Capture.Status.self))
        $0.column("config_type", \.configType, .word(ConfigType.self))
        $0.column("category", \.category, .named("category"))
        $0.column("item", \.item, .object)
        $0.column("started_at", \.startedAt, .time)
        $0.column("expires_at", \.expiresAt, .time)
        $0.column("submitted_at", \.submittedAt, .time.orNull)
        $0.column("ended_at", \.endedAt, .time.orNull)
        $0.column("entrupy_id", \.entrupyID, .id("item").orNull, refersTo: "items.entrupy_id")
        $0.column("retake_id", \.retakeID, .id("retake").orNull, refersTo: "retakes.id")
        $0.column("activity", \.activity, .word(Activity.self))
        $0.column("fingerprint_parent", \.fingerprintParent, .id("item").orNull, refersTo: "items.entrupy_id")
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
}

extension CaptureImageRecord: StoredRecord {
    package static let table = Table(
        "capture_images", key: .columns(["capture_id", "region_id"]),
        blank: CaptureImageRecord(captureID: "", regionID: "", sha256: "", bytes: 0, mediaType: "", uploadedAt: .epoch)
    ) {
        $0.column("capture_id", \.captureID, .id("capture"), refersTo: "captures.id")
        $0.column("region_id", \.regionID, .identifier)
        $0.column("sha256", \.sha256, .sha256)
        $0.column("bytes", \.bytes, .named("image_bytes"))
        $0.column("media_type", \.mediaType, .named("image_type"))
        $0.column("uploaded_at", \.uploadedAt, .time)
        $0.column("in_use", .flag, value: true)
    }
}

extension Transaction {
    package func capture(id: String) throws -> CaptureRecord? { try record("WHERE id = ?", [id]) }

    /// A user's captures before a position, newest first.
    package func captures(
        userID: Int64, status: Capture.Status?, before position: Int64, limit: Int
    ) throws -> [CaptureRecord] {
        guard let status else {
            return try records(
                "WHERE user_id = ? AND position < ? ORDER BY position DESC LIMIT ?", [userID, position, limit])
        }
        return try records(
            "WHERE user_id = ? AND status = ? AND position < ? ORDER BY position DESC LIMIT ?",
            [userID, status, position, limit])
    }

    /// The end of the time of a user's last but `count` - 1 started capture, by their starts; `nil` if fewer are started.
    package func expiry(ofStarted count: Int, userID: Int64) throws -> Instant? {
        let found: [CaptureRecord] = try records(
            "WHERE user_id = ? AND status = ? ORDER BY position DESC LIMIT 1 OFFSET ?",
            [userID, Capture.Status.started, count - 1])
        return found.first?.expiresAt
    }

    /// All users' captures before a position, newest first.
    package func captures(status: Capture.Status?, before position: Int64, limit: Int) throws -> [CaptureRecord] {
        try records(
            "WHERE position < ?1 AND (?2 IS NULL OR status = ?2) ORDER BY position DESC LIMIT ?3",
            [position, status, limit])
    }

    /// Moves a started capture to its final state.
    package func endCapture(
        id: String, _ status: Capture.Status, submittedAt: Instant? = nil, endedAt: Instant? = nil,
        entrupyID: String? = nil
    ) throws {
        try run(
            "UPDATE captures SET status = ?, submitted_at = ?, ended_at = ?, entrupy_id = ? WHERE id = ?",
            [status.rawValue, submittedAt, endedAt, entrupyID, id])
    }

    /// Stores a region's image, and replaces any before it.
    ///
    /// - Returns: the replaced image, if nothing else refers to it.
    package func putCaptureImage(_ image: CaptureImageRecord) throws -> String? {
        let before: String? = try first(
            "SELECT sha256 FROM capture_images WHERE capture_id = ? AND region_id = ?",
            [image.captureID, image.regionID]
        ) { try $0[0] }
        try insert(image, replacing: true)
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
        try records("WHERE capture_id = ?", [captureID])
    }

    /// The media type of an image in use in this namespace; `nil` if the image is not in use.
    package func imageMediaType(sha256: String) throws -> String? {
        try first("SELECT media_type FROM capture_images WHERE sha256 = ? AND in_use = 1 LIMIT 1", [sha256]) {
            try $0[0]
        }
    }

    /// Adds `count` to the number of a user's submissions.
    package func countSubmissions(userID: Int64, count: Int = 1) throws {
        try run("UPDATE users SET submissions = submissions + ? WHERE id = ?", [count, userID])
    }
}
