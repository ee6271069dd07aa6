import EntrupyAPI
import EntrupyStorage
import Foundation
import NIOCore
import Simulation
import SimulationAPI
import Storage

/// A checked search request: its filters and its page. Dates mean the same in searches of the SDK and of the partner
/// API [D partner-search-dates].
struct ItemQuery {
    /// The allowed sizes of a page [S, P].
    static let limits = 1...25
    /// The maximum number of filters [D search-limits].
    static let maxFilters = 20

    let filters: FilterReader
    private let request: SearchRequest
    private let from: Instant?
    private let to: Instant?
    private let after: ItemSearch.Position?
    /// The parts of the query that its cursors are bound to.
    private let identity: [String]

    /// - Parameters:
    ///   - keys: the keys of allowed filters.
    ///   - surface: the API and the caller; a cursor is valid only there.
    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every problem.
    init(_ request: SearchRequest, keys: [SearchKey], surface: [String], _ job: JobContext) throws {
        self.request = request
        filters = FilterReader(request.filters, keys: keys, job.catalogue)
        let identity = Self.identity(of: request, surface: surface)
        self.identity = identity
        var problems = filters.problems
        from = Self.bound("start_date", request.start_date, &problems)
        to = Self.bound("end_date", request.end_date, &problems)
        if let from, let to, from > to { problems.add("start_date", "must not be after end_date") }
        if !Self.limits.contains(request.limit) {
            problems.add("limit", "must be a whole number from 1 to 25, got \(request.limit)")
        }
        let cursor = request.cursor?.nonEmpty
        after = cursor.flatMap { Self.position($0, of: identity, job) }
        if cursor != nil, after == nil { problems.append(Cursor.damaged) }
        try problems.check()
    }

    /// The items of the page, and the cursor of the next page; `nil` on the last.
    ///
    /// - Parameters:
    ///   - more: conditions beside those of the filters.
    ///   - key: the key of valid stored renderings; `nil` if renderings are not needed.
    func page(
        of scope: ItemSearch.Scope, where more: [ItemSearch.Term] = [], key: Int64? = nil, _ job: JobContext
    ) throws -> (items: ArraySlice<FoundItem>, next: [String]?) {
        let found = try job.transaction.items(
            ItemSearch(scope: scope, terms: filters.terms + more, from: from, to: to, after: after),
            limit: request.limit + 1, key: key)
        let page = found.prefix(request.limit)
        guard found.count > request.limit, let last = page.last else { return (page, nil) }
        return (page, Cursor.sealed("\(last.submittedAt.microseconds) \(last.entrupyID)", of: identity, job))
    }

    private static func position(_ cursor: [String], of query: [String], _ job: JobContext) -> ItemSearch.Position? {
        let position = Cursor.open(cursor.joined(separator: "."), of: query, job)
        guard cursor.count == 2, let parts = position?.split(at: " "), parts.count == 2,
            let moment = Int64(parts[0])
        else { return nil }
        return .init(submittedAt: Instant(microseconds: moment), entrupyID: String(parts[1]))
    }

    /// The parts of the query that its cursors are bound to. Page size and language may change between pages. The
    /// order of filters and of their values does not matter.
    private static func identity(of request: SearchRequest, surface: [String]) -> [String] {
        let filters = request.filters.map { filter in
            let values = (filter.values ?? [filter.value].compactMap(\.self)).sortedByBytes()
            var text = LengthPrefixed()
            text.append(filter.key)
            text.append(filter.exclude == true ? "not" : "is")
            for value in values { text.append(value) }
            return text.text
        }
        return surface + [String(request.start_date), String(request.end_date)] + filters.sortedByBytes()
    }

    /// The bound of a date; `nil` for 0, which means no bound.
    private static func bound(_ field: String, _ epoch: Double, _ problems: inout [ErrorDetail]) -> Instant? {
        guard epoch != 0 else { return nil }
        let moment = Instant(epoch: epoch)
        if moment == nil {
            problems.add(
                field, "must be epoch seconds from 0 (no bound) to the year 9999\(Instant.hint(ofMilliseconds: epoch))")
        }
        return moment
    }
}

extension Instant {
    /// The end of a message about a number that is no epoch second; empty if it is no epoch millisecond either.
    static func hint(ofMilliseconds epoch: Double) -> String {
        Instant(epoch: epoch / 1000).map { ", got what would be \($0.display) in milliseconds" } ?? ""
    }
}

extension EncodedJSON {
    /// A page of items that are already encoded.
    ///
    /// - Parameter nextCursor: the cursor, as JSON.
    static func page(_ items: [ByteBuffer], nextCursor: String) -> EncodedJSON {
        page(items, #"{"item_count":\#(items.count),"items":["#, #"],"next_cursor":\#(nextCursor)}"#)
    }

    /// A page of items that are already encoded, between the other members.
    static func page(_ items: [ByteBuffer], _ start: String, _ end: String) -> EncodedJSON {
        let length = items.reduce(start.utf8.count + end.utf8.count) { $0 + $1.readableBytes + 1 }
        var page = ByteBufferAllocator().buffer(capacity: length)
        page.writeString(start)
        for (index, item) in items.enumerated() {
            if index > 0 { page.writeInteger(UInt8(ascii: ",")) }
            page.writeImmutableBuffer(item)
        }
        page.writeString(end)
        return EncodedJSON(bytes: page)
    }

    /// `{"item": …}` for an item that is already encoded.
    static func item(_ item: ByteBuffer) -> EncodedJSON {
        let start = #"{"item":"#
        var whole = ByteBufferAllocator().buffer(capacity: start.utf8.count + item.readableBytes + 1)
        whole.writeString(start)
        whole.writeImmutableBuffer(item)
        whole.writeInteger(UInt8(ascii: "}"))
        return EncodedJSON(bytes: whole)
    }
}
