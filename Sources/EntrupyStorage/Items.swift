import GRDB
import Storage

/// A submitted item. Every API renders this record.
package struct ItemRecord: Sendable, Hashable {
    /// The place in the order of submissions; assigned by the database.
    package var position: Int64 = 0
    package var entrupyID: String
    package var captureID: String?
    package var organizationID: Int64
    package var userID: Int64
    package var configType: String
    package var category: String
    package var brandID: String
    package var brandName: String
    package var customerItemID: String?
    /// The item as the app described it, a JSON object.
    package var metadata: String
    package var captureStartedAt: Instant?
    package var submittedAt: Instant
    package var updatedAt: Instant
    package var resultID: String
    package var resultFinal = false
    package var resultReason: String?
    /// The time at which the current final result was set.
    package var resultAt: Instant?
    /// The first final result; never changes.
    package var initialResultID: String?
    package var initialResultAt: Instant?
    /// The rule that decided the result.
    package var decidedBy: String
    /// The result that is still due; `nil` if none is.
    package var plannedResultID: String?
    package var plannedReason: String?
    package var flagID = "none"
    package var flagReasonID: String?
    package var flagMessage: String?
    package var flaggedAt: Instant?
    package var flagResolvedAt: Instant?
    package var flagNote: String?
    package var certificateID: String?
    /// The item's catalogue data, a JSON object; `nil` if it is generated from the item.
    package var catalog: String?
    /// The market data that the item was given, a JSON object; `nil` if it follows from the item.
    package var marketEdge: String?
    /// The email of the certificate's new holder; `nil` if it was not transferred.
    package var certificateHolder: String?
    /// The service that the platform performed, for instance `authentication`. Never changes.
    package var activityID: String
    /// The item that it was compared with; `nil` if it was not compared. Never changes.
    package var fingerprintParent: String?
    /// Grows by one with every change.
    package var revision: Int64 = 1

    package init(
        entrupyID: String, captureID: String?, organizationID: Int64, userID: Int64, configType: String,
        category: String, brandID: String, brandName: String, customerItemID: String?, metadata: String,
        captureStartedAt: Instant?, submittedAt: Instant, resultID: String, decidedBy: String, activityID: String
    ) {
        self.activityID = activityID
        self.entrupyID = entrupyID
        self.captureID = captureID
        self.organizationID = organizationID
        self.userID = userID
        self.configType = configType
        self.category = category
        self.brandID = brandID
        self.brandName = brandName
        self.customerItemID = customerItemID
        self.metadata = metadata
        self.captureStartedAt = captureStartedAt
        self.submittedAt = submittedAt
        updatedAt = submittedAt
        self.resultID = resultID
        self.decidedBy = decidedBy
    }

    init(row: Row) {
        self.init(
            entrupyID: row[1], captureID: row[2], organizationID: row[3], userID: row[4], configType: row[5],
            category: row[6], brandID: row[7], brandName: row[8], customerItemID: row[9], metadata: row[10],
            captureStartedAt: row[11], submittedAt: row[12], resultID: row[14], decidedBy: row[20],
            activityID: row[33])
        position = row[0]
        updatedAt = row[13]
        resultFinal = row[15]
        resultReason = row[16]
        resultAt = row[17]
        initialResultID = row[18]
        initialResultAt = row[19]
        plannedResultID = row[21]
        plannedReason = row[22]
        flagID = row[23]
        flagReasonID = row[24]
        flagMessage = row[25]
        flaggedAt = row[26]
        flagResolvedAt = row[27]
        flagNote = row[28]
        certificateID = row[29]
        revision = Int64(StoredCount.clamped(row[30]))
        catalog = row[31]
        certificateHolder = row[32]
        fingerprintParent = row[34]
        marketEdge = row[35]
    }
}

extension Transaction {
    static let itemColumns = """
        position, entrupy_id, capture_id, organization_id, user_id, config_type, category, brand_id, brand_name,
        customer_item_id, metadata, capture_started_at, submitted_at, updated_at, result_id, result_final,
        result_reason, result_at, initial_result_id, initial_result_at, decided_by, planned_result_id,
        planned_reason, flag_id, flag_reason_id, flag_message, flagged_at, flag_resolved_at, flag_note,
        certificate_id, revision, catalog, certificate_holder, activity, fingerprint_parent, market_edge
        """

