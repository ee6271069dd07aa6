// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// An item as `/v1` shows it. Some members depend on `Api-Version` [P].
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
    /// The certificate, present while the result is authentic.
    public var certificate: EntrupyCaptureResult.MoreDetails.Certificate?
    /// The item's fields as the app sent them; up to version 1.2 also `order_id`.
    public var text_fields: [String: String]

    /// An item's flag and result.
    public struct Status: Codable, Sendable {
        /// The flag: null, flagged or resolved. The control API can set others.
        @Nullable public var flag: FlagID?
        /// The result. Its `reason` is present from version 1.2.
        public var result: EntrupyCaptureResult.Status.Result
        /// The time at which the result is expected, from version 1.4. Absent if none is planned, or a retake is awaited [D eta].
        public var eta: EntrupyCaptureResult.Timestamp?

        public init(
            flag: FlagID?, result: EntrupyCaptureResult.Status.Result, eta: EntrupyCaptureResult.Timestamp? = nil
        ) {
            _flag = Nullable(wrappedValue: flag)
            self.result = result
            self.eta = eta
        }
    }

    /// The service that the platform performed for the item.
    public struct Activity: Codable, Sendable {
        /// The name of the service: `authentication` or `fingerprint`.
        public var name: String
        /// The mode of a fingerprint; absent for an authentication.
        public var mode: String?
        /// Present from version 1.2 [P].
        public var form_factor: String?
        /// The category's id; present from version 1.3.
        public var product_category: String?

        public init(name: String, mode: String? = nil, form_factor: String? = nil, product_category: String? = nil) {
            self.name = name
            self.mode = mode
            self.form_factor = form_factor
            self.product_category = product_category
        }
    }

    /// An item's brand and model.
    public struct Properties: Codable, Sendable {
        public var brand: EntrupyCaptureResult.Properties.Named
        /// The model. Up to version 1.3 the model of a luxury item is its material [P].
        public var model: EntrupyCaptureResult.Properties.Identified?
        /// A luxury item's material, from version 1.4 [P].
        public var material: EntrupyCaptureResult.Properties.Named?
        /// An apparel item's type, from version 1.4 [P].
        public var item_type: EntrupyCaptureResult.Properties.Named?

        public init(
            brand: EntrupyCaptureResult.Properties.Named, model: EntrupyCaptureResult.Properties.Identified? = nil,
            material: EntrupyCaptureResult.Properties.Named? = nil,
            item_type: EntrupyCaptureResult.Properties.Named? = nil
        ) {
            self.brand = brand
            self.model = model
            self.material = material
            self.item_type = item_type
        }
    }

    /// The organization and user of the item.
    public struct Owner: Codable, Sendable {
        public var organization: Organization
        public var user: EntrupyCaptureResult.User

        public struct Organization: Codable, Sendable {
            public var name: String

            public init(name: String) {
                self.name = name
            }
        }

        public init(organization: Organization, user: EntrupyCaptureResult.User) {
            self.organization = organization
            self.user = user
        }
    }

    public init(
        activity: Activity, certificate: EntrupyCaptureResult.MoreDetails.Certificate? = nil, entrupy_id: String,
        owner: Owner, properties: Properties, status: Status, text_fields: [String: String],
        timestamp: EntrupyCaptureResult.Timestamp
    ) {
        self.entrupy_id = entrupy_id
        self.timestamp = timestamp
        self.status = status
        self.activity = activity
        self.properties = properties
        self.owner = owner
        self.certificate = certificate
        self.text_fields = text_fields
    }
}

/// An item. `settings.partner.sparse_items` leaves out what is null or empty, and `last_updated_at`, `certificate`, `brand`
/// and `category` [P].
public struct V2Item: Codable, Sendable {
    public var entrupy_id: String
    /// Times in whole seconds.
    public var timestamp: Times
    /// An item's results and flag.
    public var status: Status
    /// The service that the platform performed for the item.
    public var activity: Activity
    /// The item's brand, category and material.
    public var properties: Properties
    /// The organization and user of the item.
    public var owner: Owner
    /// The certificate; null unless the result is authentic.
    @Nullable public var certificate: Certificate?
    /// The item's fields as the app sent them.
    public var text_fields: [String: String]
    /// The pictures; null unless `include_images=true`.
    @Nullable public var images: Images?
    /// The catalogue data; null unless `include_catalog=true`. The data is invented, but always the same for one item. The
    /// control API can change it [D v2-catalog].
    @Nullable public var catalog: JSONValue?
    /// The id of the item that a fingerprint was compared with.
    @Nullable public var fingerprint_parent: String?

