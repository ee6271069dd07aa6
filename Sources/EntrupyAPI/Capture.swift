/// `POST /sdk/captures` [D shape].
public struct StartCaptureRequest: Codable, Sendable {
    /// Production where absent.
    public var config_type: ConfigType?
    /// The item as the app described it: the fields the SDK documents and any others, which are kept and echoed.
    public var item: JSONObject

    /// Makes one from its members.
    public init(config_type: ConfigType? = nil, item: JSONObject) {
        self.config_type = config_type
        self.item = item
    }
}

/// A capture and how far it has come. Times are epoch seconds.
public struct Capture: Codable, Sendable {
    /// How far a capture has come; all but `started` are final.
    public enum Status: String, Codable, Sendable, CaseIterable {
        case started, submitted, cancelled, timed_out
    }

    /// The capture's id.
    public var capture_id: String
    /// How far it has come.
    public var status: Status
    /// The workflow it was started with.
    public var config_type: ConfigType
    /// The item's metadata as it was sent.
    public var item: JSONObject
    /// The pictures that are asked for, in order.
    public var steps: [CaptureStep]
    /// When it was started.
    public var started_at: Double
    /// Two hours after the start [S]; at exactly this time the capture is timed out.
    public var expires_at: Double
    /// When it was submitted, or null.
    @Nullable public var submitted_at: Double?
    /// The item it became, or null.
    @Nullable public var entrupy_id: String?

    /// Makes one from its members.
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
        self._submitted_at = Nullable(wrappedValue: submitted_at)
        self._entrupy_id = Nullable(wrappedValue: entrupy_id)
    }
}

/// One picture of a capture.
public struct CaptureStep: Codable, Sendable {
    /// What a picture of it is uploaded under.
    public var region_id: String
    /// The region's name, in the caller's language.
    public var display_name: String
    /// Whether the capture can be submitted without it.
    public var required: Bool
    /// What the user is asked to do.
    public var guidance: String
    /// Whether there is a picture yet.
    public var uploaded: Bool

    /// Makes one from its members.
    public init(_ step: ConfiguredStep, uploaded: Bool) {
        region_id = step.region_id
        display_name = step.display_name
        required = step.required
        guidance = step.guidance
        self.uploaded = uploaded
    }
}

/// `GET /sdk/captures`.
public struct CapturePage: Codable, Sendable {
    /// Newest first.
    public var items: [Capture]
    /// How many are on this page.
    public var item_count: Int
    /// Null on the last page.
    @Nullable public var next_cursor: String?

    /// Makes one from its members.
    public init(items: [Capture], next_cursor: String?) {
        self.items = items
        item_count = items.count
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// The answer to an upload.
public struct ImageReceipt: Codable, Sendable {
    /// The region it was uploaded for.
    public var region_id: String
    /// How many bytes arrived.
    public var bytes: Int
    /// Lower-case hex.
    public var sha256: String

    /// Makes one from its members.
    public init(region_id: String, bytes: Int, sha256: String) {
        self.region_id = region_id
        self.bytes = bytes
        self.sha256 = sha256
    }
}
