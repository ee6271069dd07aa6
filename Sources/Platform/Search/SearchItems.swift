import EntrupyAPI
import Foundation
import Storage

/// `POST /sdk/search`: the user's own submissions, newest first [S].
package struct SearchItems: UserOperation {
    package static let access = Access.reads
    let request: SearchRequest

    /// The most items a page can have, and how many where the caller does not say [S, D].
    package static let limits = 1...25
    package static let defaultLimit = 20
    /// The most filters [D].
    package static let mostFilters = 20

    package init(_ request: SearchRequest) {
        self.request = request
    }

    package func perform(_ visit: Visit, for user: SignedInUser) throws -> EncodedJSON {
        let filters = FilterReader(request.filters, visit.catalogue)
        var problems = filters.problems
        let from = bound("start_date", request.start_date, &problems)
        let to = bound("end_date", request.end_date, &problems)
        if let from, let to, from > to {
            problems.append(ErrorDetail("start_date", "must not be after end_date"))
        }
        if !Self.limits.contains(request.limit) {
            problems.append(
                ErrorDetail("limit", "must be a whole number from 1 to 25, this is \(request.limit)"))
        }
        let query = identity(of: user)
        let after = request.cursor.flatMap { $0.isEmpty ? nil : $0 }.flatMap { cursor in
            let position = Cursor.open(cursor.joined(separator: "."), of: query, visit)
            guard cursor.count == 2, let parts = position?.split(separator: " "), parts.count == 2,
                let moment = Int64(parts[0])
            else {
                problems.append(
                    ErrorDetail(
                        "cursor", "is damaged or comes from another query; send the next_cursor of the page before"))
                return nil as ItemSearch.Position?
            }
            return .init(submittedAt: Instant(microseconds: moment), entrupyID: String(parts[1]))
        }
        guard problems.isEmpty else { throw PlatformError.invalid(problems) }
        guard !filters.matchesNothing else { return try Self.page([], nextCursor: []) }

        let found = try visit.transaction.items(
            ItemSearch(userID: user.id, terms: filters.terms, from: from, to: to, after: after),
            limit: request.limit + 1, key: visit.world.renderingKey)
        let page = found.prefix(request.limit)
        let next =
            found.count > request.limit
            ? page.last.map { Cursor.seal("\($0.submittedAt.microseconds) \($0.entrupyID)", of: query, visit) } : nil
        return try Self.page(
            page.map { try Renderings.sdk($0, visit) }, nextCursor: next?.split(separator: ".").map(String.init) ?? [])
    }

    /// An ``EntrupySearchResult`` of items that are encoded already.
    private static func page(_ items: [Data], nextCursor: [String]) throws -> EncodedJSON {
        var bytes = Data(capacity: items.reduce(200) { $0 + $1.count + 1 })
        bytes.append(contentsOf: Array(#"{"item_count":\#(items.count),"items":["#.utf8))
        for (index, item) in items.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(item)
        }
        bytes.append(contentsOf: Array(#"],"next_cursor":"#.utf8))
        bytes.append(try WireJSON.encode(nextCursor))
        bytes.append(UInt8(ascii: "}"))
        return EncodedJSON(bytes: bytes)
    }

    /// What a cursor of this query must not be used without. Page size and language may change between pages; the order
    /// of filters and of their values does not matter.
    private func identity(of user: SignedInUser) -> [String] {
        let filters = request.filters.map { filter in
            let values = (filter.values ?? filter.value.map { [$0] } ?? []).sorted {
                $0.utf8.lexicographicallyPrecedes($1.utf8)
            }
            return ([filter.key, filter.exclude == true ? "not" : "is"] + values).map { "\($0.utf8.count):\($0)" }
                .joined()
        }
        return ["sdk search", String(user.id), String(request.start_date), String(request.end_date)]
            + filters.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// A date's bound; nil for 0, which is none.
    private func bound(_ field: String, _ epoch: Double, _ problems: inout [ErrorDetail]) -> Instant? {
        guard epoch != 0 else { return nil }
        guard let moment = Instant(epoch: epoch) else {
            problems.append(ErrorDetail(field, "must be epoch seconds from 0 (no bound) to the year 9999"))
            return nil
        }
        return moment
    }
}
