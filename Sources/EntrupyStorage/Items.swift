import EntrupyAPI
import Storage

/// A submitted item. Every API renders this record.
package struct ItemRecord: Sendable, Hashable {
    /// The place in the order of submissions; assigned by the database.
    package var position: Int64 = 0
    package var entrupyID: String
    package var captureID: String?
    package var organizationID: Int64
    package var userID: Int64
    /// The workflow of the item's capture.
    package var configType: ConfigType
    package var category: String
    package var brandID: String
    package var brandName: String
    package var customerItemID: String?
    /// The item as the app described it, a JSON object.
    package var metadata: String
    package var captureStartedAt: Instant?
    package var submittedAt: Instant
    package var updatedAt: Instant
    /// The current result, which is ``ResultID/needsReview`` until the first final one.
    package var result: ResultID
    package var resultFinal = false
    package var resultReason: String?
    /// The time at which the current final result was set.
    package var resultAt: Instant?
    /// The first final result; never changes.
    package var initialResult: ResultID?
    package var initialResultAt: Instant?
    /// The rule that decided the result.
    package var decidedBy: DecisionRule
    /// The result that is still due; `nil` if none is.
    package var plannedResult: ResultID?
    package var plannedReason: String?
    package var flag = FlagID.unflagged
    package var flagReasonID: String?
    package var flagMessage: String?
    package var flaggedAt: Instant?
    package var flagResolvedAt: Instant?
    package var flagNote: String?
    package var certificateID: String?
    /// The item's catalogue data, a JSON object; `nil` if it is generated from the item.
    package var catalog: String?
    /// The email of the certificate's new holder; `nil` if it was not transferred.
    package var certificateHolder: String?
    /// The service that the platform performed. Never changes.
    package var activity: Activity
    /// The device that took its pictures. Never changes [P, D form-factors].
    package var formFactor = FormFactor.freeCamera
    /// The item that it was compared with; `nil` if it was not compared. Never changes.
    package var fingerprintParent: String?
    /// The market data that the item was given, a JSON object; `nil` if it follows from the item.
    package var marketEdge: String?
    /// Grows by one with every change.
    package var revision = 1

    package init(
        entrupyID: String, captureID: String?, organizationID: Int64, userID: Int64, configType: ConfigType,
        category: String, brandID: String, brandName: String, customerItemID: String?, metadata: String,
        captureStartedAt: Instant?, submittedAt: Instant, result: ResultID, decidedBy: DecisionRule,
        activity: Activity = .authentication
    ) {
        self.activity = activity
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
        self.result = result
        self.decidedBy = decidedBy
    }
}

/// The rule that decided an item's result [D decision-order].
package enum DecisionRule: String, StoredWord, CaseIterable {
    case debugConfiguration = "debug_configuration"
    case outcomeRule = "outcome_rule"
    case magicCustomerItemID = "magic_customer_item_id"
    case unknownBrand = "unknown_brand"
    case unknownItemType = "unknown_item_type"
    case namespaceDefault = "namespace_default"
    /// Not decided at submission: set through the control API.
    case control
    /// Not decided at submission: changed by support when it resolved a flag.
    case flagResolution = "flag_resolution"
}

extension ItemRecord: StoredRecord {
    package static let table = Table(
        "items", key: .counted,
        blank: ItemRecord(
            entrupyID: "", captureID: nil, organizationID: 0, userID: 0, configType: .production, category: "",
            brandID: "", brandName: "", customerItemID: nil, metadata: "", captureStartedAt: nil, submittedAt: .epoch,
            result: .needsReview, decidedBy: .control)
    ) {
        $0.column("position", \.position, .row, isAssigned: true)
        $0.column("entrupy_id", \.entrupyID, .id("item"))
        $0.column("capture_id", \.captureID, .id("capture").orNull, refersTo: "captures.id")
        $0.column("organization_id", \.organizationID, .row, refersTo: "organizations.id")
        $0.column("user_id", \.userID, .row, refersTo: "users.id")
        $0.column("config_type", \.configType, .word(ConfigType.self))
        $0.column("category", \.category, .named("category"))
        $0.column("brand_id", \.brandID, .prose)
        $0.column("brand_name", \.brandName, .prose)
        $0.column("customer_item_id", \.customerItemID, .text(1...2000).orNull)
        $0.column("metadata", \.metadata, .object)
        $0.column("capture_started_at", \.captureStartedAt, .time.orNull)
        $0.column("submitted_at", \.submittedAt, .time)
        $0.column("updated_at", \.updatedAt, .time, changes: true)
        $0.column("result_id", \.result, .word(ResultID.self), changes: true)
        $0.column("result_final", \.resultFinal, .flag, changes: true)
        $0.column("result_reason", \.resultReason, .identifier.orNull, changes: true)
        $0.column("result_at", \.resultAt, .time.orNull, changes: true)
        $0.column("initial_result_id", \.initialResult, .word(ResultID.self).orNull, changes: true)
        $0.column("initial_result_at", \.initialResultAt, .time.orNull, changes: true)
        $0.column("decided_by", \.decidedBy, .word(DecisionRule.self), changes: true)
        $0.column("planned_result_id", \.plannedResult, .word(ResultID.self).orNull, changes: true)
        $0.column("planned_reason", \.plannedReason, .identifier.orNull, changes: true)
        $0.column("flag_id", \.flag, .identifier, changes: true)
        $0.column("flag_reason_id", \.flagReasonID, .identifier.orNull, changes: true)
        $0.column("flag_message", \.flagMessage, .prose.orNull, changes: true)
        $0.column("flagged_at", \.flaggedAt, .time.orNull, changes: true)
        $0.column("flag_resolved_at", \.flagResolvedAt, .time.orNull, changes: true)
        $0.column("flag_note", \.flagNote, .prose.orNull, changes: true)
        $0.column("certificate_id", \.certificateID, .named("certificate").orNull, changes: true)
        $0.column("revision", \.revision, .count)
        // Uploaded renderings are never used: see ``NamespaceKey/renderingSalt``.
        $0.column("rendering_key", .integer(.min ... .max).orNull)
        $0.column("sdk_rendering", .unread)
        $0.column("catalog", \.catalog, .object.orNull, changes: true)
        $0.column("certificate_holder", \.certificateHolder, .name.orNull, changes: true)
        $0.column("activity", \.activity, .word(Activity.self))
        $0.column("fingerprint_parent", \.fingerprintParent, .id("item").orNull)
        $0.column("market_edge", \.marketEdge, .named("market_edge").orNull, changes: true)
        $0.column("form_factor", \.formFactor, .word(FormFactor.self))
    }

