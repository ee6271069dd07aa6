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
