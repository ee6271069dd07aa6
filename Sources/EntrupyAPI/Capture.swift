import SimulationAPI

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

extension Capture {
    /// The state of a capture. Every state but `started` is final. Its JSON is the state as text.
    public enum Status: Codable, Sendable, Hashable {
        case started, submitted, cancelled, timedOut
        /// A state that this version does not know.
        case other(String)
    }
}
