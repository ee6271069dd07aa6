/// An item as `/v1` shows it [P]. Members appear by `Api-Version`.
public struct V1Item: Codable, Sendable {
    /// What was done with the item.
    public var activity: Activity
    /// Where its certificate is; absent without one.
    public var certificate: EntrupyCaptureResult.Certificate?
    /// The item's id.
    public var entrupy_id: String
    /// Whose item it is.
    public var owner: Owner
    /// Brand and model.
    public var properties: Properties
    /// Flag and result.
    public var status: Status
    /// What the app said of it: `customer_item_id`, `style_code`, `us_size` and so on; up to 1.2 also `order_id`.
    public var text_fields: [String: String]
    /// The submission's.
    public var timestamp: EntrupyCaptureResult.Timestamp

    /// Makes one from its members.
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

    /// What was done with an item.
    public struct Activity: Codable, Sendable {
        /// Always `authentication`.
        public var name: String
        /// Always `free_camera`.
        public var form_factor: String
        /// The category's id; from 1.3.
        public var product_category: String?

        /// Makes one from its members.
        public init(name: String, form_factor: String, product_category: String?) {
            self.name = name
            self.form_factor = form_factor
            self.product_category = product_category
        }
    }

    /// Whose item it is.
    public struct Owner: Codable, Sendable {
        /// The customer of the platform.
        public var organization: Organization
        /// The customer's user.
        public var user: EntrupyCaptureResult.User

        /// Makes one from its members.
        public init(organization: Organization, user: EntrupyCaptureResult.User) {
            self.organization = organization
            self.user = user
        }
    }

    /// A customer of the platform.
    public struct Organization: Codable, Sendable {
        /// For instance `DemoOrg`.
        public var name: String

        /// Makes one from its members.
        public init(name: String) {
            self.name = name
        }
    }

    /// Brand and model.
    public struct Properties: Codable, Sendable {
        /// The brand.
        public var brand: EntrupyCaptureResult.Named
        /// The model; absent where the app named no style.
        public var model: EntrupyCaptureResult.Identified?

        /// Makes one from its members.
        public init(brand: EntrupyCaptureResult.Named, model: EntrupyCaptureResult.Identified?) {
            self.brand = brand
            self.model = model
        }
    }

    /// Flag and result.
    public struct Status: Codable, Sendable {
        /// Null, `flagged` or `resolved`.
        @Nullable public var flag: String?
        /// The result; its `reason` from 1.2.
        public var result: EntrupyCaptureResult.Result

        /// Makes one from its members.
        public init(flag: String?, result: EntrupyCaptureResult.Result) {
            self._flag = Nullable(wrappedValue: flag)
            self.result = result
        }
    }
}

/// An item as `/v2` shows it [P].
public struct V2Item: Codable, Sendable {
    /// The item's id.
    public var entrupy_id: String
    /// When it was submitted and last changed.
    public var timestamp: Times
    /// Results and flag.
    public var status: Status
    /// What was done with the item.
    public var activity: Activity
    /// What it is.
    public var properties: Properties
    /// Whose item it is.
    public var owner: Owner
    /// Null without one.
    @Nullable public var certificate: Certificate?
    /// What the app said of it.
    public var text_fields: [String: String]
    /// Null unless `include_images=true`.
    @Nullable public var images: Images?
    /// Null unless `include_catalog=true`.
    @Nullable public var catalog: JSONValue?
    /// Always null.
    @Nullable public var fingerprint_parent: String?

    /// Makes one from its members.
    public init(
        entrupy_id: String, timestamp: Times, status: Status, activity: Activity, properties: Properties, owner: Owner,
        certificate: Certificate?, text_fields: [String: String], images: Images?, catalog: JSONValue?
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
        self._fingerprint_parent = Nullable(wrappedValue: nil)
    }

    /// ISO 8601.
    public struct Times: Codable, Sendable {
        /// The submission.
        public var created_at: String
        /// The last change of result or flag.
        public var last_updated_at: String

        /// Makes one from its members.
        public init(created_at: String, last_updated_at: String) {
            self.created_at = created_at
            self.last_updated_at = last_updated_at
        }
    }

