/// `POST /v2/config/authentications` [P].
public struct PartnerConfiguration: Codable, Sendable {
    /// What can be authenticated.
    public var config: Config
    /// When it was issued; whole epoch seconds.
    public var iat: Int
    /// Until when it may be kept; whole epoch seconds.
    public var exp: Int

    /// Makes one from its members.
    public init(config: Config, iat: Int, exp: Int) {
        self.config = config
        self.iat = iat
        self.exp = exp
    }

    /// What can be authenticated.
    public struct Config: Codable, Sendable {
        /// Every brand.
        public var brands: [Brand]

        /// Makes one from its members.
        public init(brands: [Brand]) {
            self.brands = brands
        }
    }

    /// A name to show.
    public struct Display: Codable, Sendable {
        /// The name, in the caller's language.
        public var name: String

        /// Makes one from its members.
        public init(name: String) {
            self.name = name
        }
    }

    /// A brand.
    public struct Brand: Codable, Sendable {
        /// The brand's id.
        public var brand_id: String
        /// The brand's name.
        public var display: Display
        /// What its items can be made of.
        public var materials: [Material]

        /// Makes one from its members.
        public init(brand_id: String, display: Display, materials: [Material]) {
            self.brand_id = brand_id
            self.display = display
            self.materials = materials
        }
    }

    /// What an item can be made of.
    public struct Material: Codable, Sendable {
        /// The material's id.
        public var material_id: String
        /// The material's name.
        public var display: Display
        /// What must be said of such an item besides its brand [D].
        public var details: [Detail]

        /// Makes one from its members.
        public init(material_id: String, display: Display, details: [Detail]) {
            self.material_id = material_id
            self.display = display
            self.details = details
        }
    }

    /// A field of an item.
    public struct Detail: Codable, Sendable {
        /// The field's name in a submission.
        public var field_alias: String
        /// The field's name for people.
        public var display: Display

        /// Makes one from its members.
        public init(field_alias: String, display: Display) {
            self.field_alias = field_alias
            self.display = display
        }
    }
}

/// `POST /v2/catalog/brands` [P].
public struct BrandCatalogue: Codable, Sendable {
    /// Every brand.
    public var brands: [Brand]

    /// Makes one from its members.
    public init(brands: [Brand]) {
        self.brands = brands
    }

    /// A brand.
    public struct Brand: Codable, Sendable {
        /// The brand's id.
        public var id: String
        /// The brand's name.
        public var display: PartnerConfiguration.Display
        /// The categories it has items of.
        public var product_categories: [String]
        /// The kinds of items it has.
        public var item_types: [String]

        /// Makes one from its members.
        public init(
            id: String, display: PartnerConfiguration.Display, product_categories: [String], item_types: [String]
        ) {
            self.id = id
            self.display = display
            self.product_categories = product_categories
            self.item_types = item_types
        }
    }
}