    /// Adds an item; its `position` is assigned here.
    package func insertItem(_ item: ItemRecord) throws {
        try runDirectly(Self.insertItemSQL) { statement in
            try statement.bind(item.entrupyID, at: 1)
            try statement.bind(item.captureID, at: 2)
            try statement.bind(item.organizationID, at: 3)
            try statement.bind(item.userID, at: 4)
            try statement.bind(item.configType, at: 5)
            try statement.bind(item.category, at: 6)
            try statement.bind(item.brandID, at: 7)
            try statement.bind(item.brandName, at: 8)
            try statement.bind(item.customerItemID, at: 9)
            try statement.bind(item.metadata, at: 10)
            try statement.bind(item.captureStartedAt?.microseconds, at: 11)
            try statement.bind(item.submittedAt, at: 12)
            try statement.bind(item.updatedAt, at: 13)
            try statement.bind(item.resultID, at: 14)
            try statement.bind(item.resultFinal ? 1 : 0, at: 15)
            try statement.bind(item.resultReason, at: 16)
            try statement.bind(item.resultAt?.microseconds, at: 17)
            try statement.bind(item.initialResultID, at: 18)
            try statement.bind(item.initialResultAt?.microseconds, at: 19)
            try statement.bind(item.decidedBy, at: 20)
            try statement.bind(item.plannedResultID, at: 21)
            try statement.bind(item.plannedReason, at: 22)
            try statement.bind(item.flagID, at: 23)
            try statement.bind(item.flagReasonID, at: 24)
            try statement.bind(item.flagMessage, at: 25)
            try statement.bind(item.flaggedAt?.microseconds, at: 26)
            try statement.bind(item.flagResolvedAt?.microseconds, at: 27)
            try statement.bind(item.flagNote, at: 28)
            try statement.bind(item.certificateID, at: 29)
            try statement.bind(item.revision, at: 30)
            try statement.bind(item.catalog, at: 31)
            try statement.bind(item.certificateHolder, at: 32)
            try statement.bind(item.activityID, at: 33)
            try statement.bind(item.fingerprintParent, at: 34)
            try statement.bind(item.marketEdge, at: 35)
        }
    }

