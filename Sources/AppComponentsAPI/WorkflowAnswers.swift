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

extension WorkflowSessionInfo {
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
}

extension ComponentState {
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
