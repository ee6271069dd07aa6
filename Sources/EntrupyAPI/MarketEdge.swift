import SimulationAPI

extension MarketEdge {
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
}
