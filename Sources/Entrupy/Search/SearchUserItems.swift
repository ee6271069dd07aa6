import EntrupyAPI
import EntrupyStorage
import Foundation
import NIOCore
import Simulation
import SimulationAPI
import Storage

/// `POST /sdk/items/search`: the search of the newest SDK, over the user's own submissions [P] [D item-search].
package struct SearchUserItems: Operation, Reads {
    let request: ItemSearchRequest

    /// The page size if the caller gives none.
    package static let defaultLimit = 20
    /// The number of days back that `last_days` may name, and the default [P].
    package static let days = 1...3650
    package static let defaultDays = 30
    /// The other name of results under review.
    private static let underReview = "under_review"

    package init(_ request: ItemSearchRequest) {
        self.request = request
    }

    /// The times between which items were submitted, both inclusive.
    private typealias Window = (from: Instant, to: Instant)

    package func perform(_ job: JobContext, as user: SDKUser) throws -> EncodedJSON {
        let terms = terms(job.catalogue)
        let identity = identity(of: user)
        var (window, after) = (try window(job.now), ItemSearch.Position?.none)
        if let cursor = request.cursor {
            guard let position = Self.position(cursor, of: identity, job) else {
                throw PlatformError.invalid([Cursor.damaged])
            }
            (window, after) = (position.window, position.after)
        }
        var search = ItemSearch(
            scope: .users([user.id]), terms: terms, from: window.from, to: window.to, after: nil)
        let total = try job.transaction.countItems(search)
        guard request.result_mode == .full else { return answer([], nil, total) }
        search.after = after
        let found = try job.transaction.items(search, limit: request.limit + 1, key: job.renderingKey)
        let page = found.prefix(request.limit)
        let next = found.count > request.limit ? page.last : nil
        let parts = next.map { last in
            Cursor.sealed(
                "\(window.from.microseconds) \(window.to.microseconds) \(last.submittedAt.microseconds) \(last.entrupyID)",
                of: identity, job)
        }
        let renderings = Renderings(job)
        return answer(try page.map { try renderings.sdk($0) }, parts, total)
    }

    /// The answer, ``EntrupyAPI/EntrupySearchItemsResult``, around items that are already encoded.
    private func answer(_ items: [ByteBuffer], _ next: [String]?, _ total: Int) -> EncodedJSON {
        let metadata = #"{"result_mode":"\#(request.result_mode.rawValue)"}"#
        let end = #"],"metadata":\#(metadata),"next_cursor":\#(Cursor.text(next)),"total_count":\#(total)}"#
        return .page(items, #"{"items":["#, end)
    }

    /// The window of a first page; its cursor keeps it for the next ones.
    private func window(_ now: Instant) throws -> Window {
        switch request.date_range {
        case .last(let days):
            let span = Int64(days) * Span.day.microseconds
            return (Instant(microseconds: max(0, now.microseconds - span)), now)
        case .between(let start, let end):
            var problems: [ErrorDetail] = []
            let (from, to) = (Instant(epoch: start), Instant(epoch: end))
            for (moment, epoch, name) in [(from, start, "start"), (to, end, "end")] where moment == nil {
                problems.add(
                    "date_range.\(name)",
                    "must be epoch seconds from 0 to the year 9999\(Instant.hint(ofMilliseconds: epoch))")
            }
            if let from, let to, from > to {
                problems.add("date_range.start", "must not be after date_range.end")
            }
            guard problems.isEmpty, let from, let to else { throw PlatformError.invalid(problems) }
            return (from, to)
        }
    }

    /// The conditions. A value that nothing has matches nothing: the SDK may know more than this version [P].
    private func terms(_ catalogue: Catalogue) -> [ItemSearch.Term] {
        let filters = request.filters
        let brands = filters.brand.map { catalogue.brand(matching: $0)?.id ?? ItemMetadata.identifier($0) }
        let results = filters.status.flatMap {
            $0.isIdentical(to: Self.underReview) ? [ResultID.needsReview, .received].map(\.rawValue) : [$0]
        }
        let categories = filters.category.map { catalogue.category(matching: $0)?.id ?? $0 }
        let lists: [(ItemSearch.Field, [String])] = [
            (.result, results), (.category, categories), (.brand, brands), (.flag, filters.flag),
        ]
        return lists.filter { !$0.1.isEmpty }.map { ItemSearch.Term($0.0, $0.1) }
    }

    /// The parts of a search that its cursors are bound to. The mode and the page size may change between pages.
    private func identity(of user: SDKUser) -> [String] {
        let range =
            switch request.date_range {
            case .last(let days): "last \(days)"
            case .between(let start, let end): "\(start) \(end)"
            }
        let filters = request.filters
        return ["sdk item search", String(user.id), range]
            + [filters.status, filters.category, filters.brand, filters.flag].map { values in
                values.sortedByBytes().map { "\($0.utf8.count):\($0)" }.joined()
            }
    }

    private static func position(
        _ cursor: String, of identity: [String], _ job: JobContext
    ) -> (window: Window, after: ItemSearch.Position)? {
        guard let parts = Cursor.open(cursor, of: identity, job)?.split(at: " "), parts.count == 4,
            let from = Int64(parts[0]), let to = Int64(parts[1]), let moment = Int64(parts[2])
        else { return nil }
        return (
            (Instant(microseconds: from), Instant(microseconds: to)),
            .init(submittedAt: Instant(microseconds: moment), entrupyID: String(parts[3]))
        )
    }
}

extension ItemSearchRequest {
    /// An unknown key is refused, unlike elsewhere on `/sdk`: a misspelt filter would find everything [D item-search].
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["date_range", "filters", "result_mode", "limit", "cursor"])
        let range = Self.range(&fields)
        var lists = fields.object("filters", known: ["status", "category", "brand", "flag"])
        let filters = ItemSearchRequest.ItemFilters(
            status: Self.values(&lists, "status"), category: Self.values(&lists, "category"),
            brand: Self.values(&lists, "brand"), flag: Self.values(&lists, "flag"))
        let mode = fields.word("result_mode", ResultMode.self)
        let limit = fields.number("limit", in: 1...25)
        let cursor = fields.given("cursor")
        try fields.finish()
        self.init(
            date_range: range, filters: filters, result_mode: mode ?? .full,
            limit: limit ?? SearchUserItems.defaultLimit, cursor: cursor)
    }

    private static func range(_ fields: inout FieldReader) -> DateRange {
        let isGiven = fields.value("date_range") != nil
        var range = fields.object("date_range", known: ["start", "end", "last_days"])
        guard range.has("start") || range.has("end") else {
            let days = range.number("last_days", in: SearchUserItems.days)
            if isGiven, range.value("last_days") == nil {
                range.report("", "must have start and end, or last_days")
            }
            return .last(days: days ?? SearchUserItems.defaultDays)
        }
        if range.has("last_days") { range.report("last_days", "cannot be combined with start and end") }
        range.require("start")
        range.require("end")
        // The search itself checks the moments.
        let (start, end) = (range.decimal("start", in: 0...1e15), range.decimal("end", in: 0...1e15))
        return .between(start: start ?? 0, end: end ?? 0)
    }

    private static func values(_ lists: inout FieldReader, _ key: String) -> [String] {
        let values = lists.texts(key) ?? []
        if values.count > maxValues { lists.report(key, "must be at most \(maxValues) values, got \(values.count)") }
        for (index, value) in values.prefix(maxValues).enumerated() {
            if let problem = TextRules.tooLong(value, scalars: maxScalars) { lists.report("\(key)[\(index)]", problem) }
        }
        return values
    }

    /// The limits of a filter [D item-search].
    private static let maxValues = 100
    private static let maxScalars = 256
}
