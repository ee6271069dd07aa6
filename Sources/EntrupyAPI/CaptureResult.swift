/// What the SDK decodes with a strict decoder: every non-optional member is always sent [P].
public struct EntrupyCaptureResult: Codable, Sendable {
    /// The item's id, the name older SDKs read [P].
    public var authentication_id: String
    /// The same value; newer SDKs read this one.
    public var entrupy_id: String
    /// What the item is.
    public var properties: Properties
    /// Its result and its flag.
    public var status: Status
    /// The submission's time; never changes.
    public var timestamp: Timestamp
    /// When what happened; always sent.
    public var event_times: EventTimes
    /// The timeline a user may see, oldest first.
    public var events: [TimelineEvent]?
    /// The pictures of the capture; absent for an item made without one.
    public var images: Images?
    /// The certificate, while the result is authentic.
    public var more_details: MoreDetails?
    /// What the app said of the item, each with a display name; fields without a value are left out.
    public var text_fields: [TextField]?
    /// Whose item it is.
    public var user: User?
    /// Whether a price may be shown.
    public var price: Price?
    /// There while the platform's support waits for pictures to be taken again [P].
    public var batch_request: BatchRequest?

    /// Makes one from its members.
    public init(
        entrupy_id: String, properties: Properties, status: Status, timestamp: Timestamp, event_times: EventTimes,
        events: [TimelineEvent]?, images: Images?, more_details: MoreDetails?, text_fields: [TextField]?, user: User?,
        price: Price?, batch_request: BatchRequest? = nil
    ) {
        authentication_id = entrupy_id
        self.entrupy_id = entrupy_id
        self.properties = properties
        self.status = status
        self.timestamp = timestamp
        self.event_times = event_times
        self.events = events
        self.images = images
        self.more_details = more_details
        self.text_fields = text_fields
        self.user = user
        self.price = price
        self.batch_request = batch_request
    }

    /// A moment, twice: ISO 8601 UTC with microseconds, and epoch seconds.
    public struct Timestamp: Codable, Sendable {
        /// For instance `2019-08-27T00:14:28.342735Z` [P].
        public var display: String
        /// Seconds since 1970, with fractions.
        public var epoch: Double

        /// Makes one from its members.
        public init(display: String, epoch: Double) {
            self.display = display
            self.epoch = epoch
        }
    }

    /// What an item is.
    public struct Properties: Codable, Sendable {
        /// The catalogue's brand, or what was sent where it lacks that.
        public var brand: Named
        /// Made from `style_name` [D].
        public var model: Named?
        /// Made from `item_type` [D].
        public var function: Identified?

        /// Makes one from its members.
        public init(brand: Named, model: Named?, function: Identified?) {
            self.brand = brand
            self.model = model
            self.function = function
        }
    }

    /// Something with an id and names.
    public struct Named: Codable, Sendable {
        /// Lower case, with underscores.
        public var id: String
        /// `{"name": …}` [P].
        public var display: [String: String]

        /// Makes one from its members.
        public init(id: String, display: [String: String]) {
            self.id = id
            self.display = display
        }
    }

    /// Something with an id alone.
    public struct Identified: Codable, Sendable {
        /// The thing's id.
        public var id: String

        /// Makes one from its members.
        public init(id: String) {
            self.id = id
        }
    }

    /// Where an item stands.
    public struct Status: Codable, Sendable {
        /// Whether the user doubts the result.
        public var flag: ResultFlag
        /// What the platform found.
        public var result: Result

        /// Makes one from its members.
        public init(flag: ResultFlag, result: Result) {
            self.flag = flag
            self.result = result
        }
    }

    /// A result and what is said about it.
    public struct Result: Codable, Sendable {
        /// `authentic`, `unknown`, `not_supported`, `needs_review`, `invalid` [S].
        public var id: String
        /// The texts for it, in the caller's language.
        public var display: Display
        /// Whether the platform has made up its mind.
        public var final: Bool
        /// The id of an invalid result's reason [P].
        public var reason: String?

        /// Makes one from its members.
        public init(id: String, display: Display, final: Bool, reason: String?) {
            self.id = id
            self.display = display
            self.final = final
            self.reason = reason
        }
    }

    /// The texts of a result.
    public struct Display: Codable, Sendable {
        /// For instance `Unidentified` [S].
        public var header: String
        /// One sentence about the result.
        public var message: String?
        /// Why an invalid result is invalid [P].
        public var reasons: [Reason]?

        /// Makes one from its members.
        public init(header: String, message: String?, reasons: [Reason]?) {
            self.header = header
            self.message = message
            self.reasons = reasons
        }
    }

