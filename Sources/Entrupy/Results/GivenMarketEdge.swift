import EntrupyAPI
import Simulation
import SimulationAPI

/// Market data that the control API, a scenario or a template of items gives an item [D market-edge].
///
/// A part that is absent follows from the item. A part that is null is left out of the answer.
struct GivenMarketEdge {
    enum Part<Value: Sendable>: Sendable {
        case absent, null
        case given(Value)

        /// The value that counts: the one that was given, none for null, else the one that follows from the item.
        func value(or follows: @autoclosure () -> Value?) -> Value? {
            switch self {
            case .given(let value): value
            case .null: nil
            case .absent: follows()
            }
        }
    }

    struct Grade: Sendable {
        let id: String
        let display: String
    }

    struct Match: Sendable {
        let product: String
        var confidence: JSONValue?
    }

    /// A condition. One that follows from the catalogue data may lack a rating, and alone has details.
    struct Condition: Sendable {
        var score: JSONValue?
        var rating: String?
        var issues: [String] = []
        var details: [MarketEdge.Grade.Report.Detail] = []
    }

    var grade = Part<Grade>.absent
    var match = Part<Match>.absent
    /// The price with its currency.
    var price = Part<String>.absent
    var condition = Part<Condition>.absent
    var listings = Part<[JSONObject]>.absent
    var disclaimer = Part<[String]>.absent
    var failure = Part<MarketEdge.Failure>.absent

    /// Nothing is given: everything follows from the item.
    init() {}

    /// Reads stored data.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` with all problems, by the path from the item's root.
    init(_ members: JSONObject) throws {
        var fields = FieldReader([Self.name: .object(members)])
        self.init(&fields)
        try fields.finish()
    }

    /// The name of the member that gives the data.
    static let name = "market_edge"
    /// The maximum length of the data as JSON, in bytes.
    static let maxBytes = 100_000
    /// The maximum number of listings, and of issues.
    static let maxCount = 100

    private static let parts = [
        "market_grade", "market_match", "market_value", "condition", "marketplace_listings", "disclaimer", "error",
    ]
    /// The members of the answer that follow from the item.
    private static let fixed = ["identifier", "client_polling_instruction"]

    private init(_ fields: inout FieldReader) {
        let members = fields.value(Self.name)?.members ?? [:]
        var edge = fields.object(Self.name)
        for key in Self.fixed where members[key] != nil {
            edge.report(
                key, "cannot be set: it is the same for every item, or follows from the item's id; leave it out")
        }
        edge.refuseMembers(except: Self.parts, ignoring: Self.fixed)
        grade = edge.part("market_grade", ["id", "display"]) {
            Grade(id: $0.requiredText("id", maxBytes: 100), display: $0.requiredText("display", maxBytes: 200))
        }
        match = edge.part("market_match", ["product", "confidence"]) {
            Match(product: $0.requiredText("product", maxBytes: 500), confidence: $0.numeral("confidence", in: 0...1))
        }
        price = edge.part("market_value", ["price"]) { $0.requiredText("price", maxBytes: 100) }
        condition = edge.part("condition", ["score", "rating", "issues"]) {
            Condition(
                score: $0.numeral("score", in: 0...100), rating: $0.requiredText("rating", maxBytes: 200),
                issues: $0.proses("issues") ?? [])
        }
        failure = edge.part("error", ["message", "show", "retry", "ecode"]) {
            MarketEdge.Failure(
                message: $0.requiredText("message"), show: $0.optionalBool("show") ?? true,
                retry: $0.optionalBool("retry") ?? false, ecode: $0.text("ecode", maxBytes: 100))
        }
        if edge.has("disclaimer") {
            disclaimer = edge.value("disclaimer") == nil ? .null : .given(edge.proses("disclaimer") ?? [])
        }
        if edge.has("marketplace_listings") {
            listings =
                edge.value("marketplace_listings") == nil ? .null : .given(edge.listings("marketplace_listings"))
        }
        // Members of a request always encode.
        let length = (try? StoredJSON.encode(JSONValue.object(members)))?.utf8.count ?? .max
        if length > Self.maxBytes {
            edge.report("", "must be at most \(Self.maxBytes) bytes as JSON, got \(length)")
        }
    }
}

/// The members of a marketplace listing: those of the catalogue data, and those of both published models [P].
enum MarketListing {
    /// Those that a listing needs.
    static let required = ["platform", "title", "price"]
    static let texts =
        required + [
            "currency", "link", "brand", "image_url", "category", "style", "description", "price_min", "price_max",
            "price_avg", "price_difference", "price_difference_perc", "price_days_window",
        ]
    static let known = texts + ["time_of_report", "price_difference_positive", "confidence"]
}

extension FieldReader {
    /// The item's `market_edge` as it was given; `nil` if it is absent or null. Reports its problems.
    package mutating func marketEdge() -> JSONObject? {
        guard let members = members(GivenMarketEdge.name) else { return nil }
        do {
            _ = try GivenMarketEdge(members)
        } catch let error as PlatformError {
            for detail in error.details { report(detail.field, detail.problem) }
        } catch {
            report(GivenMarketEdge.name, "cannot be read")
        }
        return members
    }

    /// A part of the data: absent, null, or an object with no members but `known`.
    fileprivate mutating func part<Value: Sendable>(
        _ key: String, _ known: [String], _ read: (inout FieldReader) -> Value
    ) -> GivenMarketEdge.Part<Value> {
        guard has(key) else { return .absent }
        guard let value = value(key) else { return .null }
        var part = object(key)
        // A part that is not an object has been reported above.
        guard value.members != nil else { return .null }
        part.refuseMembers(except: known)
        return .given(read(&part))
    }

    /// A number in a range, as it was written.
    fileprivate mutating func numeral(_ key: String, in range: ClosedRange<Double>) -> JSONValue? {
        decimal(key, in: range) == nil ? nil : value(key)
    }

    /// A list of texts, bounded in number and length.
    fileprivate mutating func proses(_ key: String) -> [String]? {
        guard let texts = texts(key) else { return nil }
        if texts.count > GivenMarketEdge.maxCount {
            report(key, "must have at most \(GivenMarketEdge.maxCount) texts, got \(texts.count)")
        }
        for (index, text) in texts.enumerated() {
            if let problem = TextRules.tooLong(text, bytes: 2000) { report("\(key)[\(index)]", problem) }
        }
        return texts
    }

    /// A list of listings, with the members of the catalogue data and of the published models.
    fileprivate mutating func listings(_ key: String) -> [JSONObject] {
        guard var list = elements(key, "must be an array of objects") else { return [] }
        if list.names.count > GivenMarketEdge.maxCount {
            report(key, "must have at most \(GivenMarketEdge.maxCount) listings, got \(list.names.count)")
        }
        return list.names.compactMap { name in
            guard let members = list.fields.value(name)?.members else {
                list.fields.report(name, "must be an object")
                return nil
            }
            var listing = list.fields.object(name)
            listing.refuseMembers(except: MarketListing.known)
            for text in MarketListing.texts {
                if MarketListing.required.contains(text) {
                    _ = listing.requiredText(text, maxBytes: 2000)
                } else {
                    _ = listing.text(text, maxBytes: 2000)
                }
            }
            _ = listing.decimal("confidence", in: 0...1)
            _ = listing.decimal("time_of_report", in: 0...253_402_300_799)
            _ = listing.optionalBool("price_difference_positive")
            return members
        }
    }
}
