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

        public init(id: String, display: String, section_description: String, values: Report) {
            self.id = id
            self.display = display
            self.section_description = section_description
            self.values = values
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
