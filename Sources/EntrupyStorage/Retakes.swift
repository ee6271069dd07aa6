import GRDB
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
        id: String, entrupyID: String, userID: Int64, regions: String, message: String?, askedAt: Instant,
        answeredAt: Instant? = nil, captureID: String? = nil
    ) {
        self.id = id
        self.entrupyID = entrupyID
        self.userID = userID
        self.regions = regions
        self.message = message
        self.askedAt = askedAt
        self.answeredAt = answeredAt
        self.captureID = captureID
    }

    fileprivate init(row: Row) {
        self.init(
            id: row[0], entrupyID: row[1], userID: row[2], regions: row[3], message: row[4], askedAt: row[5],
            answeredAt: row[6], captureID: row[7])
    }
}

extension Transaction {
    private static let retakeColumns = """
        id, entrupy_id, user_id, regions, message, asked_at, answered_at, capture_id
        """

    package func insertRetake(_ retake: RetakeRecord) throws {
        try run(
            "INSERT INTO retakes (\(Self.retakeColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                retake.id, retake.entrupyID, retake.userID, retake.regions, retake.message, retake.askedAt,
                retake.answeredAt, retake.captureID,
            ])
    }

    package func retake(id: String) throws -> RetakeRecord? {
        try first("SELECT \(Self.retakeColumns) FROM retakes WHERE id = ?", [id], RetakeRecord.init(row:))
    }

    /// An item's retakes, oldest first.
    package func retakes(entrupyID: String) throws -> [RetakeRecord] {
        try all(
            "SELECT \(Self.retakeColumns) FROM retakes WHERE entrupy_id = ? ORDER BY position", [entrupyID],
            RetakeRecord.init(row:))
    }

    /// A user's retakes that are not answered, oldest first.
    package func openRetakes(userID: Int64) throws -> [RetakeRecord] {
        try all(
            "SELECT \(Self.retakeColumns) FROM retakes WHERE user_id = ? AND answered_at IS NULL ORDER BY position",
            [userID], RetakeRecord.init(row:))
    }

    /// Records that a capture answered a retake.
    package func answerRetake(id: String, at moment: Instant, captureID: String) throws {
        try run("UPDATE retakes SET answered_at = ?, capture_id = ? WHERE id = ?", [moment, captureID, id])
    }
}
