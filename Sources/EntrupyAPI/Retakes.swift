import SimulationAPI

/// `GET /sdk/retakes`: the items whose pictures the platform's support wants taken again, as the SDK decodes a search [P].
public struct RetakePage: Codable, Sendable {
    /// The items with an open retake, newest request first.
    public var items: [ItemToRetake]
    /// The number of items.
    public var item_count: Int
    /// Always empty: all items are on one page.
    public var next_cursor: [String]

    public init(items: [ItemToRetake]) {
        self.items = items
        item_count = items.count
        next_cursor = []
    }
}

/// An item with an open retake: the item's members, and `retake` beside them.
public struct ItemToRetake: Codable, Sendable {
    public var item: EntrupyCaptureResult
    public var retake: Retake

    public init(item: EntrupyCaptureResult, retake: Retake) {
        self.item = item
        self.retake = retake
    }

    private enum Key: String, CodingKey {
        case retake
    }

    public init(from decoder: any Decoder) throws {
        item = try EntrupyCaptureResult(from: decoder)
        retake = try decoder.container(keyedBy: Key.self).decode(Retake.self, forKey: .retake)
    }

    public func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(retake, forKey: .retake)
    }
}

/// A request to take pictures again [D retakes] [D sdk-shapes].
public struct Retake: Codable, Sendable {
    public var retake_id: String
    /// The regions, in the order of the workflow.
    public var regions: [Region]
    /// The message from support, or null.
    @Nullable public var message: String?
    /// The time of the request, in epoch seconds.
    public var requested_at: Double

    public init(retake_id: String, regions: [Region], message: String?, requested_at: Double) {
        self.retake_id = retake_id
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
    /// The ids of the regions, at least one, of the item's workflow; `nil` for all that it requires.
    public var regions: [String]?
    /// The message from support.
    public var message: String?

    public init(regions: [String]? = nil, message: String? = nil) {
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
