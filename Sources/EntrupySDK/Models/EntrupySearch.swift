import Foundation

/// A page of the user's submissions.
public struct EntrupySearchResult: Codable, Sendable {
    /// The number of items on this page.
    public let item_count: Int
    public let items: [EntrupyCaptureResult]
    /// The start of the next page; empty or absent on the last page.
    public let next_cursor: [String]?
}

/// A page of an item search.
public struct EntrupySearchItemsResult: Codable, Sendable {
    public let metadata: EntrupySearchItemsResultMetadata
    /// The number of all items that match.
    public let total_count: Int
    /// The number of items on this page.
    public let item_count: Int
    /// The items; empty if the query asked for the count only.
    public let items: [EntrupyCaptureResult]?
    /// The start of the next page; absent on the last page.
    public let next_cursor: [String]?
}

/// The kind of an item search's result.
public struct EntrupySearchItemsResultMetadata: Codable, Sendable {
    public let result_mode: String?
}

/// A query of ``EntrupyApp/searchAuthenticationItems(query:completion:)``.
public class EntrupySearchQuery: NSObject {
    /// The times of submission; `nil` is the last 30 days.
    public var dateRange: DateRange?
    /// The conditions, which must all hold.
    public var filters: [EntrupySearchFilter]
    public var resultMode: ResultMode
    /// The number of items per page, 1 to 25.
    public var limit: Int
    /// The `next_cursor` of the previous page; `nil` for the first page.
    public var cursor: [String]?

    /// A range of times of submission.
    public enum DateRange: Sendable {
        /// The last days until now, 1 to 3,650.
        case last(days: Int)
        /// Between two moments, both inclusive, in ISO 8601: `2026-01-05`, `2026-01-05T09:00:00Z`. A date alone begins and
        /// ends with its day in UTC.
        case custom(start: String, end: String)
    }

    public override convenience init() {
        self.init(dateRange: .last(days: 30))
    }

    public init(
        dateRange: DateRange? = .last(days: 30), filters: [EntrupySearchFilter] = [], resultMode: ResultMode = .results,
        limit: Int = 20, cursor: [String]? = nil
    ) {
        self.dateRange = dateRange
        self.filters = filters
        self.resultMode = resultMode
        self.limit = limit
        self.cursor = cursor
    }
}

/// The content of an item search's result.
public enum ResultMode: Sendable {
    case countOnly, results
    /// A mode that this version does not know. The platform refuses it.
    case other(String)
}

/// A condition of an item search: the item has one of the values.
public enum EntrupySearchFilter: Sendable {
    case status([AuthenticationStatus])
    case category([Category])
    /// Brands by id or name.
    case brands([String])
    case flag([FlagStatus])

    public enum AuthenticationStatus: Sendable {
        case authentic, underReview, invalid, notSupported, unidentified
        /// A result by its id.
        case other(String)
    }

    public enum Category: Sendable {
        case luxury, apparel, sneakers
        /// A category by its id.
        case other(String)
    }

    public enum FlagStatus: Sendable {
        case none, flagged, resolved
        /// A state by its id.
        case other(String)
    }
}
