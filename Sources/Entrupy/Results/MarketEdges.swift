import EntrupyAPI
import EntrupyStorage
import Foundation
import Hashes
import Simulation
import SimulationAPI
import Storage

/// `GET /sdk/results/{entrupy_id}/market-edge`: the market data of an item with a final result [D market-edge].
package enum ShowMarketEdge: RuleByID, Reads {
    package static func perform(_ entrupyID: String, _ job: JobContext, as user: SDKUser) throws -> MarketEdge {
        let item = try user.item(entrupyID, job)
        guard item.resultFinal else {
            throw PlatformError.wrongState(
                "the item has no final result yet, and market data comes with the final result",
                [
                    ErrorDetail(
                        "entrupy_id",
                        "its result is \(item.result.rawValue), which is not final; ask again after the final one")
                ], because: try Results.state(item, job))
        }
        return try MarketEdgeRendering(item, job).edge()
    }
}

enum MarketEdges {
    /// Gives an item market data, or removes what it was given. Writes, unless nothing changes.
    static func set(_ item: inout ItemRecord, _ given: JSONObject?, _ job: JobContext) throws {
        let text = try given.map { try StoredJSON.encode(JSONValue.object($0)) }
        guard text != item.marketEdge else { return }
        item.marketEdge = text
        try Items.save(&item, job)
        try job.record(.marketEdgeChanged, item.entrupyID)
    }

    /// The problems of stored market data, for uploads.
    static func check(_ stored: JSONValue) throws {
        _ = try GivenMarketEdge(stored.members ?? [:])
    }

    /// The problems of market data whose placeholders were replaced.
    static func problems(_ value: JSONValue) -> [ErrorDetail] {
        do {
            try check(value)
            return []
        } catch {
            return (error as? PlatformError)?.details ?? [ErrorDetail(GivenMarketEdge.name, "cannot be read")]
        }
    }
}

extension ResultID {
    /// Whether the item of this result was examined, so that market data follows from its catalogue data [D market-edge].
    var hasMarketData: Bool {
        ![.invalid, .notSupported, .canceled, .notAvailable, .registrationInvalid, .registrationNotSupported]
            .contains(self)
    }
}

/// Makes the market data of an item from what it was given and from its catalogue data. The same item gives the same bytes.
struct MarketEdgeRendering {
    private let item: ItemRecord
    private let job: JobContext
    private let given: GivenMarketEdge
    /// The catalogue data; empty if no data follows from it.
    private let catalog: JSONObject

    init(_ item: ItemRecord, _ job: JobContext) throws {
        self.item = item
        self.job = job
        given = try item.marketEdge.map { try GivenMarketEdge(StoredJSON.members($0)) } ?? GivenMarketEdge()
        let metadata = try ItemMetadata(stored: item.metadata)
        // An item that was given an error has no other data than it was given.
        if case .given = given.failure {
            catalog = [:]
        } else {
            catalog = try item.result.hasMarketData ? CatalogData.value(item, metadata).members ?? [:] : [:]
        }
    }

    func edge() -> MarketEdge {
        let listed = (catalog["marketplace_listings"]?.elements ?? []).compactMap(\.members)
        let listings = given.listings.value(or: listed) ?? []
        let condition = given.condition.value(or: assessedCondition)
        let grade = grade(of: condition)
        var edge = MarketEdge(
            identifier: identifier, market_grade: grade,
            market_value: given.price.value(or: price(listings)).map {
                .init(price: $0, section_description: text(MarketEdgeTexts.value))
            },
            market_match: match(listings),
            condition: condition.map {
                MarketEdge.Condition(
                    score: $0.score, rating: $0.rating, issues: $0.issues,
                    section_description: text(MarketEdgeTexts.grade), values: grade?.values)
            },
            marketplace_listings: listings.map { .object($0) }, client_polling_instruction: .init(),
            disclaimer: given.disclaimer.value(or: [text(MarketEdgeTexts.disclaimer)]) ?? [], error: nil)
        let isEmpty =
            edge.market_grade == nil && edge.market_value == nil && edge.market_match == nil && edge.condition == nil
            && edge.marketplace_listings.isEmpty
        let unavailable = MarketEdge.Failure(
            message: text(MarketEdgeTexts.unavailable), show: true, retry: false, ecode: "no_market_data")
        edge.error = given.failure.value(or: isEmpty ? unavailable : nil)
        return edge
    }

