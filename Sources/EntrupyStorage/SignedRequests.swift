import GRDB
import Storage

/// A signed authorization request. It is valid for one login, until it expires.
package struct SignedRequestRecord: Sendable, Hashable {
    package var id: String
    package var userID: Int64
    /// The bundle id of the app it names; `nil` if it names none.
    package var bundleID: String?
    package var issuedAt: Instant
    package var expiresAt: Instant
    package var usedAt: Instant?

    package init(
        id: String, userID: Int64, bundleID: String?, issuedAt: Instant, expiresAt: Instant, usedAt: Instant? = nil
    ) {
        self.id = id
        self.userID = userID
        self.bundleID = bundleID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
    }
}

extension Transaction {
    package func insertSignedRequest(_ request: SignedRequestRecord) throws {
        try run(
            "INSERT INTO signed_requests VALUES (?, ?, ?, ?, ?, ?)",
            [request.id, request.userID, request.bundleID, request.issuedAt, request.expiresAt, request.usedAt])
    }

    package func signedRequest(id: String) throws -> SignedRequestRecord? {
        try first(
            "SELECT id, user_id, bundle_id, issued_at, expires_at, used_at FROM signed_requests WHERE id = ?", [id]
        ) {
            SignedRequestRecord(
                id: $0[0], userID: $0[1], bundleID: $0[2], issuedAt: $0[3], expiresAt: $0[4], usedAt: $0[5])
        }
    }

    package func useSignedRequest(id: String, at moment: Instant) throws {
        try run("UPDATE signed_requests SET used_at = ? WHERE id = ?", [moment, id])
    }
}
