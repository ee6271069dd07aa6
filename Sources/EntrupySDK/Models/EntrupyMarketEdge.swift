/// An item's market data.
///
/// The vendor published two models under this name [P]. This one has the members of both: those that only one model has are
/// optional here.
public struct EntrupyMarketEdge: Codable, Sendable {
    public let identifier: EntrupyMarketEdgeIdentifier
    public let market_grade: EntrupyMarketGrade?
    public let market_value: EntrupyMarketValue?
    public let market_match: EntrupyMarketMatch?
    /// The grade, under the name of the first model.
    public let condition: EntrupyMarketGrade?
    /// The listings, under the name of the first model.
    public let marketplace_listings: EntrupyMarketMatch?
    public let client_polling_instruction: EntrupyMarketEdgeClientPollingInstructions?
    public let disclaimer: [String]?
    public let error: EntrupyMarketEdgeError?
}

/// The item that market data belongs to.
public struct EntrupyMarketEdgeIdentifier: Codable, Sendable {
    public let authentication_id: String
    public let session_uuid: String?

    /// The item's id.
    public var entrupy_id: String { authentication_id }
}

/// The condition of an item.
public struct EntrupyMarketGrade: Codable, Sendable {
    public let pending: Bool?
    public let values: EntrupyMarketGradeValue?
    public let error: EntrupyMarketEdgeError?
    public let section_description: String
}

/// A rating of an item's condition.
public struct EntrupyMarketGradeValue: Codable, Sendable {
    public let rating: String
    public let issues: [String]?
    public let details: [EntrupyMarketGradeDetail]?
    public let rating_explanation: String
    public let rating_ui_details: EntrupyMarketGradeRatingUIDetails?
    public let error: EntrupyMarketEdgeError?
}

/// The scale of a rating.
public struct EntrupyMarketGradeRatingUIDetails: Codable, Sendable {
    public let title: String
    public let selected_rating_index: Int?
    public let scale: [EntrupyMarketGradeRatingScale]
}

/// A step of a rating's scale.
public struct EntrupyMarketGradeRatingScale: Codable, Sendable {
    public let color: String
}

/// The condition of one region.
public struct EntrupyMarketGradeDetail: Codable, Sendable {
    public let item_region_display_name: String
    public let description: String
}

/// The estimated value of an item.
public struct EntrupyMarketValue: Codable, Sendable {
    public let pending: Bool?
    public let price: String?
    public let error: EntrupyMarketEdgeError?
    public let section_description: String
}

/// Listings of similar items.
public struct EntrupyMarketMatch: Codable, Sendable {
    public let pending: Bool
    public let section_description: String
    public let values: [EntrupyMarketMatchValue]?
    public let error: EntrupyMarketEdgeError?
}

/// A listing of a similar item.
public struct EntrupyMarketMatchValue: Codable, Sendable {
    public let title: String
    public let platform: String
    public let link: String?
    public let brand: String?
    public let image_url: String?
    public let category: String
    public let style: String?
    public let description: String?
    public let price: String
    public let currency: String?
    public let price_min: String?
    public let price_max: String?
    public let time_of_report: Double
    public let price_difference_perc: String?
    public let price_difference: String?
    public let price_avg: String?
    public let price_days_window: String?
    public let price_difference_positive: Bool?
    public let error: EntrupyMarketEdgeError?
}

/// How often a client asks again for data that is still being made. The simulated platform's data is complete.
public struct EntrupyMarketEdgeClientPollingInstructions: Codable, Sendable {
    public let polling_rate: Double
    public let number_of_retries: Double
    public let error: EntrupyMarketEdgeError
}

/// The reason why market data is missing.
public struct EntrupyMarketEdgeError: Codable, Sendable {
    public let message: String
    public let show: Bool
    public let retry: Bool?
    public let ecode: String?
}
