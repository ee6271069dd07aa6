// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// The market data of an item, with the members of both models that the vendor published. Parts that the item lacks are
/// null [D market-edge] [P].
public struct MarketEdge: Codable, Sendable {
    public var identifier: Identifier
    /// The grade of the item's condition.
    @Nullable public var market_grade: Grade?
    /// The estimated price: the middle price of the listings in the currency of the first.
    @Nullable public var market_value: Estimate?
    /// The product that the listings show.
    @Nullable public var market_match: Match?
    /// The item's condition; null if it was not assessed.
    @Nullable public var condition: Condition?
    /// Listings with platform, title, price, currency, link and confidence, as in the catalogue data.
    public var marketplace_listings: [JSONValue]
    /// Says that the data is complete and need not be asked for again.
    public var client_polling_instruction: PollingInstruction
    /// Texts to show beside the data.
    public var disclaimer: [String]
    /// The reason why there is no data.
    @Nullable public var error: Failure?

    public struct Identifier: Codable, Sendable {
        public var authentication_id: String
        /// The same, under the newer name.
        public var entrupy_id: String
        /// An id that follows from the item's [D market-edge].
        public var session_uuid: String

        public init(entrupy_id: String, session_uuid: String) {
            self.authentication_id = entrupy_id
            self.entrupy_id = entrupy_id
            self.session_uuid = session_uuid
        }
    }

    /// The grade of the item's condition.
    public struct Grade: Codable, Sendable {
        public var id: String
        /// The grade's name in the caller's language, if it is one of the five of the catalogue data.
        public var display: String
        public var section_description: String
        public var values: Report

        /// Source: [P].
        public struct Report: Codable, Sendable {
            public var rating: String
            public var issues: [String]
            public var details: [Detail]
            public var rating_explanation: String
            public var rating_ui_details: Scale

            public struct Detail: Codable, Sendable {
                public var item_region_display_name: String
                public var description: String

                public init(item_region_display_name: String, description: String) {
                    self.item_region_display_name = item_region_display_name
                    self.description = description
                }
            }

            public struct Scale: Codable, Sendable {
                public var title: String
                /// The place of the rating on the scale; null for a rating that is not on it.
                @Nullable public var selected_rating_index: Int?
                public var scale: [Step]

                public struct Step: Codable, Sendable {
                    public var color: String

                    public init(color: String) {
                        self.color = color
                    }
                }

                public init(title: String, selected_rating_index: Int?, scale: [Step]) {
                    self.title = title
                    _selected_rating_index = Nullable(wrappedValue: selected_rating_index)
                    self.scale = scale
                }
            }

            public init(
                rating: String, issues: [String], details: [Detail], rating_explanation: String,
                rating_ui_details: Scale
            ) {
                self.rating = rating
                self.issues = issues
                self.details = details
                self.rating_explanation = rating_explanation
                self.rating_ui_details = rating_ui_details
            }
        }

        public init(id: String, display: String, section_description: String, values: Report) {
            self.id = id
            self.display = display
            self.section_description = section_description
            self.values = values
        }
    }

    /// The estimated price: the middle price of the listings in the currency of the first.
    public struct Estimate: Codable, Sendable {
        public var price: String
        public var pending: Bool
        public var section_description: String

        public init(price: String, section_description: String) {
            self.price = price
            self.pending = false
            self.section_description = section_description
        }
    }

    /// The product that the listings show.
    public struct Match: Codable, Sendable {
        public var product: String
        /// The highest confidence of the listings.
        @Nullable public var confidence: JSONValue?
        public var pending: Bool
        public var section_description: String
        /// The listings in the form of the published models. Listings without title, platform or price are left out [P].
        public var values: [JSONValue]

        public init(product: String, confidence: JSONValue?, section_description: String, values: [JSONValue]) {
            self.product = product
            _confidence = Nullable(wrappedValue: confidence)
            self.pending = false
            self.section_description = section_description
            self.values = values
        }
    }

    /// The condition of an item.
    public struct Condition: Codable, Sendable {
        @Nullable public var score: JSONValue?
        @Nullable public var rating: String?
        public var issues: [String]
        public var pending: Bool
        public var section_description: String
        @Nullable public var values: Grade.Report?

        public init(
            score: JSONValue?, rating: String?, issues: [String], section_description: String, values: Grade.Report?
        ) {
            _score = Nullable(wrappedValue: score)
            _rating = Nullable(wrappedValue: rating)
            self.issues = issues
            self.pending = false
            self.section_description = section_description
            _values = Nullable(wrappedValue: values)
        }
    }

    /// Says that the data is complete and need not be asked for again.
    public struct PollingInstruction: Codable, Sendable {
        /// The answer is complete.
        public var poll: Bool
        public var polling_rate: Int
        public var number_of_retries: Int
        /// Source: [P].
        public var error: Failure

        public init() {
            self.poll = false
            self.polling_rate = 0
            self.number_of_retries = 0
            self.error = Failure(message: "", show: false, retry: false, ecode: nil)
        }
    }

    /// The reason why there is no data.
    public struct Failure: Codable, Sendable {
        public var message: String
        /// Whether the app shows the message.
        public var show: Bool
        public var retry: Bool
        /// The id of the reason, for instance `no_market_data`.
        public var ecode: String?

        public init(message: String, show: Bool, retry: Bool, ecode: String? = nil) {
            self.message = message
            self.show = show
            self.retry = retry
            self.ecode = ecode
        }
    }

    public init(
        identifier: Identifier, market_grade: Grade?, market_value: Estimate?, market_match: Match?,
        condition: Condition?, marketplace_listings: [JSONValue], client_polling_instruction: PollingInstruction,
        disclaimer: [String], error: Failure?
    ) {
        self.identifier = identifier
        _market_grade = Nullable(wrappedValue: market_grade)
        _market_value = Nullable(wrappedValue: market_value)
        _market_match = Nullable(wrappedValue: market_match)
        _condition = Nullable(wrappedValue: condition)
        self.marketplace_listings = marketplace_listings
        self.client_polling_instruction = client_polling_instruction
        self.disclaimer = disclaimer
        _error = Nullable(wrappedValue: error)
    }
}
