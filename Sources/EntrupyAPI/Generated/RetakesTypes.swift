// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// A search result, as the SDK decodes it [P].
public struct RetakePage: Codable, Sendable {
    /// The items with an open retake, newest request first.
    public var items: [ItemToRetake]
    /// The number of items.
    public var item_count: Int
    /// Always empty: all items are on one page.
    public var next_cursor: [String]

    public init(items: [ItemToRetake]) {
        self.items = items
        self.item_count = items.count
        self.next_cursor = []
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

    /// The regions, in the order of the workflow.
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

    public init(retake_id: String, regions: [Region], message: String?, requested_at: Double) {
        self.retake_id = retake_id
        self.regions = regions
        _message = Nullable(wrappedValue: message)
        self.requested_at = requested_at
    }
}

/// `POST /_sim/authentications/{entrupy_id}/retake` [D retakes].
public struct RetakeRequest: Codable, Sendable {
    /// The ids of regions of the item's workflow; absent for all that it requires.
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
    /// The possible answers; absent if any answer is possible.
    public var options: [String]?

    public init(message: String, options: [String]? = nil) {
        self.message = message
        self.options = options
    }
}