    /// Why a result is invalid.
    public struct Reason: Codable, Sendable {
        /// The address of an example picture; never sent by the simulator.
        public var image: String?
        /// The reason, in the caller's language.
        public var text: String?

        /// Makes one from its members.
        public init(image: String? = nil, text: String?) {
            self.image = image
            self.text = text
        }
    }

    /// Each member once it has happened.
    public struct EventTimes: Codable, Sendable {
        /// When the item was submitted.
        public var submitted_at: Timestamp?
        /// When the last final result was set; absent before the first.
        public var result_returned_at: Timestamp?
        /// When the first final result was set; never changes.
        public var initial_result_set_at: Timestamp?
        /// When its capture was started.
        public var capture_started_at: Timestamp?

        /// Makes one from its members.
        public init(
            submitted_at: Timestamp?, result_returned_at: Timestamp?, initial_result_set_at: Timestamp?,
            capture_started_at: Timestamp?
        ) {
            self.submitted_at = submitted_at
            self.result_returned_at = result_returned_at
            self.initial_result_set_at = initial_result_set_at
            self.capture_started_at = capture_started_at
        }
    }

    /// One entry of the timeline.
    public struct TimelineEvent: Codable, Sendable {
        /// A short name of what happened.
        public var label: String
        /// What happened, in a few words.
        public var title: String
        /// The event's id, for instance `flag.set` [D].
        public var type: String
        /// The result's header, the flag's message or the resolution's note.
        public var message: String?
        /// When it happened.
        public var timestamp: Timestamp

        /// Makes one from its members.
        public init(label: String, title: String, type: String, message: String?, timestamp: Timestamp) {
            self.label = label
            self.title = title
            self.type = type
            self.message = message
            self.timestamp = timestamp
        }
    }

    /// The pictures of an item.
    public struct Images: Codable, Sendable {
        /// The address of the first region's picture.
        public var item_photo: String?
        /// Every picture, in the order of the workflow.
        public var uploaded_images: [UploadedImage]?

        /// Makes one from its members.
        public init(item_photo: String?, uploaded_images: [UploadedImage]?) {
            self.item_photo = item_photo
            self.uploaded_images = uploaded_images
        }
    }

    /// One picture.
    public struct UploadedImage: Codable, Sendable {
        /// Where the picture is.
        public var urls: URLs
        /// The region's name, in the caller's language.
        public var display_name: String

        /// Makes one from its members.
        public init(urls: URLs, display_name: String) {
            self.urls = urls
            self.display_name = display_name
        }
    }

    /// Where a picture is.
    public struct URLs: Codable, Sendable {
        /// The bytes that were uploaded.
        public var original: String
        /// A small rendering; the simulator serves the same bytes [D].
        public var scale_micro: String

        /// Makes one from its members.
        public init(original: String, scale_micro: String) {
            self.original = original
            self.scale_micro = scale_micro
        }
    }

    /// What an authentic item has besides.
    public struct MoreDetails: Codable, Sendable {
        /// The certificate.
        public var certificate: Certificate

        /// Makes one from its members.
        public init(certificate: Certificate) {
            self.certificate = certificate
        }
    }

    /// Where an item's certificate is.
    public struct Certificate: Codable, Sendable {
        /// The certificate as a picture.
        public var preview: String?
        /// The certificate as a page.
        public var site: String?

        /// Makes one from its members.
        public init(preview: String?, site: String?) {
            self.preview = preview
            self.site = site
        }
    }

    /// One thing the app said of the item.
    public struct TextField: Codable, Sendable {
        /// The field's name, in the caller's language.
        public var display_name: String
        /// Whether the user may change it; always false.
        public var editable: Bool
        /// Whether the category needs it.
        public var required: Bool
        /// Whether it is the customer's own id.
        public var is_identifier: Bool
        /// The value.
        public var content: String?
        /// The region it was read from; never sent by the simulator.
        public var region_id: String?

        /// Makes one from its members.
        public init(
            display_name: String, editable: Bool, required: Bool, is_identifier: Bool, content: String?,
            region_id: String?
        ) {
            self.display_name = display_name
            self.editable = editable
            self.required = required
            self.is_identifier = is_identifier
            self.content = content
            self.region_id = region_id
        }
    }

    /// A user.
    public struct User: Codable, Sendable {
        /// `OrganizationName-unique_user_id`.
        public var username: String

        /// Makes one from its members.
        public init(username: String) {
            self.username = username
        }
    }

    /// What is said of the price.
    public struct Price: Codable, Sendable {
        /// Always false.
        public var show_pricing_widget: Bool

        /// Makes one from its members.
        public init(show_pricing_widget: Bool) {
            self.show_pricing_widget = show_pricing_widget
        }
    }
}