    /// Results and flag.
    public struct Status: Codable, Sendable {
        /// The result now.
        public var result: Outcome
        /// The first final result; null before any.
        @Nullable public var initial_result: Outcome?
        /// Null, `flagged` or `resolved`.
        @Nullable public var flag: String?

        /// Makes one from its members.
        public init(result: Outcome, initial_result: Outcome?, flag: String?) {
            self.result = result
            self._initial_result = Nullable(wrappedValue: initial_result)
            self._flag = Nullable(wrappedValue: flag)
        }
    }

    /// A result.
    public struct Outcome: Codable, Sendable {
        /// The result's id.
        public var id: String
        /// Whether the platform has made up its mind.
        public var final: Bool

        /// Makes one from its members.
        public init(id: String, final: Bool) {
            self.id = id
            self.final = final
        }
    }

    /// What was done with an item.
    public struct Activity: Codable, Sendable {
        /// Always `standard_authentication`.
        public var mode: String
        /// Always `free_camera`.
        public var form_factor: String
        /// Always `authentication`.
        public var name: String
        /// The category's id.
        public var product_category: String

        /// Makes one from its members.
        public init(mode: String, form_factor: String, name: String, product_category: String) {
            self.mode = mode
            self.form_factor = form_factor
            self.name = name
            self.product_category = product_category
        }
    }

    /// What an item is.
    public struct Properties: Codable, Sendable {
        /// The customer's own id, or null.
        @Nullable public var customer_item_id: String?
        /// The brand's id.
        public var brand: String
        /// The brand's name.
        public var brand_name: String
        /// The category's id.
        public var category: String
        /// The category's name.
        public var category_name: String
        /// Null where the app named none.
        @Nullable public var material: String?

        /// Makes one from its members.
        public init(
            customer_item_id: String?, brand: String, brand_name: String, category: String, category_name: String,
            material: String?
        ) {
            self._customer_item_id = Nullable(wrappedValue: customer_item_id)
            self.brand = brand
            self.brand_name = brand_name
            self.category = category
            self.category_name = category_name
            self._material = Nullable(wrappedValue: material)
        }
    }

    /// Whose item it is.
    public struct Owner: Codable, Sendable {
        /// The organization's name [D].
        public var organization_id: String
        /// The user's name, `OrganizationName-unique_user_id` [D].
        public var user_id: String

        /// Makes one from its members.
        public init(organization_id: String, user_id: String) {
            self.organization_id = organization_id
            self.user_id = user_id
        }
    }

    /// A certificate.
    public struct Certificate: Codable, Sendable {
        /// The certificate's id.
        public var certificate_id: String
        /// The certificate as a page.
        public var url: String

        /// Makes one from its members.
        public init(certificate_id: String, url: String) {
            self.certificate_id = certificate_id
            self.url = url
        }
    }

    /// The pictures of an item.
    public struct Images: Codable, Sendable {
        /// The address of the first region's picture; null without any.
        @Nullable public var item_photo: String?
        /// Every picture, in the order of the workflow.
        public var uploaded_images: [Image]

        /// Makes one from its members.
        public init(item_photo: String?, uploaded_images: [Image]) {
            self._item_photo = Nullable(wrappedValue: item_photo)
            self.uploaded_images = uploaded_images
        }
    }

    /// One picture [D].
    public struct Image: Codable, Sendable {
        /// The region's id.
        public var type: String
        /// The region's name, in the caller's language.
        public var display_name: String
        /// Where the picture is.
        public var url: String

        /// Makes one from its members.
        public init(type: String, display_name: String, url: String) {
            self.type = type
            self.display_name = display_name
            self.url = url
        }
    }
}

/// An item alone in an answer.
public struct ItemAnswer<Item: Codable & Sendable>: Codable, Sendable {
    /// The item.
    public var item: Item

    /// Makes one from its members.
    public init(item: Item) {
        self.item = item
    }
}

/// `POST /v2/authentications/{entrupy_id}/flag` [P].
public struct PartnerFlagRequest: Codable, Sendable {
    /// Why, in free text.
    public var reason: String
    /// More about it.
    public var comments: String?

    /// Makes one from its members.
    public init(reason: String, comments: String? = nil) {
        self.reason = reason
        self.comments = comments
    }
}
