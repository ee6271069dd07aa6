// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// The environment of a session [S]. `mock` needs no code of an organization.
public enum WorkflowEnvironment: String, Codable, Sendable, CaseIterable {
    case mock
    case sandbox
    case production
}

/// A component of a workflow [S].
public enum Component: String, Codable, Sendable, CaseIterable {
    case document
    case biometrics
}

/// The types of documents [S].
public enum IdentityDocument: String, Codable, Sendable, CaseIterable {
    case driversLicense
    case dutchDriversLicense
    case frenchIdCard
    case idCard
    case paperId
    case passport
    case proofOfAddress
    case residencePermit
    case tinReferenceDocument
}

extension WorkflowSessionInfo {
    /// The state of a session.
    public enum Status: Codable, Sendable, Hashable {
        case active
        case expired
        case cleared
        /// There is no such session. The members after the status are absent.
        case unknown
        /// A state that this version does not know.
        case other(String)
    }
}

extension WorkflowSessionInfo.Status: RawRepresentable, CaseIterable {
    /// The documented ones, in the order of the description.
    public static let allCases: [WorkflowSessionInfo.Status] = [.active, .expired, .cleared, .unknown]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
    }

    public var rawValue: String {
        switch self {
        case .active: "active"
        case .expired: "expired"
        case .cleared: "cleared"
        case .unknown: "unknown"
        case .other(let value): value
        }
    }
}

extension ComponentState {
    /// The state of a component.
    public enum Status: Codable, Sendable, Hashable {
        case started
        case finished
        case failed
        /// A state that this version does not know.
        case other(String)
    }
}

extension ComponentState.Status: RawRepresentable, CaseIterable {
    /// The documented ones, in the order of the description.
    public static let allCases: [ComponentState.Status] = [.started, .finished, .failed]

    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue.isIdentical(to: rawValue) } ?? .other(rawValue)
    }

    public var rawValue: String {
        switch self {
        case .started: "started"
        case .finished: "finished"
        case .failed: "failed"
        case .other(let value): value
        }
    }
}

/// The judgement of a picture [D feedback].
public enum ImageQuality: String, Codable, Sendable, CaseIterable {
    case ok
    case blurry
    case glare
    case cutOff = "cut_off"
}
