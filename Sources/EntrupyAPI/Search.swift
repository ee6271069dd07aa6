/// `POST /sdk/search` [S].
public struct SearchRequest: Codable, Sendable {
    /// The `next_cursor` of the previous page; empty or `nil` for the first page [D search-cursor].
    public var cursor: [String]?
    /// The conditions, at most 20. An item must match all of them [D search-limits].
    public var filters: [SearchFilter]
    /// The earliest time of submission in epoch seconds, inclusive. 0 means no bound.
    public var start_date: Double
    /// The latest time of submission in epoch seconds, inclusive. 0 means no bound.
    public var end_date: Double
    /// The number of items per page, 1 to 25 [S].
    public var limit: Int

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

/// One condition of a search. It has either `value` or `values`.
public struct SearchFilter: Codable, Sendable {
    /// The path of the member to compare, for instance `properties.brand.id`.
    public var key: String
    /// The required value.
    public var value: String?
    /// The accepted values, at most 100. The member must have one of them [D search-limits].
    public var values: [String]?
    /// Whether the filter is negated [P].
    public var exclude: Bool?

    public init(key: String, value: String? = nil, values: [String]? = nil, exclude: Bool? = nil) {
        self.key = key
        self.value = value
        self.values = values
        self.exclude = exclude
    }
}

/// A page of a search, newest first [D search-order].
public struct EntrupySearchResult: Codable, Sendable {
    /// The items of this page.
    public var items: [EntrupyCaptureResult]
    /// The number of items on this page [P].
    public var item_count: Int
    /// The start of the next page; empty on the last page.
    public var next_cursor: [String]

    public init(items: [EntrupyCaptureResult], next_cursor: [String]) {
        self.items = items
        item_count = items.count
        self.next_cursor = next_cursor
    }
}
