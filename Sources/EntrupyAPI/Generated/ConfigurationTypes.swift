// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `GET /sdk/config` [D sdk-shapes].
public struct SDKConfiguration: Codable, Sendable {
    /// The workflow.
    public var config_type: ConfigType
    /// The configuration's id. It changes whenever the catalogue or the workflow changes.
    public var config_id: String
    /// The time of the request.
    public var issued_at: Double
    /// The time until which a client may cache the configuration [D configuration-lifetime].
    public var expires_at: Double
    /// The categories of items that can be captured.
    public var product_categories: [ProductCategory]

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

/// The categories of items that can be captured.
public struct ProductCategory: Codable, Sendable {
    /// The category's id: sneakers, luxury or apparel in the standard seed [P].
    public var id: String
    /// The fields an item must have.
    public var required_fields: [String]
    /// The brands of the category.
    public var brands: [ConfiguredBrand]
    /// The requested pictures, in order.
    public var capture_steps: [ConfiguredStep]

    public init(id: String, required_fields: [String], brands: [ConfiguredBrand], capture_steps: [ConfiguredStep]) {
        self.id = id
        self.required_fields = required_fields
        self.brands = brands
        self.capture_steps = capture_steps
    }
}

/// The brands of the category.
public struct ConfiguredBrand: Codable, Sendable {
    /// The id that filters and results use.
    public var id: String
    /// The display names, as `{"name": …}`.
    public var display: [String: String]
    /// The kinds of items that the brand has.
    public var item_types: [String]
    /// The materials that the brand's items can have.
    public var materials: [String]

    public init(id: String, display: [String: String], item_types: [String], materials: [String]) {
        self.id = id
        self.display = display
        self.item_types = item_types
        self.materials = materials
    }
}

/// One picture that the workflow requests.
public struct ConfiguredStep: Codable, Sendable {
    /// The region's id, a part of the upload's path.
    public var region_id: String
    /// The region's name, in the caller's language.
    public var display_name: String
    /// Whether a capture cannot be submitted without it.
    public var required: Bool
    /// The instruction for the user, in the caller's language.
    public var guidance: String

    public init(region_id: String, display_name: String, required: Bool, guidance: String) {
        self.region_id = region_id
        self.display_name = display_name
        self.required = required
        self.guidance = guidance
    }
}