    /// Times in whole seconds.
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
        /// The first final result; null before there is one. Its `final` is false [P].
        @Nullable public var initial_result: Outcome?
        /// The flag: null, flagged or resolved. The control API can set others.
        @Nullable public var flag: FlagID?
        /// The time at which the result is expected. Absent if none is planned, or a retake is awaited [D eta].
        public var eta: EntrupyCaptureResult.Timestamp?

        /// A result.
        public struct Outcome: Codable, Sendable {
            public var id: ResultID
            public var final: Bool

            public init(id: ResultID, final: Bool) {
                self.id = id
                self.final = final
            }
        }

        public init(
            result: Outcome, initial_result: Outcome?, flag: FlagID?, eta: EntrupyCaptureResult.Timestamp? = nil
        ) {
            self.result = result
            _initial_result = Nullable(wrappedValue: initial_result)
            _flag = Nullable(wrappedValue: flag)
            self.eta = eta
        }
    }

    /// The service that the platform performed for the item.
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

    /// The item's brand, category and material.
    public struct Properties: Codable, Sendable {
        /// The customer's own id of the item, or null.
        @Nullable public var customer_item_id: String?
        /// The brand's name; null for an item without a brand [P].
        @Nullable public var brand: String?
        /// The brand's name; null for an item without a brand.
        @Nullable public var brand_name: String?
        /// The name of the item type, or of the category if there is none [P].
        public var category: String
        /// The category's name.
        public var category_name: String
        /// The material; null if the app sent none.
        @Nullable public var material: String?

        public init(
            customer_item_id: String?, brand: String?, brand_name: String?, category: String, category_name: String,
            material: String?
        ) {
            _customer_item_id = Nullable(wrappedValue: customer_item_id)
            _brand = Nullable(wrappedValue: brand)
            _brand_name = Nullable(wrappedValue: brand_name)
            self.category = category
            self.category_name = category_name
            _material = Nullable(wrappedValue: material)
        }
    }

    /// The organization and user of an item [D v2-owner].
    public struct Owner: Codable, Sendable {
        /// The organization's name.
        public var organization_id: String
        /// The user's name, `OrganizationName-unique_user_id`.
        public var user_id: String

        public init(organization_id: String, user_id: String) {
            self.organization_id = organization_id
            self.user_id = user_id
        }
    }

    /// A certificate.
    public struct Certificate: Codable, Sendable {
        public var certificate_id: String
        public var url: String

        public init(certificate_id: String, url: String) {
            self.certificate_id = certificate_id
            self.url = url
        }
    }

    /// The pictures of an item.
    public struct Images: Codable, Sendable {
        @Nullable public var item_photo: String?
        public var uploaded_images: [Image]

        /// Source: [D v2-images].
        public struct Image: Codable, Sendable {
            /// The region's id.
            public var type: String
            public var display_name: String
            public var url: String

            public init(type: String, display_name: String, url: String) {
                self.type = type
                self.display_name = display_name
                self.url = url
            }
        }

        public init(item_photo: String?, uploaded_images: [Image]) {
            _item_photo = Nullable(wrappedValue: item_photo)
            self.uploaded_images = uploaded_images
        }
    }

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
        _certificate = Nullable(wrappedValue: certificate)
        self.text_fields = text_fields
        _images = Nullable(wrappedValue: images)
        _catalog = Nullable(wrappedValue: catalog)
        _fingerprint_parent = Nullable(wrappedValue: fingerprint_parent)
    }
}

/// `POST /v2/authentications/{entrupy_id}/flag` [P].
public struct PartnerFlagRequest: Codable, Sendable {
    /// The reason, in free text.
    public var reason: String
    /// Empty counts as absent.
    public var comments: String?

    public init(reason: String, comments: String? = nil) {
        self.reason = reason
        self.comments = comments
    }
}
