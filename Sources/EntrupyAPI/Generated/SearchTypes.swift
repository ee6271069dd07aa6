// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `POST /sdk/search` [S].
public struct SearchRequest: Codable, Sendable {
    /// The `next_cursor` of the previous page; empty, null or absent for the first page [D search-cursor].
    public var cursor: [String]?
    /// Source: [D search-limits].
    public var filters: [SearchFilter]
    /// The earliest time in epoch seconds, inclusive. 0 means no bound. A value after `end_date` is 400.
    public var start_date: Double
    /// The latest time in epoch seconds, inclusive. 0 means no bound.
    public var end_date: Double
    /// Source: [S].
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

/// `POST /sdk/items/search` [P] [D item-search].
public struct ItemSearchRequest: Codable, Sendable {
    /// The times of submission: `start` and `end` in epoch seconds, inclusive, or `last_days`.
    public var date_range: DateRange
    public var filters: ItemFilters
    /// Whether the items are sent, or their number alone.
    public var result_mode: ResultMode
    public var limit: Int
    /// The `next_cursor` of the previous page; empty or absent for the first page.
    public var cursor: String?

    public struct ItemFilters: Codable, Sendable {
        /// Ids of results; `under_review` is `needs_review` and `received`.
        public var status: [String]
        public var category: [String]
        /// Ids or names of brands.
        public var brand: [String]
        public var flag: [String]

        public init(status: [String] = [], category: [String] = [], brand: [String] = [], flag: [String] = []) {
            self.status = status
            self.category = category
            self.brand = brand
            self.flag = flag
        }
    }

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
}

/// A filter with either `value` or `values`. Brands and categories are those of the namespace's seed data.
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
        self.item_count = items.count
        self.next_cursor = next_cursor
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

    public struct Metadata: Codable, Sendable {
        public var result_mode: ItemSearchRequest.ResultMode

        public init(result_mode: ItemSearchRequest.ResultMode) {
            self.result_mode = result_mode
        }
    }

    public init(metadata: Metadata, total_count: Int, items: [EntrupyCaptureResult], next_cursor: String? = nil) {
        self.metadata = metadata
        self.total_count = total_count
        self.items = items
        self.next_cursor = next_cursor
    }
}
