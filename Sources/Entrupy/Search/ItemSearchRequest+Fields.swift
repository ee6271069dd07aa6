import EntrupyAPI
import Simulation
import SimulationAPI

extension ItemSearchRequest {
    /// An unknown key is refused, unlike elsewhere on `/sdk`: a misspelt filter would find everything [D item-search].
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["date_range", "filters", "result_mode", "limit", "cursor"])
        let range = Self.range(&fields)
        var lists = fields.object("filters", known: ["status", "category", "brand", "flag"])
        let filters = ItemFilters(
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