    private static let insertItemSQL = """
        INSERT INTO items (\(itemColumns))
        VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// The number of items that a search finds on all its pages. Takes time proportional to the items of its owner.
    package func countItems(_ search: ItemSearch) throws -> Int {
        guard let count = search.count() else { return 0 }
        do {
            let read = try prepare(count)
            return try read.next() ? Int(read.integer(0)) : 0
        } catch {
            throw StorageError.from(error)
        }
    }

    package func hasItem(entrupyID: String) throws -> Bool {
        try first("SELECT 1 FROM items WHERE entrupy_id = ?", [entrupyID]) { _ in true } ?? false
    }

    package func item(entrupyID: String) throws -> ItemRecord? {
        try first("SELECT \(Self.itemColumns) FROM items WHERE entrupy_id = ?", [entrupyID], ItemRecord.init(row:))
    }

    /// Items before a position, newest first.
    package func items(before position: Int64, limit: Int) throws -> [ItemRecord] {
        try all(
            "SELECT \(Self.itemColumns) FROM items WHERE position < ? ORDER BY position DESC LIMIT ?",
            [position, limit], ItemRecord.init(row:))
    }

    /// Items whose id, certificate's id or `customer_item_id` begins with a text and that meet all conditions, in no
    /// order. Finds at most `limit` of each kind, among the first ``maxBeginnings`` of each that begin with the text.
    ///
    /// - Parameter organizations: the owners of the items.
    package func items(
        beginningWith text: String, organizations: [Int64], where conditions: [ItemCondition], limit: Int
    ) throws -> [ItemRecord] {
        let end = text + "\u{10ffff}"
        let terms = conditions.map { " AND \($0.column) = ?" }.joined()
        func found(_ source: String, _ arguments: [any DatabaseValueConvertible]) throws -> [ItemRecord] {
            try all(
                """
                SELECT * FROM (SELECT \(Self.itemColumns) FROM items \(source) LIMIT \(Self.maxBeginnings))
                WHERE TRUE\(terms) LIMIT ?
                """, StatementArguments(arguments + conditions.map(\.value) + [limit]), ItemRecord.init(row:))
        }
        let byID = try found("WHERE entrupy_id >= ? AND entrupy_id < ?", [text.uppercased(), end.uppercased()])
        let byCertificate = try found(
            "INDEXED BY items_by_certificate WHERE certificate_id >= ? AND certificate_id < ?", [text, end])
        return try organizations.reduce(into: byID + byCertificate) { items, organization in
            items += try found(
                """
                INDEXED BY items_by_organization_and_customer_item_id
                WHERE organization_id = ? AND customer_item_id >= ? AND customer_item_id < ?
                """, [organization, text, end])
        }
    }

    /// A condition on items, besides the beginning that is searched for.
    package enum ItemCondition {
        case brand(String), category(String), result(String), flag(String)
        /// The id of the user who submitted the item.
        case user(Int64)

        fileprivate var column: String {
            switch self {
            case .brand: "brand_id"
            case .category: "category"
            case .result: "result_id"
            case .flag: "flag_id"
            case .user: "user_id"
            }
        }

        fileprivate var value: any DatabaseValueConvertible {
            switch self {
            case .brand(let value), .category(let value), .result(let value), .flag(let value): value
            case .user(let id): id
            }
        }
    }

    /// The number of items that a search by a beginning looks through.
    package static var maxBeginnings: Int { 10_000 }

    /// The id of an organization's latest item with a `customer_item_id`, an activity and one of some final results; `nil` if there
    /// is none.
    package func latestItem(
        organizationID: Int64, customerItemID: String, activity: String, results: [String]
    ) throws -> String? {
        let marks = Array(repeating: "?", count: results.count).joined(separator: ", ")
        return try first(
            """
            SELECT entrupy_id FROM items INDEXED BY items_by_organization_and_customer_item_id
            WHERE organization_id = ? AND customer_item_id = ? AND activity = ? AND result_final AND result_id IN (\(marks))
            ORDER BY submitted_at DESC, entrupy_id LIMIT 1
            """, [organizationID, customerItemID, activity] + StatementArguments(results)
        ) { $0[0] }
    }

    /// The item a certificate belongs to.
    package func item(certificateID: String) throws -> ItemRecord? {
        try first(
            "SELECT \(Self.itemColumns) FROM items WHERE certificate_id = ?", [certificateID], ItemRecord.init(row:))
    }

    /// Writes the parts of an item that can change: result, flag, certificate, catalogue and market data. The revision grows
    /// by one, and the stored rendering becomes invalid.
    package func updateItem(_ item: ItemRecord) throws {
        try run(
            """
            UPDATE items SET updated_at = ?, result_id = ?, result_final = ?, result_reason = ?, result_at = ?,
                initial_result_id = ?, initial_result_at = ?, decided_by = ?, planned_result_id = ?,
                planned_reason = ?, flag_id = ?, flag_reason_id = ?, flag_message = ?, flagged_at = ?,
                flag_resolved_at = ?, flag_note = ?, certificate_id = ?, catalog = ?, certificate_holder = ?,
                market_edge = ?, revision = revision + 1, rendering_key = NULL
            WHERE entrupy_id = ?
            """,
            [
                item.updatedAt, item.resultID, item.resultFinal, item.resultReason, item.resultAt,
                item.initialResultID, item.initialResultAt, item.decidedBy, item.plannedResultID, item.plannedReason,
                item.flagID, item.flagReasonID, item.flagMessage, item.flaggedAt, item.flagResolvedAt, item.flagNote,
                item.certificateID, item.catalog, item.certificateHolder, item.marketEdge, item.entrupyID,
            ])
    }
}
