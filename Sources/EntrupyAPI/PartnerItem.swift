import SimulationAPI

/// An item as `/v1` shows it [P]. Some members depend on `Api-Version`.
public struct V1Item: Codable, Sendable {
    public var entrupy_id: String
    /// The time of the submission.
    public var timestamp: EntrupyCaptureResult.Timestamp
    /// An item's flag and result.
    public var status: Status
    /// The service that the platform performed for the item.
    public var activity: Activity
    /// An item's brand and model.
    public var properties: Properties
    /// The organization and user of the item.
    public var owner: Owner
    /// The certificate's URLs; absent if the item has no certificate.
    public var certificate: EntrupyCaptureResult.Certificate?
    /// The item's fields as the app sent them: `customer_item_id`, `style_code`, `us_size` and so on. Up to version
    /// 1.2, `order_id` is among them.
    public var text_fields: [String: String]

    public init(
        activity: Activity, certificate: EntrupyCaptureResult.Certificate?, entrupy_id: String, owner: Owner,
        properties: Properties, status: Status, text_fields: [String: String], timestamp: EntrupyCaptureResult.Timestamp
    ) {
        self.activity = activity
        self.certificate = certificate
        self.entrupy_id = entrupy_id
        self.owner = owner
        self.properties = properties
        self.status = status
        self.text_fields = text_fields
        self.timestamp = timestamp
    }

    /// The service that the platform performed for an item.
    public struct Activity: Codable, Sendable {
        /// The name of the service: `authentication` or `fingerprint`.
        public var name: String
        /// The mode of a fingerprint: `register` or `compare`; absent for an authentication.
        public var mode: String?
        /// The form factor, always `free_camera`; present from version 1.2, before which there were only microscopic
        /// items [P].
        public var form_factor: String?
        /// The category's id; present from version 1.3.
        public var product_category: String?

        public init(name: String, mode: String?, form_factor: String?, product_category: String?) {
            self.name = name
            self.mode = mode
            self.form_factor = form_factor
            self.product_category = product_category
        }
    }

    /// The organization and user of an item.
    public struct Owner: Codable, Sendable {
        public var organization: Organization
        public var user: EntrupyCaptureResult.User

        public init(organization: Organization, user: EntrupyCaptureResult.User) {
            self.organization = organization
            self.user = user
        }
    }

    /// A customer of the platform.
    public struct Organization: Codable, Sendable {
        /// The name, for instance `DemoOrg`.
        public var name: String

        public init(name: String) {
            self.name = name
        }
    }

    /// An item's brand and model.
    public struct Properties: Codable, Sendable {
        public var brand: EntrupyCaptureResult.Named
        /// The model, made from `style_name`; absent if the app sent none. Up to version 1.3, the model of a luxury item
        /// is its material [P].
        public var model: EntrupyCaptureResult.Identified?
        /// A luxury item's material; present from version 1.4 [P].
        public var material: EntrupyCaptureResult.Named?
        /// An apparel item's type; present from version 1.4 [P].
        public var item_type: EntrupyCaptureResult.Named?

        public init(
            brand: EntrupyCaptureResult.Named, model: EntrupyCaptureResult.Identified?,
            material: EntrupyCaptureResult.Named?, item_type: EntrupyCaptureResult.Named?
        ) {
            self.brand = brand
            self.model = model
            self.material = material
            self.item_type = item_type
        }
    }

    /// An item's flag and result.
    public struct Status: Codable, Sendable {
        /// The flag: null, `flagged` or `resolved`.
        @Nullable public var flag: FlagID?
        /// The result. Its `reason` is present from version 1.2.
        public var result: EntrupyCaptureResult.Result
        /// The time at which the result is expected, from version 1.4 [D eta].
        public var eta: EntrupyCaptureResult.Timestamp?

        public init(
            flag: FlagID?, result: EntrupyCaptureResult.Result, eta: EntrupyCaptureResult.Timestamp?
        ) {
            self._flag = Nullable(wrappedValue: flag)
            self.result = result
            self.eta = eta
        }
    }
}

/// An item as `/v2` shows it [P].
public struct V2Item: Codable, Sendable {
    public var entrupy_id: String
    /// The times of the submission and the last change.
    public var timestamp: Times
    /// An item's results and flag.
    public var status: Status
    /// The service that the platform performed for the item.
    public var activity: Activity
    /// The item's brand, category and material.
    public var properties: Properties
    /// The organization and user of the item.
    public var owner: Owner
    /// The certificate; null if the item has none.
    @Nullable public var certificate: Certificate?
    /// The item's fields as the app sent them.
    public var text_fields: [String: String]
    /// The pictures; null unless `include_images=true`.
    @Nullable public var images: Images?
    /// The catalogue data; null unless `include_catalog=true` [D v2-catalog].
    @Nullable public var catalog: JSONValue?
    /// The id of the item that a fingerprint was compared with; null for every other item.
    @Nullable public var fingerprint_parent: String?

    public init(
        entrupy_id: String, timestamp: Times, status: Status, activity: Activity, properties: Properties, owner: Owner,
        certificate: Certificate?, text_fields: [String: String], images: Images?, catalog: JSONValue?,
        fingerprint_parent: String?
    ) {
        self.entrupy_id = entrupy_id
        self.timestamp = timestamp
        self.status = status
        self.activity = activity
        self.properties = properties
        self.owner = owner
        self._certificate = Nullable(wrappedValue: certificate)
        self.text_fields = text_fields
        self._images = Nullable(wrappedValue: images)
        self._catalog = Nullable(wrappedValue: catalog)
        self._fingerprint_parent = Nullable(wrappedValue: fingerprint_parent)
    }

