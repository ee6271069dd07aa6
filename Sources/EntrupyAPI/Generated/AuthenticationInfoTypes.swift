// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// An item as the control API shows it: its form in every API, and its history [D control-api].
public struct AuthenticationInfo: Codable, Sendable {
    /// The item's id. Every object of the control API has a member with this name.
    public var id: String
    /// The same, under the name that the platform uses.
    public var entrupy_id: String
    /// The name of the item's user.
    public var username: String
    /// The customer's own id of the item, or null.
    @Nullable public var customer_item_id: String?
    /// The id of the item's capture; null if it was made without one.
    @Nullable public var capture_id: String?
    /// The current result.
    public var result: Result
    /// The rule that decided the result, for instance `magic_customer_item_id`.
    public var decided_by: String
    /// The time at which the pending result is due.
    @Nullable public var result_due_at: Double?
    /// The current flag.
    public var flag: FlagStatus
    /// The id of the item's certificate, even if it was withdrawn.
    @Nullable public var certificate_id: String?
    /// The item's pictures, in the order of the workflow.
    public var pictures: [Picture]
    /// The item's entries in the event log, oldest first.
    public var timeline: [TimelineEntry]
    /// The item's metadata as it was sent, including unknown members.
    public var item: JSONValue
    /// The market data that the item was given; null if it follows from the item [D market-edge].
    @Nullable public var market_edge: JSONValue?
    /// The item as the SDK sees it.
    public var sdk: EntrupyCaptureResult
    /// The item as `/v1` shows it for the highest `Api-Version`.
    public var v1: V1Item
    /// The item as `/v2` shows it, with images and catalogue data.
    public var v2: V2Item

    /// The current result.
    public struct Result: Codable, Sendable {
        /// The result's id; `ResultID` lists the documented ones [S, P].
        public var id: ResultID
        /// Whether the review is finished.
        public var final: Bool
        /// The id of an invalid result's reason; null otherwise [P].
        @Nullable public var reason: String?

        public init(id: ResultID, final: Bool, reason: String?) {
            self.id = id
            self.final = final
            _reason = Nullable(wrappedValue: reason)
        }
    }

    /// The item's pictures, in the order of the workflow.
    public struct Picture: Codable, Sendable {
        /// The region's id.
        public var region_id: String
        /// The URL of the picture.
        public var url: String
        /// The size of the file in bytes.
        public var bytes: Int

        public init(region_id: String, url: String, bytes: Int) {
            self.region_id = region_id
            self.url = url
            self.bytes = bytes
        }
    }

    /// The item's entries in the event log, oldest first.
    public struct TimelineEntry: Codable, Sendable {
        /// The time of the event, in epoch seconds.
        public var at: Double
        /// The event's kind, for instance `result.set`.
        public var event: String
        /// The data of the event.
        public var data: JSONValue

        public init(at: Double, event: String, data: JSONValue) {
            self.at = at
            self.event = event
            self.data = data
        }
    }

    public init(
        entrupy_id: String, username: String, customer_item_id: String?, capture_id: String?, result: Result,
        decided_by: String, result_due_at: Double?, flag: FlagStatus, certificate_id: String?, pictures: [Picture],
        timeline: [TimelineEntry], item: JSONValue, market_edge: JSONValue?, sdk: EntrupyCaptureResult, v1: V1Item,
        v2: V2Item
    ) {
        self.id = entrupy_id
        self.entrupy_id = entrupy_id
        self.username = username
        _customer_item_id = Nullable(wrappedValue: customer_item_id)
        _capture_id = Nullable(wrappedValue: capture_id)
        self.result = result
        self.decided_by = decided_by
        _result_due_at = Nullable(wrappedValue: result_due_at)
        self.flag = flag
        _certificate_id = Nullable(wrappedValue: certificate_id)
        self.pictures = pictures
        self.timeline = timeline
        self.item = item
        _market_edge = Nullable(wrappedValue: market_edge)
        self.sdk = sdk
        self.v1 = v1
        self.v2 = v2
    }
}
