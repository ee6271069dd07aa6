import EntrupyAPI
import Simulation
import SimulationAPI

/// `POST /sdk/search`: the user's own submissions, newest first [S]. For its cursors see [D search-cursor].
package struct SearchSubmissions: Operation, Reads {
    let request: SearchRequest

    /// The page size if the caller gives none [D search-limits].
    package static let defaultLimit = 20

    package init(_ request: SearchRequest) {
        self.request = request
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> EncodedJSON {
        let query = try ItemQuery(request, keys: SearchKey.ofUser, surface: ["sdk search", String(user.id)], job)
        let page = try query.page(of: .users([user.id]), key: job.renderingKey, job)
        let renderings = Renderings(job)
        return .page(try page.items.map { try renderings.sdk($0) }, nextCursor: Cursor.array(page.next))
    }
}

extension SearchRequest {
    /// A user's search.
    package init(_ input: some RequestInput) throws {
        try self.init(input.fields, hasTextCursor: false, defaultLimit: SearchSubmissions.defaultLimit)
    }

    /// An organization's search. `format_options`, and a filter's `text_fields`, are accepted and ignored [P].
    package init(partner input: some RequestInput, _ version: PartnerVersion) throws {
        try self.init(input.fields, hasTextCursor: version == .v2, defaultLimit: SearchPartnerItems.defaultLimit)
    }

    private init(_ fields: FieldReader, hasTextCursor: Bool, defaultLimit: Int) throws {
        var fields = fields
        let cursor = hasTextCursor ? Self.textCursor(&fields) : Self.arrayCursor(&fields)
        let filters = Self.filters(&fields)
        let start = fields.value("start_date", "must be a number of epoch seconds, 0 for no bound", Self.date)
        let end = fields.value("end_date", "must be a number of epoch seconds, 0 for no bound", Self.date)
        // The search itself checks the range.
        let limit = fields.value("limit", "must be a whole number from 1 to 25") { value in
            if case .number(let number) = value { Int(exactly: number.double) } else { nil }
        }
        try fields.finish()
        self.init(
            cursor: cursor, filters: filters, start_date: start ?? 0, end_date: end ?? 0, limit: limit ?? defaultLimit)
    }

    private static func textCursor(_ fields: inout FieldReader) -> [String]? {
        let text = fields.value("cursor", "must be the string from the previous answer's next_cursor", \.text)
        guard let text, !text.isEmpty else { return nil }
        return text.split(at: ".", omittingEmpty: false).map(String.init)
    }

    private static func arrayCursor(_ fields: inout FieldReader) -> [String]? {
        fields.value("cursor", "must be the array of strings from the previous answer's next_cursor") { value in
            value.elements.flatMap { elements in
                let texts = elements.compactMap(\.text)
                return texts.count == elements.count ? texts : nil
            }
        }
    }

    private static func filters(_ fields: inout FieldReader) -> [SearchFilter] {
        let maxCount = ItemQuery.maxFilters
        guard var list = fields.elements("filters", "must be an array of objects") else { return [] }
        if list.names.count > maxCount {
            fields.report("filters", "must be at most \(maxCount), got \(list.names.count)")
        }
        return list.names.prefix(maxCount).map { name in
            list.fields.require(name)
            var filter = list.fields.object(name)
            return SearchFilter(&filter)
        }
    }

    private static func date(_ value: JSONValue) -> Double? {
        guard case .number(let number) = value, number.double >= 0 else { return nil }
        return number.double
    }
}

extension SearchFilter {
    fileprivate init(_ fields: inout FieldReader) {
        self.init(
            // The search answers an unknown key, and a missing one, with the list of valid keys.
            key: fields.optionalString("key") ?? "", value: fields.optionalString("value"),
            values: fields.value(
                "values", "must be a list of texts, for instance [\"authentic\"]; one text alone belongs in value"
            ) { value in
                value.elements.flatMap { elements in
                    let texts = elements.compactMap(\.text)
                    return texts.count == elements.count && !texts.contains { $0.utf8.contains(0) } ? texts : nil
                }
            }, exclude: fields.optionalBool("exclude"))
    }
}
