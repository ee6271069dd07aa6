/// `GET /sdk/retakes`: what the platform's support wants photographed again [P].
public struct RetakeList: Codable, Sendable {
    /// Those that are not answered, oldest first.
    public var retakes: [Retake]

    /// Makes one from its members.
    public init(retakes: [Retake]) {
        self.retakes = retakes
    }
}

/// Pictures that are to be taken again [D shape].
public struct Retake: Codable, Sendable {
    /// The retake's id.
    public var retake_id: String
    /// The item it is about.
    public var entrupy_id: String
    /// The regions, in the order of the workflow.
    public var regions: [Region]
    /// What support says about it, or null.
    @Nullable public var message: String?
    /// Epoch seconds.
    public var requested_at: Double

    /// Makes one from its members.
    public init(retake_id: String, entrupy_id: String, regions: [Region], message: String?, requested_at: Double) {
        self.retake_id = retake_id
        self.entrupy_id = entrupy_id
        self.regions = regions
        self._message = Nullable(wrappedValue: message)
        self.requested_at = requested_at
    }

    /// One picture.
    public struct Region: Codable, Sendable {
        /// What a picture of it is uploaded under.
        public var region_id: String
        /// The region's name, in the caller's language.
        public var display_name: String
        /// What to show, in the caller's language.
        public var guidance: String

        /// Makes one from its members.
        public init(region_id: String, display_name: String, guidance: String) {
            self.region_id = region_id
            self.display_name = display_name
            self.guidance = guidance
        }
    }
}

/// What an item that waits for a retake shows the SDK [P].
public struct BatchRequest: Codable, Sendable {
    /// `batch_open`.
    public var customer_state: String

    /// Makes one from its members.
    public init(customer_state: String) {
        self.customer_state = customer_state
    }
}

/// `POST /_sim/authentications/{entrupy_id}/retake` [D].
public struct RetakeRequest: Codable, Sendable {
    /// The ids of regions of the item's workflow, at least one.
    public var regions: [String]
    /// What support says about it.
    public var message: String?

    /// Makes one from its members.
    public init(regions: [String], message: String? = nil) {
        self.regions = regions
        self.message = message
    }
}

/// `POST /_sim/authentications/{entrupy_id}/support-message` [D].
public struct SupportMessageRequest: Codable, Sendable {
    /// The question.
    public var message: String
    /// What can be answered; nil: anything.
    public var options: [String]?

    /// Makes one from its members.
    public init(message: String, options: [String]? = nil) {
        self.message = message
        self.options = options
    }
}
