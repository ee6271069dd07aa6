// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `POST /sdk/captures` [D sdk-shapes].
public struct StartCaptureRequest: Codable, Sendable {
    /// The workflow. The default is production [D default-workflow].
    public var config_type: ConfigType?
    /// The service. A registered item becomes Registered, without a certificate; one that is compared with a registered item
    /// becomes Match, without one No Match, unless settings, a rule or a magic id decide otherwise. Neither can be flagged.
    /// `item.capture_workflow` asks for a fingerprint too; both together must agree [D fingerprints].
    public var activity: Activity?
    /// For `fingerprint_compare`, and only there, the id of an item that the organization registered, with the result
    /// Registered or Authentic; 409 while it is under review [D fingerprints].
    public var fingerprint_parent: String?
    /// The item as the app describes it. Other members are stored and echoed. `brand` is required unless `capture_workflow` is
    /// given. Without `product_category`, the item type chooses the category: the brand's first that has it, else the
    /// catalogue's. An item type that the catalogue or the brand lacks is accepted, and the item becomes Not Supported. Without
    /// both, the item is of sneakers, and `style_name` is required. Apparel requires `item_type`. A category that the catalogue
    /// lacks gives way to brand and item type if these match. With `capture_workflow` less is required: for
    /// `fingerprint_register` a known `item_type`, for `fingerprint_compare` nothing. A comparison's registered item is
    /// `entrupy_id`, else `fingerprint_parent`, else the organization's latest registered item with the `customer_item_id`;
    /// with none it ends as No Match. `capture_workflow` and its `entrupy_id` are not echoed.
    public var item: JSONObject

    public init(
        config_type: ConfigType? = nil, item: JSONObject, activity: Activity? = nil, fingerprint_parent: String? = nil
    ) {
        self.config_type = config_type
        self.activity = activity
        self.fingerprint_parent = fingerprint_parent
        self.item = item
    }
}

/// A capture and its progress. Times are epoch seconds.
public struct Capture: Codable, Sendable {
    public var capture_id: String
    /// The current state.
    public var status: Status
    /// The workflow that the capture was started with.
    public var config_type: ConfigType
    /// The item as it was sent.
    public var item: JSONObject
    /// The requested pictures, in order.
    public var steps: [CaptureStep]
    /// The time of the start, in epoch seconds.
    public var started_at: Double
    /// The time at which the capture times out, in epoch seconds: by default two hours after the start. At exactly this time it
    /// has timed out [S].
    public var expires_at: Double
    /// The time of the submission, or null.
    @Nullable public var submitted_at: Double?
    /// The id of the item that the submission created, or null.
    @Nullable public var entrupy_id: String?

    public init(
        capture_id: String, status: Status, config_type: ConfigType, item: JSONObject, steps: [CaptureStep],
        started_at: Double, expires_at: Double, submitted_at: Double?, entrupy_id: String?
    ) {
        self.capture_id = capture_id
        self.status = status
        self.config_type = config_type
        self.item = item
        self.steps = steps
        self.started_at = started_at
        self.expires_at = expires_at
        _submitted_at = Nullable(wrappedValue: submitted_at)
        _entrupy_id = Nullable(wrappedValue: entrupy_id)
    }
}

/// `GET /sdk/captures`.
public struct CapturePage: Codable, Sendable {
    /// The captures, newest first.
    public var items: [Capture]
    /// The number of captures on this page.
    public var item_count: Int
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(items: [Capture], next_cursor: String?) {
        self.items = items
        self.item_count = items.count
        _next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// The answer to an upload.
public struct ImageReceipt: Codable, Sendable {
    /// The region that the picture was uploaded for.
    public var region_id: String
    /// The number of bytes received.
    public var bytes: Int
    /// The SHA-256 of the picture, in lower-case hex.
    public var sha256: String

    public init(region_id: String, bytes: Int, sha256: String) {
        self.region_id = region_id
        self.bytes = bytes
        self.sha256 = sha256
    }
}
