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

/// `POST /components/sessions`, `DELETE /components/sessions/{id}`, `GET /_sim/components/sessions`.
public struct WorkflowSessionInfo: Codable, Sendable {
    public var session_id: String
    public var available: Bool
    public var status: Status
    public var networkEnvironment: WorkflowEnvironment?
    public var workflow: Workflow?
    public var components: [ComponentState]?
    public var started_at: Double?
    public var expires_at: Double?

    public struct Workflow: Codable, Sendable {
        public var id: String
        public var name: String
        public var components: [Component]

        public init(id: String, name: String, components: [Component]) {
            self.id = id
            self.name = name
            self.components = components
        }
    }

    public init(
        session_id: String, available: Bool, status: Status, networkEnvironment: WorkflowEnvironment? = nil,
        workflow: Workflow? = nil, components: [ComponentState]? = nil, started_at: Double? = nil,
        expires_at: Double? = nil
    ) {
        self.session_id = session_id
        self.available = available
        self.status = status
        self.networkEnvironment = networkEnvironment
        self.workflow = workflow
        self.components = components
        self.started_at = started_at
        self.expires_at = expires_at
    }
}

/// `POST /components/sessions/{id}/document`, `POST /components/sessions/{id}/biometrics`.
public struct ComponentState: Codable, Sendable {
    public var component: Component
    public var status: Status
    public var documentType: String?
    public var issuingCountry: String?
    /// The name of the error that ended it.
    public var error: String?
    public var images: [WantedImage]
    public var hasVideo: Bool?
    public var realTimeFeedback: Bool

    public init(
        component: Component, status: Status, documentType: String? = nil, issuingCountry: String? = nil,
        error: String? = nil, images: [WantedImage], hasVideo: Bool? = nil, realTimeFeedback: Bool
    ) {
        self.component = component
        self.status = status
        self.documentType = documentType
        self.issuingCountry = issuingCountry
        self.error = error
        self.images = images
        self.hasVideo = hasVideo
        self.realTimeFeedback = realTimeFeedback
    }
}

public struct WantedImage: Codable, Sendable {
    public var fileSide: String
    public var isAngled: Bool
    public var isUploaded: Bool

    public init(fileSide: String, isAngled: Bool, isUploaded: Bool) {
        self.fileSide = fileSide
        self.isAngled = isAngled
        self.isUploaded = isUploaded
    }
}
