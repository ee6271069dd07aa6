import EntrupyAPI
import Storage

extension Transaction {
    /// The id of the item submitted last whose `customer_item_id` matches `pattern`; `*` stands for any text, `?` for
    /// any character.
    package func latestItem(customerItemID pattern: String) throws -> String? {
        let isGlob = pattern.contains { "*?".contains($0) }
        return try first(
            """
            SELECT items.entrupy_id FROM organizations JOIN items ON items.organization_id = organizations.id
                AND items.customer_item_id \(isGlob ? "GLOB" : "=") ?
            ORDER BY items.submitted_at DESC, items.position DESC LIMIT 1
            """, [isGlob ? Self.glob(pattern) : pattern]
        ) { try $0[0] }
    }

    /// The items whose `customer_item_id` matches a glob, oldest first.
    package func itemStates(
        customerItemID pattern: String
    ) throws -> [(customerItemID: String, result: ResultID, flag: FlagID)] {
        try all(
            "SELECT customer_item_id, result_id, flag_id FROM items WHERE customer_item_id GLOB ? ORDER BY position",
            [Self.glob(pattern)]
        ) { try (customerItemID: $0[0], result: $0[1], flag: $0[2]) }
    }

    /// The number of captures in each status.
    ///
    /// - Parameter pattern: a glob for the item's `customer_item_id`; `nil` to count all captures.
    package func captureStates(customerItemID pattern: String?) throws -> [Capture.Status: Int] {
        let rows: [(Capture.Status, Int)] = try all(
            """
            SELECT status, COUNT(*) FROM captures
            WHERE ?1 IS NULL OR json_extract(item, '$.customer_item_id') GLOB ?1 GROUP BY status
            """, [pattern.map(Self.glob) as String?]
        ) { try ($0[0], $0[1]) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    /// Escapes brackets, which begin a class in SQLite's globs and stand for themselves here.
    private static func glob(_ pattern: String) -> String { pattern.replacing("[", with: "[[]") }
}
