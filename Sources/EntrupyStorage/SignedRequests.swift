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

    package init(id: String, userID: Int64, bundleID: String?, issuedAt: Instant, expiresAt: Instant) {
        self.id = id
        self.userID = userID
        self.bundleID = bundleID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}

extension SignedRequestRecord: StoredRecord {
    package static let table = Table(
        "signed_requests", key: .columns(["id"]),
        blank: SignedRequestRecord(id: "", userID: 0, bundleID: nil, issuedAt: .epoch, expiresAt: .epoch)
    ) {
        $0.identity("id", \.id, "signed_request", isSecret: true)
        $0.column("user_id", \.userID, .row, refersTo: "users.id")
        $0.column("bundle_id", \.bundleID, .prose.orNull)
        $0.column("issued_at", \.issuedAt, .time)
        $0.column("expires_at", \.expiresAt, .time)
        $0.column("used_at", \.usedAt, .time.orNull)
    }
}

extension Transaction {
    package func signedRequest(id: String) throws -> SignedRequestRecord? { try record("WHERE id = ?", [id]) }

    package func useSignedRequest(id: String, at moment: Instant) throws {
        try run("UPDATE signed_requests SET used_at = ? WHERE id = ?", [moment, id])
    }
}
