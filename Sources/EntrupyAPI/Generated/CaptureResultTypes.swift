// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// An item as the SDK's strict decoder reads it. Every required member is always present [P].
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
    /// The times of the item's events. Each member is absent until its event happens. `result_returned_at` is the time of the
    /// last final result.
    public var event_times: EventTimes
    /// The timeline that a user may see, oldest first [D timeline].
    public var events: [TimelineEvent]?
    /// The pictures of the capture; absent if the item was made without a capture.
    public var images: Images?
    /// Further details, present while the result is authentic [D certificate-while-authentic].
    public var more_details: MoreDetails?
    /// The item's fields as the app sent them, each with a display name. Fields without a value are left out.
    public var text_fields: [TextField]?
    /// The user who submitted the item.
    public var user: User?
    public var price: Price?
    /// The open retake, present while support waits for new pictures [P].
    public var batch_request: BatchRequest?

    /// The item's brand, model and function.
    public struct Properties: Codable, Sendable {
        /// The catalogue's brand, or the brand as the app sent it if the catalogue lacks it.
        public var brand: Named
        /// The model, made from `style_name` [D model-and-function].
        public var model: Named?
        /// The function, made from `item_type` [D model-and-function].
        public var function: Identified?

        /// An id with its display names.
        public struct Named: Codable, Sendable {
            public var id: String
            /// Source: [P].
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

        public init(brand: Named, model: Named? = nil, function: Identified? = nil) {
            self.brand = brand
            self.model = model
            self.function = function
        }
    }

    /// Its result and its flag.
    public struct Status: Codable, Sendable {
        /// The flag, with which a user disputes the result.
        public var flag: ResultFlag
        public var result: Result
        /// The time at which the result is expected. Absent if none is planned, or a retake is awaited [D eta].
        public var eta: Timestamp?

        public struct Result: Codable, Sendable {
            /// Source: [S, P].
            public var id: ResultID
            public var display: Display
            public var final: Bool
            /// The id of an invalid result's reason [P].
            public var reason: String?

            public struct Display: Codable, Sendable {
                /// Source: [S].
                public var header: String
                public var message: String?
                /// Source: [P].
                public var reasons: [Reason]?

                public struct Reason: Codable, Sendable {
                    public var image: String?
                    public var text: String?

                    public init(image: String? = nil, text: String? = nil) {
                        self.image = image
                        self.text = text
                    }
                }

                public init(header: String, message: String? = nil, reasons: [Reason]? = nil) {
                    self.header = header
                    self.message = message
                    self.reasons = reasons
                }
            }

            public init(id: ResultID, display: Display, final: Bool, reason: String? = nil) {
                self.id = id
                self.display = display
                self.final = final
                self.reason = reason
            }
        }

        public init(flag: ResultFlag, result: Result, eta: Timestamp? = nil) {
            self.flag = flag
            self.result = result
            self.eta = eta
        }
    }

    /// The time of the submission. It never changes.
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

    /// The times of the item's events. Each member is absent until its event happens. `result_returned_at` is the time of the
    /// last final result.
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
            submitted_at: Timestamp? = nil, result_returned_at: Timestamp? = nil,
            initial_result_set_at: Timestamp? = nil, capture_started_at: Timestamp? = nil
        ) {
            self.submitted_at = submitted_at
            self.result_returned_at = result_returned_at
            self.initial_result_set_at = initial_result_set_at
            self.capture_started_at = capture_started_at
        }
    }

    /// The timeline that a user may see, oldest first [D timeline].
    public struct TimelineEvent: Codable, Sendable {
        /// A short name of the event.
        public var label: String
        /// A description of the event, in a few words.
        public var title: String
        /// The event's id, for instance `flag.set`.
        public var type: String
        /// The result's header, the flag's message or the resolution's note.
        public var message: String?
        public var timestamp: Timestamp

        public init(label: String, title: String, type: String, message: String? = nil, timestamp: Timestamp) {
            self.label = label
            self.title = title
            self.type = type
            self.message = message
            self.timestamp = timestamp
        }
    }

    /// The pictures of the capture; absent if the item was made without a capture.
    public struct Images: Codable, Sendable {
        /// The URL of the first region's picture.
        public var item_photo: String?
        /// Every picture, in the order of the workflow.
        public var uploaded_images: [UploadedImage]?

        /// One picture.
        public struct UploadedImage: Codable, Sendable {
            public var urls: URLs
            public var display_name: String

            public struct URLs: Codable, Sendable {
                public var original: String
                /// Source: [D images].
                public var scale_micro: String

                public init(original: String, scale_micro: String) {
                    self.original = original
                    self.scale_micro = scale_micro
                }
            }

            public init(urls: URLs, display_name: String) {
                self.urls = urls
                self.display_name = display_name
            }
        }

        public init(item_photo: String? = nil, uploaded_images: [UploadedImage]? = nil) {
            self.item_photo = item_photo
            self.uploaded_images = uploaded_images
        }
    }

    /// Further details, present while the result is authentic.
    public struct MoreDetails: Codable, Sendable {
        public var certificate: Certificate

        public struct Certificate: Codable, Sendable {
            public var preview: String?
            public var site: String?

            public init(preview: String? = nil, site: String? = nil) {
                self.preview = preview
                self.site = site
            }
        }

        public init(certificate: Certificate) {
            self.certificate = certificate
        }
    }

    /// The item's fields as the app sent them, each with a display name. Fields without a value are left out.
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
            display_name: String, editable: Bool, required: Bool, is_identifier: Bool, content: String? = nil,
            region_id: String? = nil
        ) {
            self.display_name = display_name
            self.editable = editable
            self.required = required
            self.is_identifier = is_identifier
            self.content = content
            self.region_id = region_id
        }
    }

    /// The user who submitted the item.
    public struct User: Codable, Sendable {
        /// `OrganizationName-unique_user_id`.
        public var username: String

        public init(username: String) {
            self.username = username
        }
    }

    public struct Price: Codable, Sendable {
        /// Whether the app shows the pricing widget. The value is always false.
        public var show_pricing_widget: Bool

        public init(show_pricing_widget: Bool) {
            self.show_pricing_widget = show_pricing_widget
        }
    }

    public init(
        entrupy_id: String, properties: Properties, status: Status, timestamp: Timestamp, event_times: EventTimes,
        events: [TimelineEvent]? = nil, images: Images? = nil, more_details: MoreDetails? = nil,
        text_fields: [TextField]? = nil, user: User? = nil, price: Price? = nil, batch_request: BatchRequest? = nil
    ) {
        self.authentication_id = entrupy_id
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
}

/// The open retake, present while support waits for new pictures [P].
public struct BatchRequest: Codable, Sendable {
    /// The state of the retake; always `batch_open`.
    public var customer_state: String

    public init(customer_state: String) {
        self.customer_state = customer_state
    }
}

/// The flag, with which a user disputes the result.
public struct ResultFlag: Codable, Sendable {
    /// The flag's id: none, flagged or resolved. The control API can set others.
    public var id: FlagID
    /// Whether the user may set a flag. Only the result and the organization's switch decide that.
    public var is_flaggable: Bool

    public init(id: FlagID, is_flaggable: Bool) {
        self.id = id
        self.is_flaggable = is_flaggable
    }
}
