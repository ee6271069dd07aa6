import Foundation
import GRDB

/// An item found by a search or by its id, with its stored rendering where that is still good.
package struct FoundItem: Sendable {
    package let position: Int64
    package let entrupyID: String
    package let organizationID: Int64
    package let userID: Int64
    package let submittedAt: Instant
    package let revision: Int64
    /// What the SDK sees in English, as JSON; nil where it must be made anew.
    package let rendering: Data?

    init(row: Row) {
        position = row[0]
        entrupyID = row[1]
        organizationID = row[2]
        userID = row[3]
        submittedAt = row[4]
        revision = row[5]
        rendering = row[6]
    }

    /// - Parameter key: what the rendering must have been made under to be good.
    static func columns(key: Int64) -> String { columns(keyed: String(key)) }

    /// Those of an item alone, whose first argument is the key: the text of the statement is always the same.
    static let columns = columns(keyed: "?")

    private static func columns(keyed key: String) -> String {
        """
        position, entrupy_id, organization_id, user_id, submitted_at, revision,
        CASE WHEN rendering_key = \(key) THEN sdk_rendering END AS rendering
        """
    }
}

/// A rendering that was made and is not stored yet.
package struct FreshRendering: Sendable {
    let position: Int64
    let revision: Int64
    let key: Int64
    let bytes: Data

    package init(position: Int64, revision: Int64, key: Int64, bytes: Data) {
        self.position = position
        self.revision = revision
        self.key = key
        self.bytes = bytes
    }
}

extension Transaction {
    package func foundItem(entrupyID: String, key: Int64) throws -> FoundItem? {
        try first(Self.foundItem, [key, entrupyID], FoundItem.init(row:))
    }

    private static let foundItem = "SELECT \(FoundItem.columns) FROM items WHERE entrupy_id = ?"
    private static let lastItem = """
        SELECT \(FoundItem.columns) FROM items INDEXED BY items_by_organization_and_customer_item_id
        WHERE organization_id = ? AND customer_item_id = ? ORDER BY submitted_at DESC, position DESC LIMIT 1
        """

    /// The item that was submitted last of those an organization gave an id of its own.
    package func lastItem(customerItemID: String, organizationID: Int64, key: Int64) throws -> FoundItem? {
        try first(Self.lastItem, [key, organizationID, customerItemID], FoundItem.init(row:))
    }

    /// Finds a page of items.
    package func items(_ search: ItemSearch, limit: Int, key: Int64) throws -> [FoundItem] {
        var found: [FoundItem] = []
        for statement in search.statements(columns: FoundItem.columns(key: key)) where found.count < limit {
            found += try all(
                statement.sql, statement.arguments + [limit - found.count], isCommon: statement.isCommon,
                FoundItem.init(row:))
        }
        return found
    }

    /// How SQLite means to find a page; for tests.
    func plan(_ search: ItemSearch) throws -> [String] {
        try search.statements(columns: FoundItem.columns(key: 0)).flatMap { statement in
            try all("EXPLAIN QUERY PLAN " + statement.sql, statement.arguments + [25], isCommon: false) { $0[3] }
        }
    }

    /// Keeps a rendering in its item's row, unless the item has changed since.
    package func store(_ rendering: FreshRendering) throws {
        try run(
            "UPDATE items SET sdk_rendering = ?, rendering_key = ? WHERE position = ? AND revision = ?",
            [rendering.bytes, rendering.key, rendering.position, rendering.revision])
    }
}