    /// The parts of an item that can change. The revision grows by one, and the stored rendering becomes invalid.
    fileprivate static let change = table.update(
        by: \.entrupyID,
        also: ["revision = revision + 1", "rendering_key = NULL"])
}

extension Transaction {
    /// The number of items that a search finds on all its pages. Takes time proportional to the items of its owner.
    package func countItems(_ search: ItemSearch) throws -> Int {
        guard let count = search.count() else { return 0 }
        return try read(count) { try $0.next() ? Int($0.integer(0)) : 0 }
    }

    package func hasItem(entrupyID: String) throws -> Bool {
        try first("SELECT 1 FROM items WHERE entrupy_id = ?", [entrupyID]) { _ in true } ?? false
    }

    package func item(entrupyID: String) throws -> ItemRecord? { try record("WHERE entrupy_id = ?", [entrupyID]) }

    /// Items before a position, newest first.
    package func items(before position: Int64, limit: Int) throws -> [ItemRecord] {
        try records("WHERE position < ? ORDER BY position DESC LIMIT ?", [position, limit])
    }

    /// Items whose id, certificate's id or `customer_item_id` begins with a text and that meet all conditions, in no
    /// order. Finds at most `limit` of each kind, among the first ``maxBeginnings`` of each that begin with the text.
    ///
    /// - Parameter organizations: the owners of the items.
    package func items(
        beginningWith text: String, organizations: [Int64], where terms: [ItemSearch.Term], limit: Int
    ) throws -> [ItemRecord] {
        let end = text + "\u{10ffff}"
        let conditions = terms.map { $0.condition(column: $0.field.rawValue) }.joined()
        let values = terms.flatMap(\.arguments)
        func found(_ source: String, _ arguments: [any ColumnValue]) throws -> [ItemRecord] {
            try read(
                """
                SELECT * FROM (\(ItemRecord.table.select)\(source) LIMIT \(Self.maxBeginnings))
                WHERE TRUE\(conditions) LIMIT ?
                """, arguments + values + [limit], ItemRecord.table.all)
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

    /// The number of items that a search by a beginning looks through.
    package static var maxBeginnings: Int { 10_000 }

    /// The id of an organization's latest item with a `customer_item_id`, an activity and one of some final results; `nil` if there
    /// is none.
    package func latestItem(
        organizationID: Int64, customerItemID: String, activity: Activity, results: [ResultID]
    ) throws -> String? {
        let marks = Array(repeating: "?", count: results.count).joined(separator: ", ")
        return try first(
            """
            SELECT entrupy_id FROM items INDEXED BY items_by_organization_and_customer_item_id
            WHERE organization_id = ? AND customer_item_id = ? AND activity = ? AND result_final AND result_id IN (\(marks))
            ORDER BY submitted_at DESC, entrupy_id LIMIT 1
            """, [organizationID, customerItemID, activity] + results
        ) { try $0[0] }
    }

    /// The organization of an item with a `customer_item_id`, among the first hundred organizations; `nil` if none of them has one.
    package func ownerOfItem(customerItemID: String) throws -> Int64? {
        try first(
            """
            SELECT id FROM (SELECT id FROM organizations ORDER BY id LIMIT 100) AS owner WHERE EXISTS (
                SELECT 1 FROM items INDEXED BY items_by_organization_and_customer_item_id
                WHERE organization_id = owner.id AND customer_item_id = ?)
            LIMIT 1
            """, [customerItemID]
        ) { try $0[0] }
    }

    /// The item a certificate belongs to.
    package func item(certificateID: String) throws -> ItemRecord? {
        try record("WHERE certificate_id = ?", [certificateID])
    }

    /// Writes the parts of an item that can change: result, flag, certificate and catalogue data. The revision grows
    /// by one, and the stored rendering becomes invalid.
    package func updateItem(_ item: ItemRecord) throws { try update(item, ItemRecord.change) }
}