    /// The times of an item, in ISO 8601.
    public struct Times: Codable, Sendable {
        /// The time of the submission.
        public var created_at: String
        /// The time of the last change of result or flag.
        public var last_updated_at: String

        public init(created_at: String, last_updated_at: String) {
            self.created_at = created_at
            self.last_updated_at = last_updated_at
        }
    }

    /// An item's results and flag.
    public struct Status: Codable, Sendable {
        /// The current result.
        public var result: Outcome
        /// The first final result; null before there is one. It is not `final` once another result followed [P].
        @Nullable public var initial_result: Outcome?
        /// The flag: null, `flagged` or `resolved`.
        @Nullable public var flag: FlagID?
        /// The time at which the result is expected [D eta].
        public var eta: EntrupyCaptureResult.Timestamp?

        public init(
            result: Outcome, initial_result: Outcome?, flag: FlagID?, eta: EntrupyCaptureResult.Timestamp?
        ) {
            self.eta = eta
            self.result = result
            self._initial_result = Nullable(wrappedValue: initial_result)
            self._flag = Nullable(wrappedValue: flag)
        }
    }

    /// A result.
    public struct Outcome: Codable, Sendable {
        public var id: ResultID
        /// Whether the review is finished.
        public var final: Bool

        public init(id: ResultID, final: Bool) {
            self.id = id
            self.final = final
        }
    }

    /// The service that the platform performed for an item.
    public struct Activity: Codable, Sendable {
        /// The mode of the service: `standard_authentication`, or `register` or `compare` of a fingerprint.
        public var mode: String
        /// The form factor; always `free_camera`.
        public var form_factor: String
        /// The name of the service: `authentication` or `fingerprint`.
        public var name: String
        /// The category's id.
        public var product_category: String

        public init(mode: String, form_factor: String, name: String, product_category: String) {
            self.mode = mode
            self.form_factor = form_factor
            self.name = name
            self.product_category = product_category
        }
    }

    /// An item's brand, category and material.
    public struct Properties: Codable, Sendable {
        /// The customer's own id of the item, or null.
        @Nullable public var customer_item_id: String?
        /// The brand's name; null for an item without a brand [P].
        @Nullable public var brand: String?
        /// The brand's name; null for an item without a brand.
        @Nullable public var brand_name: String?
        /// The item type's name, or the category's if there is no item type [P].
        public var category: String
        /// The category's name.
        public var category_name: String
        /// The material; null if the app sent none.
        @Nullable public var material: String?

        public init(
            customer_item_id: String?, brand: String?, brand_name: String?, category: String, category_name: String,
            material: String?
        ) {
            self._customer_item_id = Nullable(wrappedValue: customer_item_id)
            _brand = Nullable(wrappedValue: brand)
            _brand_name = Nullable(wrappedValue: brand_name)
            self.category = category
            self.category_name = category_name
            self._material = Nullable(wrappedValue: material)
        }
    }

    /// The organization and user of an item.
    public struct Owner: Codable, Sendable {
        /// The organization's name [D v2-owner].
        public var organization_id: String
        /// The user's name, `OrganizationName-unique_user_id` [D v2-owner].
        public var user_id: String

        public init(organization_id: String, user_id: String) {
            self.organization_id = organization_id
            self.user_id = user_id
        }
    }

    /// A certificate.
    public struct Certificate: Codable, Sendable {
        /// The certificate's id.
        public var certificate_id: String
        /// The URL of the certificate as a page.
        public var url: String

        public init(certificate_id: String, url: String) {
            self.certificate_id = certificate_id
            self.url = url
        }
    }

    /// The pictures of an item.
    public struct Images: Codable, Sendable {
        /// The URL of the first region's picture; null if there are no pictures.
        @Nullable public var item_photo: String?
        /// Every picture, in the order of the workflow.
        public var uploaded_images: [Image]

        public init(item_photo: String?, uploaded_images: [Image]) {
            self._item_photo = Nullable(wrappedValue: item_photo)
            self.uploaded_images = uploaded_images
        }
    }

    /// One picture [D v2-images].
    public struct Image: Codable, Sendable {
        /// The region's id.
        public var type: String
        /// The region's name, in the caller's language.
        public var display_name: String
        /// The URL of the picture.
        public var url: String

        public init(type: String, display_name: String, url: String) {
            self.type = type
            self.display_name = display_name
            self.url = url
        }
    }
}

/// An answer that has one item as its only member.
public struct ItemAnswer<Item: Codable & Sendable>: Codable, Sendable {
    public var item: Item

    public init(item: Item) {
        self.item = item
    }
}

/// `POST /v2/authentications/{entrupy_id}/flag` [P].
public struct PartnerFlagRequest: Codable, Sendable {
    /// The reason, in free text.
    public var reason: String
    /// Further comments. Empty ones count as absent.
    public var comments: String?

    public init(reason: String, comments: String? = nil) {
        self.reason = reason
        self.comments = comments
    }
}
