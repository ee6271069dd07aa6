import SimulationAPI

/// The environment of a session [S]. `mock` needs no code of an organization.
public enum WorkflowEnvironment: String, CaseIterable, Codable, Sendable {
    case mock, sandbox, production
}

/// A component of a workflow [S].
public enum Component: String, CaseIterable, Codable, Sendable {
    case document, biometrics
}

/// The types of documents [S].
public enum IdentityDocument: String, CaseIterable, Codable, Sendable {
    case driversLicense, dutchDriversLicense, frenchIdCard, idCard, paperId, passport, proofOfAddress, residencePermit
    case tinReferenceDocument

    /// Whether it proves who a person is. Only such documents have an issuing country [S].
    public var isPrimary: Bool { self != .proofOfAddress && self != .tinReferenceDocument }
}

/// A session of a workflow.
public struct WorkflowSessionInfo: Codable, Sendable {
    /// The state of a session. Later versions may have others.
    public struct Status: RawRepresentable, CaseIterable, Codable, Sendable, Hashable {
        public let rawValue: String

        public static let active = Self(rawValue: "active")
        public static let expired = Self(rawValue: "expired")
        public static let cleared = Self(rawValue: "cleared")
        /// There is no such session. The members after the status are absent.
        public static let unknown = Self(rawValue: "unknown")
        /// The states that this version knows.
        public static let allCases: [Self] = [.active, .expired, .cleared, .unknown]

        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    public var session_id: String
    /// Whether components can be started.
    public var available: Bool
    public var status: Status
    public var networkEnvironment: WorkflowEnvironment?
    public var workflow: Workflow?
    /// The components that were started.
    public var components: [ComponentState]?
    /// In epoch seconds, like ``expires_at``.
    public var started_at: Double?
    public var expires_at: Double?

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

    /// The workflow of a session.
    public struct Workflow: Codable, Sendable {
        public var id: String
        public var name: String
        /// The components that the workflow has.
        public var components: [Component]

        public init(id: String, name: String, components: [Component]) {
            self.id = id
            self.name = name
            self.components = components
        }
    }
}

/// A component that was started in a session.
public struct ComponentState: Codable, Sendable {
    /// The state of a component. Later versions may have others.
    public struct Status: RawRepresentable, CaseIterable, Codable, Sendable, Hashable {
        public let rawValue: String

        public static let started = Self(rawValue: "started")
        public static let finished = Self(rawValue: "finished")
        public static let failed = Self(rawValue: "failed")
        /// The states that this version knows.
        public static let allCases: [Self] = [.started, .finished, .failed]

        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    public var component: Component
    public var status: Status
    public var documentType: String?
    public var issuingCountry: String?
    /// The name of the error that ended it.
    public var error: String?
    /// The pictures that the component wants.
    public var images: [WantedImage]
    /// Whether a video has been uploaded; absent if the workflow wants none.
    public var hasVideo: Bool?
    /// Whether each upload is answered with its quality.
    public var realTimeFeedback: Bool

    public init(
        component: Component, status: Status, documentType: String?, issuingCountry: String?, error: String?,
        images: [WantedImage], hasVideo: Bool?, realTimeFeedback: Bool
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

/// A picture that a component wants.
public struct WantedImage: Codable, Sendable {
    /// The side of the document, or `selfie`.
    public var fileSide: String
    public var isAngled: Bool
    /// Whether the picture is there, and good enough if there is feedback.
    public var isUploaded: Bool

    public init(fileSide: String, isAngled: Bool, isUploaded: Bool) {
        self.fileSide = fileSide
        self.isAngled = isAngled
        self.isUploaded = isUploaded
    }
}

/// The judgement of a picture [D feedback].
public enum ImageQuality: String, CaseIterable, Codable, Sendable {
    case ok, blurry, glare
    case cutOff = "cut_off"
}

/// `GET /_sim/components/sessions`: newest first.
public struct WorkflowSessionList: Codable, Sendable {
    public var sessions: [WorkflowSessionInfo]
    /// The cursor of the next page; null on the last one.
    @Nullable public var next_cursor: String?

    public init(sessions: [WorkflowSessionInfo], next_cursor: String?) {
        self.sessions = sessions
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}
