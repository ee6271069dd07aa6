// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `POST /v2/config/authentications` [P].
public struct PartnerConfiguration: Codable, Sendable {
    /// The brands and materials that can be authenticated.
    public var config: Config
    /// The time of issue, in whole epoch seconds.
    public var iat: Int
    /// The time until which a client may cache the configuration, in whole epoch seconds.
    public var exp: Int

    /// The brands and materials that can be authenticated.
    public struct Config: Codable, Sendable {
        /// All brands of the catalogue.
        public var brands: [Brand]

        public init(brands: [Brand]) {
            self.brands = brands
        }
    }

    public init(config: Config, iat: Int, exp: Int) {
        self.config = config
        self.iat = iat
        self.exp = exp
    }
}

/// `POST /v2/catalog/brands` [P].
public struct BrandCatalogue: Codable, Sendable {
    /// All brands of the catalogue.
    public var brands: [Brand]

    /// All brands of the catalogue.
    public struct Brand: Codable, Sendable {
        /// The brand's id.
        public var id: String
        /// The brand's name.
        public var display: PartnerConfiguration.Display
        /// The ids of the brand's categories.
        public var product_categories: [String]
        /// The ids of the brand's item types.
        public var item_types: [String]

        public init(
            id: String, display: PartnerConfiguration.Display, product_categories: [String], item_types: [String]
        ) {
            self.id = id
            self.display = display
            self.product_categories = product_categories
            self.item_types = item_types
        }
    }

    public init(brands: [Brand]) {
        self.brands = brands
    }
}