    private func text(_ text: LocalizedText) -> String { text[job.language] }

    /// Ids that follow from the item's, so that equal items have equal ones.
    private var identifier: MarketEdge.Identifier {
        let digits = Array(Hex.string(SHA256.hash(data: Data("session \(item.entrupyID)".utf8)).prefix(16)))
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return .init(entrupy_id: item.entrupyID, session_uuid: groups.joined(separator: "-"))
    }

    // MARK: Condition

    /// The condition by the catalogue data; `nil` if that says nothing.
    private var assessedCondition: GivenMarketEdge.Condition? {
        guard let assessment = catalog["condition_assessment"]?.members else { return nil }
        // The control API takes any members, so each is checked here.
        var condition = GivenMarketEdge.Condition(rating: assessment["rating"]?.text?.nonEmpty)
        if let score = assessment["score"], case .number = score { condition.score = score }
        condition.issues = (assessment["issues"]?.elements ?? []).compactMap(\.text)
        condition.details = (assessment["details"]?.members ?? [:]).sorted.compactMap { name, value in
            guard let state = value.text else { return nil }
            let region = name.hasSuffix("_condition") ? String(name.dropLast("_condition".count)) : name
            return .init(
                item_region_display_name: MarketEdgeTexts.regions[TextKey(region)].map(text) ?? region.spelledOut,
                description: self.grade(rating: state).display)
        }
        guard condition.score != nil || condition.rating != nil || !condition.issues.isEmpty else { return nil }
        return condition
    }

    private func grade(of condition: GivenMarketEdge.Condition?) -> MarketEdge.Grade? {
        given.grade.value(or: condition?.rating.map(grade(rating:))).map { grade in
            MarketEdge.Grade(
                id: grade.id, display: grade.display, section_description: text(MarketEdgeTexts.grade),
                values: report(grade, condition))
        }
    }

    /// The grade of a rating. One that is not on the scale is shown as it is.
    private func grade(rating: String) -> GivenMarketEdge.Grade {
        let id = ItemMetadata.identifier(rating)
        let known = MarketEdgeTexts.grades.first { $0.id.isIdentical(to: id) }
        return GivenMarketEdge.Grade(id: id, display: known.map { text($0.name) } ?? rating)
    }

    private func report(
        _ grade: GivenMarketEdge.Grade, _ condition: GivenMarketEdge.Condition?
    ) -> MarketEdge.Grade.Report {
        let place = MarketEdgeTexts.grades.firstIndex { $0.id.isIdentical(to: grade.id) }
        return MarketEdge.Grade.Report(
            rating: grade.display, issues: condition?.issues ?? [], details: condition?.details ?? [],
            rating_explanation: text(MarketEdgeTexts.explanation),
            rating_ui_details: MarketEdge.Grade.Report.Scale(
                title: grade.display, selected_rating_index: place,
                scale: MarketEdgeTexts.grades.map { MarketEdge.Grade.Report.Scale.Step(color: $0.color) }))
    }

    // MARK: Listings

    /// The middle price of the listings in the currency of the first, of two the lower.
    private func price(_ listings: [JSONObject]) -> String? {
        let offers = listings.compactMap { listing -> (amount: Double, price: String, currency: String)? in
            guard let price = listing["price"]?.text, let amount = Double(price), amount.isFinite, amount >= 0 else {
                return nil
            }
            return (amount, price, listing["currency"]?.text ?? "")
        }
        guard let currency = offers.first?.currency else { return nil }
        let same = offers.filter { $0.currency.isIdentical(to: currency) }.sorted { $0.amount < $1.amount }
        let middle = same[(same.count - 1) / 2]
        return middle.currency.isEmpty ? middle.price : "\(middle.price) \(middle.currency)"
    }

