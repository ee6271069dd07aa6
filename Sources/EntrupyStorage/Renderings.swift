import Foundation
import NIOCore
import Storage

/// An item found by a search or by its id, with its stored rendering if that is still valid.
package struct FoundItem: Sendable {
    package let position: Int64
    package let entrupyID: String
    package let organizationID: Int64
    package let userID: Int64
    package let submittedAt: Instant
    package let revision: Int64
    /// Whether the item has a final result; known only of an item that was not searched for.
    package fileprivate(set) var isFinal = false
    /// Whether its result is that of a brand or an item type that the catalogue lacks; known only of an item that was not searched for.
    package fileprivate(set) var isUnknownToCatalogue = false
    /// The SDK's view of the item in English, as JSON; `nil` if it must be rendered again or was not requested.
    package fileprivate(set) var rendering: ByteBuffer?

    /// Reads the current row of a statement.
    fileprivate init(_ row: borrowing DirectStatement) {
        position = row.integer(0)
        entrupyID = row.text(1)
        organizationID = row.integer(2)
        userID = row.integer(3)
        submittedAt = Instant(microseconds: row.integer(4))
        revision = row.integer(5)
    }

    /// The columns, in the order in which they are read. The argument is the key under which a rendering is valid.
    static let columns = """
        position, entrupy_id, organization_id, user_id, submitted_at, revision,
        CASE WHEN rendering_key = ? THEN sdk_rendering END AS rendering
        """
    fileprivate static let rendering: CInt = 6
    /// Further columns, which would cost a search much for each item.
    fileprivate static let ofOne = """
        result_final, decided_by IN ('\(DecisionRule.unknownBrand.rawValue)', '\(DecisionRule.unknownItemType.rawValue)')
        """
}

extension Transaction {
    /// The item with an id; `nil` if there is none.
    ///
    /// - Parameter key: the key under which its rendering is valid; `nil` if the rendering is not wanted.
    package func foundItem(entrupyID: String, key: Int64?) throws -> FoundItem? {
        try found(Self.foundItem, [key, entrupyID])
    }

    private static let foundItem =
        "SELECT \(FoundItem.columns), \(FoundItem.ofOne) FROM items WHERE entrupy_id = ?"
    private static let lastItem = """
        SELECT \(FoundItem.columns), \(FoundItem.ofOne) FROM items
        INDEXED BY items_by_organization_and_customer_item_id
        WHERE organization_id = ? AND customer_item_id = ? ORDER BY submitted_at DESC, position DESC LIMIT 1
        """

    /// The item submitted last of those with an organization's `customer_item_id`, without its rendering. Of two
    /// submitted at one moment it is the one inserted last [D lookup-latest].
    package func lastItem(customerItemID: String, organizationID: Int64) throws -> FoundItem? {
        try found(Self.lastItem, [nil as Int64?, organizationID, customerItemID])
    }

    /// The item that a statement finds; `nil` if there is none.
    ///
    /// - Parameter arguments: the key, and those behind it.
    private func found(_ sql: String, _ arguments: [any ColumnValue]) throws -> FoundItem? {
        try first(sql, arguments) { row in
            var item = FoundItem(row)
            item.rendering = row.withBytes(FoundItem.rendering) { ByteBuffer(bytes: $0) }
            item.isFinal = try row[FoundItem.rendering + 1]
            item.isUnknownToCatalogue = try row[FoundItem.rendering + 2]
            return item
        }
    }

    /// The bytes reserved for one rendering; nearly all are shorter.
    private static let defaultRendering = 2_000

    /// Finds a page of items.
    ///
    /// - Parameter key: the key under which their renderings are valid; `nil` if renderings are not wanted.
    package func items(_ search: ItemSearch, limit: Int, key: Int64?) throws -> [FoundItem] {
        var items: [FoundItem] = []
        items.reserveCapacity(limit)
        // All renderings share one buffer, which need not grow. An allocation for each rendering would take longer
        // than the rest of the search.
        var renderings = ByteBufferAllocator().buffer(capacity: key == nil ? 0 : limit * Self.defaultRendering)
        var places: [(item: Int, start: Int, length: Int)] = []
        for statement in search.statements(key: key) where items.count < limit {
            try read(statement, limit: limit - items.count) { row in
                while try row.next() {
                    let start = renderings.writerIndex
                    if let length = row.withBytes(FoundItem.rendering, { renderings.writeBytes($0) }) {
                        places.append((items.count, start, length))
                    }
                    items.append(FoundItem(row))
                }
            }
        }
        for place in places { items[place.item].rendering = renderings.getSlice(at: place.start, length: place.length) }
        return items
    }

    /// Reads the rows of a statement of a search with `body`.
    ///
    /// - Parameter limit: the last argument; `nil` if the statement has no limit.
    func read<Value>(
        _ search: ItemSearch.Statement, limit: Int? = nil, _ body: (borrowing DirectStatement) throws -> Value
    ) throws -> Value {
        var arguments = search.arguments
        if let limit { arguments.append(limit) }
        return try read(search.sql, arguments, isCommon: search.isCommon && mayCache(search.sql), body)
    }

    /// Stores a new rendering in its item's row, unless the item has changed since.
    package func store(_ rendering: ByteBuffer, of item: FoundItem, key: Int64) throws {
        try run(
            "UPDATE items SET sdk_rendering = ?, rendering_key = ? WHERE position = ? AND revision = ?",
            [Data(rendering.readableBytesView), key, item.position, item.revision])
    }
}
