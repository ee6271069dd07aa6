/// An item as the SDK sees it. The SDK's decoder is strict, so every non-optional member is always sent [P].
public struct EntrupyCaptureResult: Codable, Sendable {
    /// The item's id, under the name that older SDKs read [P].
    public var authentication_id: String
    /// The item's id, under the name that newer SDKs read.
    public var entrupy_id: String
    /// The item's brand, model and function.
    public var properties: Properties
    /// Its result and its flag.
    public var status: Status
    /// The time of the submission. It never changes.
    public var timestamp: Timestamp
    /// The times of the item's events. This member is always sent.
    public var event_times: EventTimes
    /// The timeline that a user may see, oldest first [D timeline].
    public var events: [TimelineEvent]?
    /// The pictures of the capture; absent if the item was made without a capture.
    public var images: Images?
    /// The certificate, while the result is authentic [D certificate-while-authentic].
    public var more_details: MoreDetails?
    /// The item's fields as the app sent them, each with a display name. Fields without a value are left out.
    public var text_fields: [TextField]?
    /// The user who submitted the item.
    public var user: User?
    public var price: Price?
    /// The open retake: present while the platform's support waits for new pictures [P].
    public var batch_request: BatchRequest?

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

    /// A moment in two forms: ISO 8601 UTC with microseconds, and epoch seconds.
    public struct Timestamp: Codable, Sendable {
        /// For instance `2019-08-27T00:14:28.342735Z` [P].
        public var display: String
        /// Seconds since 1970, with fractions.
        public var epoch: Double

        public init(display: String, epoch: Double) {
            self.display = display
            self.epoch = epoch
        }
    }

    /// An item's brand, model and function.
    public struct Properties: Codable, Sendable {
        /// The catalogue's brand, or the brand as the app sent it if the catalogue lacks it.
        public var brand: Named
        /// The model, made from `style_name` [D model-and-function].
        public var model: Named?
        /// The function, made from `item_type` [D model-and-function].
        public var function: Identified?

        public init(brand: Named, model: Named?, function: Identified?) {
            self.brand = brand
            self.model = model
            self.function = function
        }
    }

    /// An id with its display names.
    public struct Named: Codable, Sendable {
        /// The id, in lower case with underscores.
        public var id: String
        /// The display names, as `{"name": …}` [P].
        public var display: [String: String]

        public init(id: String, display: [String: String]) {
            self.id = id
            self.display = display
        }
    }

    /// An id without display names.
    public struct Identified: Codable, Sendable {
        public var id: String

        public init(id: String) {
            self.id = id
        }
    }

    /// The flag and the result of an item.
    public struct Status: Codable, Sendable {
        /// The flag, with which a user disputes the result.
        public var flag: ResultFlag
        public var result: Result
        /// The time at which the result is expected; absent if none is planned, or a retake is awaited [D eta].
        public var eta: Timestamp?

        public init(flag: ResultFlag, result: Result, eta: Timestamp?) {
            self.flag = flag
            self.result = result
            self.eta = eta
        }
    }

    /// A result with its texts.
    public struct Result: Codable, Sendable {
        /// The result's id; ``ResultID`` lists the documented ones [S, P].
        public var id: ResultID
        /// The texts of the result, in the caller's language.
        public var display: Display
        /// Whether the review is finished.
        public var final: Bool
        /// The id of an invalid result's reason [P].
        public var reason: String?

        public init(id: ResultID, display: Display, final: Bool, reason: String?) {
            self.id = id
            self.display = display
            self.final = final
            self.reason = reason
        }
    }

    /// The texts of a result.
    public struct Display: Codable, Sendable {
        /// The header, for instance `Unidentified` [S].
        public var header: String
        /// One sentence about the result.
        public var message: String?
        /// The reasons of an invalid result [P].
        public var reasons: [Reason]?

        public init(header: String, message: String?, reasons: [Reason]?) {
            self.header = header
            self.message = message
            self.reasons = reasons
        }
    }

    /// The reason of an invalid result.
    public struct Reason: Codable, Sendable {
        /// The URL of an example picture. The simulator never sends it.
        public var image: String?
        /// The reason, in the caller's language.
        public var text: String?

        public init(image: String? = nil, text: String?) {
            self.image = image
            self.text = text
        }
    }

    /// The times of an item's events. Each member is absent until its event happens.
    public struct EventTimes: Codable, Sendable {
        /// The time of the submission.
        public var submitted_at: Timestamp?
        /// The time at which the last final result was set; absent before the first.
        public var result_returned_at: Timestamp?
        /// The time at which the first final result was set. It never changes.
        public var initial_result_set_at: Timestamp?
        /// The time at which the item's capture was started.
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

    /// One entry of the timeline.
    public struct TimelineEvent: Codable, Sendable {
        /// A short name of the event.
        public var label: String
        /// A description of the event, in a few words.
        public var title: String
        /// The event's id, for instance `flag.set` [D timeline].
        public var type: String
        /// The result's header, the flag's message or the resolution's note.
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

    /// The pictures of an item.
    public struct Images: Codable, Sendable {
        /// The URL of the first region's picture.
        public var item_photo: String?
        /// Every picture, in the order of the workflow.
        public var uploaded_images: [UploadedImage]?

        public init(item_photo: String?, uploaded_images: [UploadedImage]?) {
            self.item_photo = item_photo
            self.uploaded_images = uploaded_images
        }
    }

    /// One picture.
    public struct UploadedImage: Codable, Sendable {
        /// The URLs of the picture.
        public var urls: URLs
        /// The region's name, in the caller's language.
        public var display_name: String

        public init(urls: URLs, display_name: String) {
            self.urls = urls
            self.display_name = display_name
        }
    }

    /// The URLs of a picture.
    public struct URLs: Codable, Sendable {
        /// The URL of the uploaded bytes.
        public var original: String
        /// The URL of a small rendering. The simulator serves the uploaded bytes here too [D images].
        public var scale_micro: String

        public init(original: String, scale_micro: String) {
            self.original = original
            self.scale_micro = scale_micro
        }
    }

    /// Further details of an authentic item.
    public struct MoreDetails: Codable, Sendable {
        public var certificate: Certificate

        public init(certificate: Certificate) {
            self.certificate = certificate
        }
    }

    /// The URLs of an item's certificate.
    public struct Certificate: Codable, Sendable {
        /// The URL of the certificate as a picture.
        public var preview: String?
        /// The URL of the certificate as a page.
        public var site: String?

        public init(preview: String?, site: String?) {
            self.preview = preview
            self.site = site
        }
    }

    /// One field of the item as the app sent it.
    public struct TextField: Codable, Sendable {
        /// The field's name, in the caller's language.
        public var display_name: String
        /// Whether the user may change the field. The value is always false.
        public var editable: Bool
        /// Whether the category requires the field.
        public var required: Bool
        /// Whether the field is the customer's own id of the item.
        public var is_identifier: Bool
        /// The field's value.
        public var content: String?
        /// The region that the value was read from. The simulator never sends it.
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

    /// A user.
    public struct User: Codable, Sendable {
        /// `OrganizationName-unique_user_id`.
        public var username: String

        public init(username: String) {
            self.username = username
        }
    }

    /// Whether the app shows a price.
    public struct Price: Codable, Sendable {
        /// Whether the app shows the pricing widget. The value is always false.
        public var show_pricing_widget: Bool

        public init(show_pricing_widget: Bool) {
            self.show_pricing_widget = show_pricing_widget
        }
    }
}
