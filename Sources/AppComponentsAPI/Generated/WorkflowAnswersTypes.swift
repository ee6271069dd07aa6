// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// `POST /components/v1/workflows/{workflowId}/validationcode`.
public struct ValidationCode: Codable, Sendable {
    /// The code, for one session.
    public var validationCode: String
    /// The end of the code, in epoch seconds.
    public var expires_at: Double

    public init(validationCode: String, expires_at: Double) {
        self.validationCode = validationCode
        self.expires_at = expires_at
    }
}

/// The answer to an upload.
public struct ComponentUpload: Codable, Sendable {
    /// The side of the document, `selfie` or `video`.
    public var fileSide: String
    public var isAngled: Bool
    public var bytes: Int
    public var sha256: String
    /// The judgement of a picture; absent without real-time feedback.
    public var quality: ImageQuality?
    /// The length of a video in seconds, for instance `4.2`.
    public var duration: String?

    public init(
        fileSide: String, isAngled: Bool, bytes: Int, sha256: String, quality: ImageQuality? = nil,
        duration: String? = nil
    ) {
        self.fileSide = fileSide
        self.isAngled = isAngled
        self.bytes = bytes
        self.sha256 = sha256
        self.quality = quality
        self.duration = duration
    }
}
