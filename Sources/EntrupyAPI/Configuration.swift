/// Which capture workflow a client uses [S].
public enum ConfigType: String, Codable, Sendable, CaseIterable {
    /// The full workflow.
    case production
    /// A shorter one for development; whatever is submitted with it becomes Invalid.
    case debug
}

/// `GET /sdk/config` [D shape]. Times are epoch seconds.
public struct SDKConfiguration: Codable, Sendable {
    /// The workflow.
    public var config_type: ConfigType
    /// Changes whenever the catalogue or the workflow changes.
    public var config_id: String
    /// When it was asked for.
    public var issued_at: Double
    /// Until when a client may keep it.
    public var expires_at: Double
    /// What can be captured.
    public var product_categories: [ProductCategory]

    /// Makes one from its members.
    public init(
        config_type: ConfigType, config_id: String, issued_at: Double, expires_at: Double,
        product_categories: [ProductCategory]
    ) {
        self.config_type = config_type
        self.config_id = config_id
        self.issued_at = issued_at
        self.expires_at = expires_at
        self.product_categories = product_categories
    }
}

/// What can be captured in one category.
public struct ProductCategory: Codable, Sendable {
    /// `sneakers`, `luxury`, `apparel` [P].
    public var id: String
    /// The fields an item must have.
    public var required_fields: [String]
    /// The brands of the category.
    public var brands: [ConfiguredBrand]
    /// The pictures that are asked for, in order.
    public var capture_steps: [ConfiguredStep]

    /// Makes one from its members.
    public init(id: String, required_fields: [String], brands: [ConfiguredBrand], capture_steps: [ConfiguredStep]) {
        self.id = id
        self.required_fields = required_fields
        self.brands = brands
        self.capture_steps = capture_steps
    }
}

/// A brand of a category.
public struct ConfiguredBrand: Codable, Sendable {
    /// What filters and results call it.
    public var id: String
    /// `{"name": …}`.
    public var display: [String: String]
    /// What kinds of item there are.
    public var item_types: [String]
    /// What materials there are.
    public var materials: [String]

    /// Makes one from its members.
    public init(id: String, display: [String: String], item_types: [String], materials: [String]) {
        self.id = id
        self.display = display
        self.item_types = item_types
        self.materials = materials
    }
}

/// One picture the workflow asks for.
public struct ConfiguredStep: Codable, Sendable {
    /// What a picture of it is uploaded under.
    public var region_id: String
    /// The region's name, in the caller's language.
    public var display_name: String
    /// Whether a capture can be submitted without it.
    public var required: Bool
    /// What the user is asked to do.
    public var guidance: String

    /// Makes one from its members.
    public init(region_id: String, display_name: String, required: Bool, guidance: String) {
        self.region_id = region_id
        self.display_name = display_name
        self.required = required
        self.guidance = guidance
    }
}
