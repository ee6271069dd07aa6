import SimulationAPI

/// `POST /sdk/captures` [D sdk-shapes].
public struct StartCaptureRequest: Codable, Sendable {
    /// The workflow. The default is production [D default-workflow].
    public var config_type: ConfigType?
    /// The item as the app describes it. Fields that the SDK does not document are stored and echoed too.
    public var item: JSONObject
    /// The service that is wanted; `nil` for an authentication [D fingerprints].
    public var activity: Activity?
    /// For a comparison, the id of an item that the organization registered [D fingerprints].
    public var fingerprint_parent: String?

    public init(
        config_type: ConfigType? = nil, item: JSONObject, activity: Activity? = nil, fingerprint_parent: String? = nil
    ) {
        self.config_type = config_type
        self.item = item
        self.activity = activity
        self.fingerprint_parent = fingerprint_parent
    }
}

/// A capture and its progress. Times are epoch seconds.
public struct Capture: Codable, Sendable {
    /// The state of a capture. Every state but `started` is final. Its JSON is the state as text.
    public enum Status: Codable, Sendable, Hashable {
        case started, submitted, cancelled, timedOut
        /// A state that this version does not know.
        case other(String)
    }

    public var capture_id: String
    /// The current state.
    public var status: Status
    /// The workflow that the capture was started with.
    public var config_type: ConfigType
    /// The item's metadata as the app sent it.
    public var item: JSONObject
    /// The requested pictures, in order.
    public var steps: [CaptureStep]
    /// The time of the start, in epoch seconds.
    public var started_at: Double
    /// The time at which the capture times out, in epoch seconds: by default two hours after the start [S]. At exactly this
    /// time it has timed out.
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
        self._submitted_at = Nullable(wrappedValue: submitted_at)
        self._entrupy_id = Nullable(wrappedValue: entrupy_id)
    }
}

/// One picture of a capture.
public struct CaptureStep: Codable, Sendable {
    /// The region's id, a part of the upload's path.
    public var region_id: String
    /// The region's name, in the caller's language.
    public var display_name: String
    /// Whether the capture cannot be submitted without it.
    public var required: Bool
    /// The instruction for the user, in the caller's language.
    public var guidance: String
    /// Whether its picture has been uploaded.
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
    /// The captures, newest first.
    public var items: [Capture]
    /// The number of captures on this page.
    public var item_count: Int
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(items: [Capture], next_cursor: String?) {
        self.items = items
        item_count = items.count
        self._next_cursor = Nullable(wrappedValue: next_cursor)
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

extension Capture.Status: RawRepresentable, CaseIterable {
    /// The states that this version knows.
    public static let allCases: [Capture.Status] = [.started, .submitted, .cancelled, .timedOut]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
    }

    public var rawValue: String {
        switch self {
        case .started: "started"
        case .submitted: "submitted"
        case .cancelled: "cancelled"
        case .timedOut: "timed_out"
        case .other(let state): state
        }
    }
}
