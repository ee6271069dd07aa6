/// `POST /sdk/captures` [D shape].
public struct StartCaptureRequest: Codable, Sendable {
    /// Production where absent.
    public var config_type: ConfigType?
    /// The item as the app described it: the fields the SDK documents and any others, which are kept and echoed.
    public var item: [String: JSONValue]

    public init(config_type: ConfigType? = nil, item: [String: JSONValue]) {
        self.config_type = config_type
        self.item = item
    }
}

/// A capture and how far it has come. Times are epoch seconds.
public struct Capture: Codable, Sendable {
    public enum Status: String, Codable, Sendable, CaseIterable {
        case started, submitted, cancelled, timed_out
    }

    public var capture_id: String
    public var status: Status
    public var config_type: ConfigType
    /// The item's metadata as it was sent.
    public var item: [String: JSONValue]
    public var steps: [CaptureStep]
    public var started_at: Double
    /// Two hours after the start [S]; at exactly this time the capture is timed out.
    public var expires_at: Double
    @Nullable public var submitted_at: Double?
    @Nullable public var entrupy_id: String?

    public init(
        capture_id: String, status: Status, config_type: ConfigType, item: [String: JSONValue], steps: [CaptureStep],
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
    public var region_id: String
    public var display_name: String
    public var required: Bool
    public var guidance: String
    public var uploaded: Bool

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
    public var items: [Capture]
    /// How many are on this page.
    public var item_count: Int
    /// Null on the last page.
    @Nullable public var next_cursor: String?

    public init(items: [Capture], next_cursor: String?) {
        self.items = items
        item_count = items.count
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// The answer to an upload.
public struct ImageReceipt: Codable, Sendable {
    public var region_id: String
    public var bytes: Int
    /// Lower-case hex.
    public var sha256: String

    public init(region_id: String, bytes: Int, sha256: String) {
        self.region_id = region_id
        self.bytes = bytes
        self.sha256 = sha256
    }
}
