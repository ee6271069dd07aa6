import SimulationAPI

/// `GET /_sim/authentications` [D control-api].
public struct AuthenticationList: Codable, Sendable {
    /// The items, in reverse order of creation.
    public var authentications: [AuthenticationSummary]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(authentications: [AuthenticationSummary], next_cursor: String?) {
        self.authentications = authentications
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// An item in a list. `GET /_sim/authentications/{entrupy_id}` shows all of its details.
public struct AuthenticationSummary: Codable, Sendable {
    /// The item's id. Every object of the control API has a member with this name.
    public var id: String
    /// The same, under the name that the platform uses.
    public var entrupy_id: String
    /// The name of the item's user.
    public var username: String
    /// The customer's own id of the item, or null.
    @Nullable public var customer_item_id: String?
    /// The brand's id.
    public var brand: String
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
    /// The item's first picture, or null; absent unless the query asks for it with `thumbnails=true`.
    public var thumbnail: Nullable<Thumbnail>?

    /// A picture of a list.
    public struct Thumbnail: Codable, Sendable {
        /// The URL of the picture, which is the original.
        public var url: String
        /// The size of the file in bytes.
        public var bytes: Int

        public init(url: String, bytes: Int) {
            self.url = url
            self.bytes = bytes
        }
    }

    public init(
        entrupy_id: String, username: String, customer_item_id: String?, brand: String, product_category: String,
        submitted_at: Double, result: AuthenticationInfo.Result, flag: FlagID, decided_by: String
    ) {
        id = entrupy_id
        self.entrupy_id = entrupy_id
        self.username = username
        self._customer_item_id = Nullable(wrappedValue: customer_item_id)
        self.brand = brand
        self.product_category = product_category
        self.submitted_at = submitted_at
        self.result = result
        self.flag = flag
        self.decided_by = decided_by
    }
}

/// The answer of `POST /_sim/authentications` [D generated-items].
public struct GeneratedItems: Codable, Sendable {
    /// The number of items made.
    public var count: Int
    /// The ids of the first 1,000, newest first.
    public var entrupy_ids: [String]
    /// Whether the items send webhooks: true for one item without `count`, false for counted items, even if it is one.
    public var webhooks: Bool
    /// Members of the template that are probably meant as others: `custmer_item_id`, or a rule's `after`. Absent if there are none.
    public var notes: [ErrorDetail]?

    public init(count: Int, entrupy_ids: [String], webhooks: Bool, notes: [ErrorDetail]? = nil) {
        self.count = count
        self.entrupy_ids = entrupy_ids
        self.webhooks = webhooks
        self.notes = notes
    }
}
