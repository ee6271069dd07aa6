/// `POST /sdk/search` [S].
public struct SearchRequest: Codable, Sendable {
    /// What the last answer's `next_cursor` was; empty or nil for the first page.
    public var cursor: [String]?
    /// All of them must hold; at most 20 [D].
    public var filters: [SearchFilter]
    /// Epoch seconds, inclusive; 0 is no bound.
    public var start_date: Double
    /// Epoch seconds, inclusive; 0 is no bound.
    public var end_date: Double
    /// How many items a page has: 1 to 25 [S].
    public var limit: Int

    /// Makes one from its members.
    public init(
        cursor: [String]? = nil, filters: [SearchFilter] = [], start_date: Double = 0, end_date: Double = 0,
        limit: Int = 20
    ) {
        self.cursor = cursor
        self.filters = filters
        self.start_date = start_date
        self.end_date = end_date
        self.limit = limit
    }
}

/// One condition of a search: either `value` or `values`.
public struct SearchFilter: Codable, Sendable {
    /// For instance `properties.brand.id`.
    public var key: String
    /// The value that must be there.
    public var value: String?
    /// The values one of which must be there; at most 100 [D].
    public var values: [String]?
    /// Negates the filter [P].
    public var exclude: Bool?

    /// Makes one from its members.
    public init(key: String, value: String? = nil, values: [String]? = nil, exclude: Bool? = nil) {
        self.key = key
        self.value = value
        self.values = values
        self.exclude = exclude
    }
}

/// A page of a search, newest first.
public struct EntrupySearchResult: Codable, Sendable {
    /// The items of this page.
    public var items: [EntrupyCaptureResult]
    /// How many are on this page [P].
    public var item_count: Int
    /// Where the next page begins; empty on the last one.
    public var next_cursor: [String]

    /// Makes one from its members.
    public init(items: [EntrupyCaptureResult], next_cursor: [String]) {
        self.items = items
        item_count = items.count
        self.next_cursor = next_cursor
    }
}
