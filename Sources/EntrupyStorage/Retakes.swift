import Storage

/// A request by the platform's support to take images of an item again.
package struct RetakeRecord: Sendable, Hashable {
    package var id: String
    package var entrupyID: String
    package var userID: Int64
    /// The regions' ids, separated by spaces.
    package var regions: String
    /// The support's message to the user.
    package var message: String?
    package var askedAt: Instant
    package var answeredAt: Instant?
    /// The capture that answered it.
    package var captureID: String?

    package init(
        id: String, entrupyID: String, userID: Int64, regions: String, message: String?, askedAt: Instant
    ) {
        self.id = id
        self.entrupyID = entrupyID
        self.userID = userID
        self.regions = regions
        self.message = message
        self.askedAt = askedAt
    }
}

extension RetakeRecord: StoredRecord {
    package static let table = Table(
        "retakes", key: .counted,
        blank: RetakeRecord(id: "", entrupyID: "", userID: 0, regions: "", message: nil, askedAt: .epoch)
    ) {
        $0.column("position", .row)
        $0.identity("id", \.id, "retake")
        $0.column("entrupy_id", \.entrupyID, .id("item"), refersTo: "items.entrupy_id")
        $0.column("user_id", \.userID, .row, refersTo: "users.id")
        $0.column("regions", \.regions, .prose)
        $0.column("message", \.message, .prose.orNull)
        $0.column("asked_at", \.askedAt, .time)
        $0.column("answered_at", \.answeredAt, .time.orNull)
        $0.column("capture_id", \.captureID, .id("capture").orNull, refersTo: "captures.id")
    }
}

extension Transaction {
    package func retake(id: String) throws -> RetakeRecord? { try record("WHERE id = ?", [id]) }

    /// An item's retakes, oldest first.
    package func retakes(entrupyID: String) throws -> [RetakeRecord] {
        try records("WHERE entrupy_id = ? ORDER BY position", [entrupyID])
    }

    /// A user's retakes that are not answered, oldest first.
    package func openRetakes(userID: Int64) throws -> [RetakeRecord] {
        try records("WHERE user_id = ? AND answered_at IS NULL ORDER BY position", [userID])
    }

    /// Records that a capture answered a retake.
    package func answerRetake(id: String, at moment: Instant, captureID: String) throws {
        try run("UPDATE retakes SET answered_at = ?, capture_id = ? WHERE id = ?", [moment, captureID, id])
    }
}
