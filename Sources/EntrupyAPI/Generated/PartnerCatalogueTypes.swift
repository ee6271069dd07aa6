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

        /// A brand.
        public struct Brand: Codable, Sendable {
            public var brand_id: String
            public var display: Display
            public var materials: [Material]

            public struct Display: Codable, Sendable {
                public var name: String

                public init(name: String) {
                    self.name = name
                }
            }

            public struct Material: Codable, Sendable {
                public var material_id: String
                public var display: Display
                /// The required fields of such an item besides its brand [D material-details].
                public var details: [Detail]

                /// A required field of an item.
                public struct Detail: Codable, Sendable {
                    public var field_alias: String
                    public var display: Display

                    public init(field_alias: String, display: Display) {
                        self.field_alias = field_alias
                        self.display = display
                    }
                }

                public init(material_id: String, display: Display, details: [Detail]) {
                    self.material_id = material_id
                    self.display = display
                    self.details = details
                }
            }

            public init(brand_id: String, display: Display, materials: [Material]) {
                self.brand_id = brand_id
                self.display = display
                self.materials = materials
            }
        }

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
        public var display: PartnerConfiguration.Config.Brand.Display
        /// The ids of the brand's categories.
        public var product_categories: [String]
        /// The ids of the brand's item types.
        public var item_types: [String]

        public init(
            id: String, display: PartnerConfiguration.Config.Brand.Display, product_categories: [String],
            item_types: [String]
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
