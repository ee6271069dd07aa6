// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `GET /_sim/authentications` [D control-api].
public struct AuthenticationList: Codable, Sendable {
    /// The items, in reverse order of creation.
    public var authentications: [AuthenticationSummary]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(authentications: [AuthenticationSummary], next_cursor: String?) {
        self.authentications = authentications
        _next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// The items, in reverse order of creation.
public struct AuthenticationSummary: Codable, Sendable {
    /// The item's id, as every object of the control API has one.
    public var id: String
    /// The same, under the name that the platform uses.
    public var entrupy_id: String
    /// The user who submitted the item.
    public var username: String
    /// The customer's own id of the item, or null.
    @Nullable public var customer_item_id: String?
    /// The brand's id.
    public var brand: String
    /// The brand's name; of one that the catalogue lacks, as it was sent.
    public var brand_name: String
    /// The category's id.
    public var product_category: String
    /// The time of the submission, in epoch seconds.
    public var submitted_at: Double
    /// The current result.
    public var result: AuthenticationInfo.Result
    /// The flag's status.
    public var flag: FlagID
    /// The rule that decided the result.
    public var decided_by: String
    /// The item's first picture; absent unless `thumbnails=true`.
    public var thumbnail: Nullable<Thumbnail>?

    /// A picture of a list.
    public struct Thumbnail: Codable, Sendable {
        public var url: String
        public var bytes: Int

        public init(url: String, bytes: Int) {
            self.url = url
            self.bytes = bytes
        }
    }

    public init(
        entrupy_id: String, username: String, customer_item_id: String?, brand: String, brand_name: String,
        product_category: String, submitted_at: Double, result: AuthenticationInfo.Result, flag: FlagID,
        decided_by: String, thumbnail: Nullable<Thumbnail>? = nil
    ) {
        self.id = entrupy_id
        self.entrupy_id = entrupy_id
        self.username = username
        _customer_item_id = Nullable(wrappedValue: customer_item_id)
        self.brand = brand
        self.brand_name = brand_name
        self.product_category = product_category
        self.submitted_at = submitted_at
        self.result = result
        self.flag = flag
        self.decided_by = decided_by
        self.thumbnail = thumbnail
    }
}

/// The answer of `POST /_sim/authentications` [D generated-items].
public struct GeneratedItems: Codable, Sendable {
    /// The number of items made.
    public var count: Int
    /// The ids of the first 1,000, newest first.
    public var entrupy_ids: [String]
    /// Whether the items send webhooks: true for one item without `count`, false with `count`.
    public var webhooks: Bool
    /// The brand or item type that the catalogue lacks. Absent if it has both.
    public var notes: [ErrorDetail]?

    public init(count: Int, entrupy_ids: [String], webhooks: Bool, notes: [ErrorDetail]? = nil) {
        self.count = count
        self.entrupy_ids = entrupy_ids
        self.webhooks = webhooks
        self.notes = notes
    }
}
