// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

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
