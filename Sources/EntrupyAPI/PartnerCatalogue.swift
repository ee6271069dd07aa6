extension PartnerConfiguration {
    /// A display name.
    public struct Display: Codable, Sendable {
        /// The name, in the caller's language.
        public var name: String

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
        /// The materials of the brand's items.
        public var materials: [Material]

        public init(brand_id: String, display: Display, materials: [Material]) {
            self.brand_id = brand_id
            self.display = display
            self.materials = materials
        }
    }

    /// A material of items.
    public struct Material: Codable, Sendable {
        /// The material's id.
        public var material_id: String
        /// The material's name.
        public var display: Display
        /// The required fields of such an item besides its brand [D material-details].
        public var details: [Detail]

        public init(material_id: String, display: Display, details: [Detail]) {
            self.material_id = material_id
            self.display = display
            self.details = details
        }
    }

    /// A required field of an item.
    public struct Detail: Codable, Sendable {
        /// The field's name in a submission.
        public var field_alias: String
        /// The field's display name.
        public var display: Display

        public init(field_alias: String, display: Display) {
            self.field_alias = field_alias
            self.display = display
        }
    }
}
