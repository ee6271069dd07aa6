import GRDB

extension Transaction {
    /// The latest item with a customer's id, in which `*` and `?` stand for any text and any character.
    package func latestItem(customerItemID pattern: String) throws -> String? {
        let isGlob = pattern.contains { "*?".contains($0) }
        return try first(
            """
            SELECT items.entrupy_id FROM organizations JOIN items ON items.organization_id = organizations.id
                AND items.customer_item_id \(isGlob ? "GLOB" : "=") ?
            ORDER BY items.submitted_at DESC, items.position DESC LIMIT 1
            """, [isGlob ? Self.glob(pattern) : pattern]
        ) { $0[0] }
    }

    /// The items with a customer's id, which may be a glob, oldest first.
    package func itemStates(
        customerItemID pattern: String
    ) throws -> [(customerItemID: String, result: String, flag: String)] {
        try all(
            "SELECT customer_item_id, result_id, flag_id FROM items WHERE customer_item_id GLOB ? ORDER BY position",
            [Self.glob(pattern)]
        ) { (customerItemID: $0[0], result: $0[1], flag: $0[2]) }
    }

    /// How many captures there are in each status.
    ///
    /// - Parameter pattern: a customer's id of the item, which may be a glob; nil: all captures.
    package func captureStates(customerItemID pattern: String?) throws -> [String: Int] {
        let rows: [(String, Int)] = try all(
            """
            SELECT status, COUNT(*) FROM captures
            WHERE ?1 IS NULL OR json_extract(item, '$.customer_item_id') GLOB ?1 GROUP BY status
            """, [pattern.map(Self.glob)]
        ) { ($0[0], $0[1]) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    /// The deliveries of an event, oldest first.
    package func deliveryStates(event: String) throws -> [(status: String, attempts: Int)] {
        try all("SELECT status, attempts FROM deliveries WHERE event = ? ORDER BY position", [event]) {
            (status: $0[0], attempts: $0[1])
        }
    }

    /// In SQLite's globs a bracket begins a class; here it stands for itself.
    private static func glob(_ pattern: String) -> String { pattern.replacing("[", with: "[[]") }
}
