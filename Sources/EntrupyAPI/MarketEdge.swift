import SimulationAPI

/// The market data of an item: `GET /sdk/results/{entrupy_id}/market-edge` [D market-edge].
///
/// Contains the members of both models that the vendor published [P], so that a strict decoder reads either one. Only
/// `marketplace_listings` differs: an array of listings here, an object with them in the first model.
public struct MarketEdge: Codable, Sendable {
    public var identifier: Identifier
    /// The grade of the item's condition; null if there is none.
    @Nullable public var market_grade: Grade?
    /// The estimated price; null if there is none.
    @Nullable public var market_value: Estimate?
    /// The product that the listings show; null without listings.
    @Nullable public var market_match: Match?
    /// The item's condition; null if it was not assessed.
    @Nullable public var condition: Condition?
    /// Listings of similar items, as in the item's catalogue data.
    public var marketplace_listings: [JSONValue]
    /// Says that the data is complete and need not be asked for again.
    public var client_polling_instruction: PollingInstruction
    /// Texts to show beside the data.
    public var disclaimer: [String]
    /// The reason why there is no data; null if there is some.
    @Nullable public var error: Failure?

    public init(
        identifier: Identifier, market_grade: Grade?, market_value: Estimate?, market_match: Match?,
        condition: Condition?, marketplace_listings: [JSONValue], client_polling_instruction: PollingInstruction,
        disclaimer: [String], error: Failure?
    ) {
        self.identifier = identifier
        self._market_grade = Nullable(wrappedValue: market_grade)
        self._market_value = Nullable(wrappedValue: market_value)
        self._market_match = Nullable(wrappedValue: market_match)
        self._condition = Nullable(wrappedValue: condition)
        self.marketplace_listings = marketplace_listings
        self.client_polling_instruction = client_polling_instruction
        self.disclaimer = disclaimer
        self._error = Nullable(wrappedValue: error)
    }

    /// The item that the data belongs to.
    public struct Identifier: Codable, Sendable {
        public var authentication_id: String
        /// The same, under the newer name.
        public var entrupy_id: String
        /// An id that follows from the item's [D market-edge].
        public var session_uuid: String

        public init(entrupy_id: String, session_uuid: String) {
            authentication_id = entrupy_id
            self.entrupy_id = entrupy_id
            self.session_uuid = session_uuid
        }
    }

    /// The grade of an item's condition.
    public struct Grade: Codable, Sendable {
        public var id: String
        /// The grade's name in the caller's language.
        public var display: String
        public var section_description: String
        public var values: Report

        public init(id: String, display: String, section_description: String, values: Report) {
            self.id = id
            self.display = display
            self.section_description = section_description
            self.values = values
        }
    }

    /// The details of a grade, in the form of both published models [P].
    public struct Report: Codable, Sendable {
        public var rating: String
        public var issues: [String]
        public var details: [Detail]
        public var rating_explanation: String
        public var rating_ui_details: Scale

        public init(
            rating: String, issues: [String], details: [Detail], rating_explanation: String, rating_ui_details: Scale
        ) {
            self.rating = rating
            self.issues = issues
            self.details = details
            self.rating_explanation = rating_explanation
            self.rating_ui_details = rating_ui_details
        }
    }

    /// The condition of one part of an item.
    public struct Detail: Codable, Sendable {
        public var item_region_display_name: String
        public var description: String

        public init(item_region_display_name: String, description: String) {
            self.item_region_display_name = item_region_display_name
            self.description = description
        }
    }

    /// The scale of a rating.
    public struct Scale: Codable, Sendable {
        public var title: String
        /// The step of the rating; null for a rating that is not on the scale.
        @Nullable public var selected_rating_index: Int?
        public var scale: [Step]

        public init(title: String, selected_rating_index: Int?, scale: [Step]) {
            self.title = title
            self._selected_rating_index = Nullable(wrappedValue: selected_rating_index)
            self.scale = scale
        }

        /// A step of the scale.
        public struct Step: Codable, Sendable {
            public var color: String

            public init(color: String) {
                self.color = color
            }
        }
    }

    /// The estimated price of an item.
    public struct Estimate: Codable, Sendable {
        /// The price with its currency, for instance `1230.00 USD`.
        public var price: String
        /// Always false: nothing is computed later.
        public var pending = false
        public var section_description: String

        public init(price: String, section_description: String) {
            self.price = price
            self.section_description = section_description
        }
    }

    /// The product that the listings show, and how sure that is.
    public struct Match: Codable, Sendable {
        public var product: String
        /// A number from 0 to 1; null if no listing says it.
        @Nullable public var confidence: JSONValue?
        /// Always false: nothing is computed later.
        public var pending = false
        public var section_description: String
        /// The listings in the form of both published models [P].
        public var values: [JSONValue]

        public init(product: String, confidence: JSONValue?, section_description: String, values: [JSONValue]) {
            self.product = product
            self._confidence = Nullable(wrappedValue: confidence)
            self.section_description = section_description
            self.values = values
        }
    }

    /// The condition of an item.
    public struct Condition: Codable, Sendable {
        /// A number; null if the catalogue data has none.
        @Nullable public var score: JSONValue?
        @Nullable public var rating: String?
        public var issues: [String]
        /// Always false: nothing is computed later.
        public var pending = false
        public var section_description: String
        /// The same details as those of the grade; null without a rating.
        @Nullable public var values: Report?

        public init(score: JSONValue?, rating: String?, issues: [String], section_description: String, values: Report?)
        {
            self._score = Nullable(wrappedValue: score)
            self._rating = Nullable(wrappedValue: rating)
            self.issues = issues
            self.section_description = section_description
            self._values = Nullable(wrappedValue: values)
        }
    }

    /// Whether a client must ask again.
    public struct PollingInstruction: Codable, Sendable {
        /// Always false: the answer is complete.
        public var poll = false
        /// Seconds between two requests.
        public var polling_rate = 0
        public var number_of_retries = 0
        /// The first published model requires an error here; it is not to be shown.
        public var error = Failure(message: "", show: false, retry: false, ecode: nil)

        public init() {}
    }

    /// A reason why data is missing.
    public struct Failure: Codable, Sendable {
        public var message: String
        /// Whether the app shows the message.
        public var show: Bool
        public var retry: Bool
        /// The id of the reason; absent if it has none.
        public var ecode: String?

        public init(message: String, show: Bool, retry: Bool, ecode: String?) {
            self.message = message
            self.show = show
            self.retry = retry
            self.ecode = ecode
        }
    }
}
