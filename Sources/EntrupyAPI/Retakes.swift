import SimulationAPI

/// `GET /sdk/retakes`: the pictures that the platform's support wants taken again [P].
public struct RetakeList: Codable, Sendable {
    /// The open retakes, oldest first.
    public var retakes: [Retake]

    public init(retakes: [Retake]) {
        self.retakes = retakes
    }
}

/// A request to take pictures again [D retakes] [D sdk-shapes].
public struct Retake: Codable, Sendable {
    public var retake_id: String
    /// The id of the retake's item.
    public var entrupy_id: String
    /// The regions, in the order of the workflow.
    public var regions: [Region]
    /// The message from support, or null.
    @Nullable public var message: String?
    /// The time of the request, in epoch seconds.
    public var requested_at: Double

    public init(retake_id: String, entrupy_id: String, regions: [Region], message: String?, requested_at: Double) {
        self.retake_id = retake_id
        self.entrupy_id = entrupy_id
        self.regions = regions
        self._message = Nullable(wrappedValue: message)
        self.requested_at = requested_at
    }

    /// One requested picture.
    public struct Region: Codable, Sendable {
        /// The region's id, a part of the upload's path.
        public var region_id: String
        /// The region's name, in the caller's language.
        public var display_name: String
        /// The instruction for the user, in the caller's language.
        public var guidance: String

        public init(region_id: String, display_name: String, guidance: String) {
            self.region_id = region_id
            self.display_name = display_name
            self.guidance = guidance
        }
    }
}

/// The sign of an open retake in an item that the SDK reads [P].
public struct BatchRequest: Codable, Sendable {
    /// The state of the retake; always `batch_open`.
    public var customer_state: String

    public init(customer_state: String) {
        self.customer_state = customer_state
    }
}

/// `POST /_sim/authentications/{entrupy_id}/retake` [D retakes].
public struct RetakeRequest: Codable, Sendable {
    /// The ids of the regions, at least one. They belong to the item's workflow.
    public var regions: [String]
    /// The message from support.
    public var message: String?

    public init(regions: [String], message: String? = nil) {
        self.regions = regions
        self.message = message
    }
}

/// `POST /_sim/authentications/{entrupy_id}/support-message` [D support-messages].
public struct SupportMessageRequest: Codable, Sendable {
    /// The question.
    public var message: String
    /// The possible answers; `nil` if any answer is possible.
    public var options: [String]?

    public init(message: String, options: [String]? = nil) {
        self.message = message
        self.options = options
    }
}