    private func match(_ listings: [JSONObject]) -> MarketEdge.Match? {
        given.match.value(or: likelyMatch(listings)).map { match in
            .init(
                product: match.product, confidence: match.confidence, section_description: text(MarketEdgeTexts.match),
                values: listings.compactMap(published))
        }
    }

    /// Brand and style by the catalogue data, or else the title of a listing; `nil` without listings.
    private func likelyMatch(_ listings: [JSONObject]) -> GivenMarketEdge.Match? {
        let information = catalog["product_information"]?.members ?? [:]
        let names = ["brand", "style"].compactMap { information[$0]?.text?.nonEmpty }.joined(separator: " ")
        guard let product = names.nonEmpty ?? listings.lazy.compactMap({ $0["title"]?.text }).first, !listings.isEmpty
        else { return nil }
        let confidence = listings.compactMap { $0["confidence"]?.number }.max { $0.double < $1.double }
        return .init(product: product, confidence: confidence.map { .number($0) })
    }

    /// A listing in the form of the published models [P]; `nil` if it lacks what they require.
    private func published(_ listing: JSONObject) -> JSONValue? {
        guard MarketListing.required.allSatisfy({ listing[$0]?.text != nil }) else { return nil }
        var value: JSONObject = [:]
        for name in MarketListing.texts {
            if let text = listing[name], text.text != nil { value[name] = text }
        }
        if let flag = listing["price_difference_positive"], case .bool = flag {
            value["price_difference_positive"] = flag
        }
        value["category"] = value["category"] ?? .string(item.category.spelledOut)
        // The listings were seen when the item got its result.
        let seen = JSONValue.number(JSONNumber(text: "\((item.resultAt ?? item.submittedAt).epoch)"))
        value["time_of_report"] = if let time = listing["time_of_report"], case .number = time { time } else { seen }
        return .object(value)
    }
}

/// The texts of market data [D market-edge].
private enum MarketEdgeTexts {
    static let grade = LocalizedText(
        english: "Condition by the submitted pictures.", japanese: "提出された画像に基づく状態です。")
    static let value = LocalizedText(
        english: "Estimate from recent listings of similar items.", japanese: "類似品の最近の出品に基づく推定価格です。")
    static let match = LocalizedText(
        english: "Recent listings of similar items.", japanese: "類似品の最近の出品です。")
    static let explanation = LocalizedText(
        english: "The rating follows from the parts of the item that the pictures show.",
        japanese: "評価は画像に写っている各部分の状態によります。")
    static let disclaimer = LocalizedText(
        english: "Simulated market data. It says nothing about a real item.",
        japanese: "シミュレーション用の市場データです。実際の商品とは関係ありません。")
    static let unavailable = LocalizedText(
        english: "There is no market data for this item.", japanese: "この商品の市場データはありません。")

    /// The scale of ratings, from the lowest: those of the catalogue data.
    static let grades: [(id: String, name: LocalizedText, color: String)] = [
        ("fair", .init(english: "Fair", japanese: "可"), "#D64545"),
        ("good", .init(english: "Good", japanese: "良い"), "#E8A33D"),
        ("very_good", .init(english: "Very good", japanese: "非常に良い"), "#D9C93B"),
        ("excellent", .init(english: "Excellent", japanese: "極めて良い"), "#7DBB4B"),
        ("new", .init(english: "New", japanese: "新品"), "#2E9E5B"),
    ]
    static let regions: [TextKey: LocalizedText] = [
        TextKey("exterior"): .init(english: "Exterior", japanese: "外側"),
        TextKey("interior"): .init(english: "Interior", japanese: "内側"),
        TextKey("hardware"): .init(english: "Hardware", japanese: "金具"),
    ]
}
