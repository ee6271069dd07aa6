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

/// `POST /sdk/items/search`, the search of the newest SDK [P] [D item-search].
public struct ItemSearchRequest: Codable, Sendable {
    /// The times of submission.
    public var date_range: DateRange
    /// The conditions, which must all hold.
    public var filters: ItemFilters
    public var result_mode: ResultMode
    /// The number of items per page, 1 to 25.
    public var limit: Int
    /// The `next_cursor` of the previous page; `nil` for the first page.
    public var cursor: String?

    public init(
        date_range: DateRange = .last(days: 30), filters: ItemFilters = ItemFilters(), result_mode: ResultMode = .full,
        limit: Int = 20, cursor: String? = nil
    ) {
        self.date_range = date_range
        self.filters = filters
        self.result_mode = result_mode
        self.limit = limit
        self.cursor = cursor
    }

    /// The content of a search's answer.
    public enum ResultMode: String, Codable, Sendable, CaseIterable {
        /// The items of the page.
        case full
        /// Only their number.
        case countOnly = "count_only"
    }

    /// The times of submission that a search covers.
    public enum DateRange: Codable, Sendable {
        /// The last days until now, 1 to 3,650: `{"last_days": 30}`.
        case last(days: Int)
        /// Between two times in epoch seconds, both inclusive: `{"start": …, "end": …}`.
        case between(start: Double, end: Double)

        private enum Key: String, CodingKey {
            case last_days, start, end
        }

        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            if let days = try members.decodeIfPresent(Int.self, forKey: .last_days) {
                self = .last(days: days)
            } else {
                self = .between(
                    start: try members.decode(Double.self, forKey: .start),
                    end: try members.decode(Double.self, forKey: .end))
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Key.self)
            switch self {
            case .last(let days): try members.encode(days, forKey: .last_days)
            case .between(let start, let end):
                try members.encode(start, forKey: .start)
                try members.encode(end, forKey: .end)
            }
        }
    }
}

/// The conditions of an item search. An empty list is no condition; otherwise an item must have one of its values.
public struct ItemFilters: Codable, Sendable {
    /// Ids of results; `under_review` is `needs_review`.
    public var status: [String]
    /// Ids of categories.
    public var category: [String]
    /// Ids or names of brands.
    public var brand: [String]
    /// Ids of flags.
    public var flag: [String]

    public init(status: [String] = [], category: [String] = [], brand: [String] = [], flag: [String] = []) {
        self.status = status
        self.category = category
        self.brand = brand
        self.flag = flag
    }
}

/// A page of an item search, newest first [P].
public struct EntrupySearchItemsResult: Codable, Sendable {
    public var metadata: Metadata
    /// The number of all items that match.
    public var total_count: Int
    /// The items of this page; empty in the mode `count_only`.
    public var items: [EntrupyCaptureResult]
    /// The start of the next page; null on the last.
    public var next_cursor: String?

    public init(metadata: Metadata, total_count: Int, items: [EntrupyCaptureResult], next_cursor: String?) {
        self.metadata = metadata
        self.total_count = total_count
        self.items = items
        self.next_cursor = next_cursor
    }

    /// The kind of an answer.
    public struct Metadata: Codable, Sendable {
        public var result_mode: ItemSearchRequest.ResultMode

        public init(result_mode: ItemSearchRequest.ResultMode) {
            self.result_mode = result_mode
        }
    }
}
