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
