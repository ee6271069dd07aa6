/// What the SDK decodes with a strict decoder: every non-optional member is always sent [P].
public struct EntrupyCaptureResult: Codable, Sendable {
    public var authentication_id: String
    /// The same value; newer SDKs read this one.
    public var entrupy_id: String
    public var properties: Properties
    public var status: Status
    /// The submission's time; never changes.
    public var timestamp: Timestamp
    public var event_times: EventTimes
    public var events: [TimelineEvent]?
    public var images: Images?
    public var more_details: MoreDetails?
    public var text_fields: [TextField]?
    public var user: User?
    public var price: Price?

    public init(
        entrupy_id: String, properties: Properties, status: Status, timestamp: Timestamp, event_times: EventTimes,
        events: [TimelineEvent]?, images: Images?, more_details: MoreDetails?, text_fields: [TextField]?, user: User?,
        price: Price?
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
    }

    /// A moment, twice: ISO 8601 UTC with microseconds, and epoch seconds.
    public struct Timestamp: Codable, Sendable {
        public var display: String
        public var epoch: Double

        public init(display: String, epoch: Double) {
            self.display = display
            self.epoch = epoch
        }
    }

    public struct Properties: Codable, Sendable {
        public var brand: Named
        public var model: Named?
        public var function: Identified?

        public init(brand: Named, model: Named?, function: Identified?) {
            self.brand = brand
            self.model = model
            self.function = function
        }
    }

    public struct Named: Codable, Sendable {
        public var id: String
        public var display: [String: String]

        public init(id: String, display: [String: String]) {
            self.id = id
            self.display = display
        }
    }

    public struct Identified: Codable, Sendable {
        public var id: String

        public init(id: String) {
            self.id = id
        }
    }

    public struct Status: Codable, Sendable {
        public var flag: ResultFlag
        public var result: Result

        public init(flag: ResultFlag, result: Result) {
            self.flag = flag
            self.result = result
        }
    }

    public struct Result: Codable, Sendable {
        public var id: String
        public var display: Display
        /// Whether the platform has made up its mind.
        public var final: Bool
        /// The id of an invalid result's reason [P].
        public var reason: String?

        public init(id: String, display: Display, final: Bool, reason: String?) {
            self.id = id
            self.display = display
            self.final = final
            self.reason = reason
        }
    }

    public struct Display: Codable, Sendable {
        public var header: String
        public var message: String?
        public var reasons: [Reason]?

        public init(header: String, message: String?, reasons: [Reason]?) {
            self.header = header
            self.message = message
            self.reasons = reasons
        }
    }

    public struct Reason: Codable, Sendable {
        public var image: String?
        public var text: String?

        public init(image: String? = nil, text: String?) {
            self.image = image
            self.text = text
        }
    }

    /// Each member once it has happened.
    public struct EventTimes: Codable, Sendable {
        public var submitted_at: Timestamp?
        public var result_returned_at: Timestamp?
        public var initial_result_set_at: Timestamp?
        public var capture_started_at: Timestamp?

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

    public struct TimelineEvent: Codable, Sendable {
        public var label: String
        public var title: String
        public var type: String
        public var message: String?
        public var timestamp: Timestamp

        public init(label: String, title: String, type: String, message: String?, timestamp: Timestamp) {
            self.label = label
            self.title = title
            self.type = type
            self.message = message
            self.timestamp = timestamp
        }
    }

    public struct Images: Codable, Sendable {
        public var item_photo: String?
        public var uploaded_images: [UploadedImage]?

        public init(item_photo: String?, uploaded_images: [UploadedImage]?) {
            self.item_photo = item_photo
            self.uploaded_images = uploaded_images
        }
    }

    public struct UploadedImage: Codable, Sendable {
        public var urls: URLs
        public var display_name: String

        public init(urls: URLs, display_name: String) {
            self.urls = urls
            self.display_name = display_name
        }
    }

    public struct URLs: Codable, Sendable {
        public var original: String
        public var scale_micro: String

        public init(original: String, scale_micro: String) {
            self.original = original
            self.scale_micro = scale_micro
        }
    }

    public struct MoreDetails: Codable, Sendable {
        public var certificate: Certificate

        public init(certificate: Certificate) {
            self.certificate = certificate
        }
    }

    public struct Certificate: Codable, Sendable {
        /// The certificate as a picture.
        public var preview: String?
        /// The certificate as a page.
        public var site: String?

        public init(preview: String?, site: String?) {
            self.preview = preview
            self.site = site
        }
    }

    public struct TextField: Codable, Sendable {
        public var display_name: String
        public var editable: Bool
        public var required: Bool
        public var is_identifier: Bool
        public var content: String?
        public var region_id: String?

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

    public struct User: Codable, Sendable {
        public var username: String

        public init(username: String) {
            self.username = username
        }
    }

    public struct Price: Codable, Sendable {
        public var show_pricing_widget: Bool

        public init(show_pricing_widget: Bool) {
            self.show_pricing_widget = show_pricing_widget
        }
    }
}
