/// The errors of sessions and components [S].
public enum WorkflowError: Error, Sendable, Equatable {
    /// The client canceled the flow.
    case canceled
    /// The client was rejected; no workflow can be created for this client any more.
    case clientRejected
    /// The workflow of the validation code is not supported.
    case configurationNotSupported
    case invalidSession(InvalidSession)
    /// The component has ended already.
    case invalidWorkflowStatus
    /// An error in one of the workflow's modules.
    case moduleError(IdentityVerification)
    /// An unexpected error, with its message code if there is one, and what happened.
    case unexpected(messageCode: String?, String)

    /// The reasons for which a session is not valid [S].
    public enum InvalidSession: String, Sendable, CaseIterable {
        case invalidValidationCode = "InvalidValidationCode"
        case sessionExpired = "SessionExpired"
        /// The session was cleared, or never existed.
        case notAvailable = "InvalidSession"
    }

    /// The errors of the identity verification module [S].
    public enum IdentityVerification: String, Sendable, CaseIterable {
        case documentExpired = "DocumentExpired"
        case documentTypeInvalid = "DocumentTypeInvalid"
        case documentTypeMismatch = "DocumentTypeMismatch"
        case documentTypeNotSupported = "DocumentTypeNotSupported"
        case issuingCountryNotSupported = "IssuingCountryNotSupported"
        case nationalityNotSupported = "NationalityNotSupported"
        case noDocumentDetected = "NoDocumentDetected"
        case personNotAdult = "PersonNotAdult"
    }
}

extension WorkflowError {
    /// An unexpected error without a message code.
    static func problem(_ text: String) -> Self { .unexpected(messageCode: nil, text) }

    /// The error of an answer of the simulated platform.
    init(_ answer: WorkflowErrorBody, status: Int) {
        let code = answer.workflow_error?.code
        switch answer.workflow_error?.type {
        case "Canceled": self = .canceled
        case "ClientRejected": self = .clientRejected
        case "ConfigurationNotSupported": self = .configurationNotSupported
        case "InvalidSession": self = .invalidSession(code.flatMap(InvalidSession.init(rawValue:)) ?? .notAvailable)
        case "InvalidWorkflowStatus": self = .invalidWorkflowStatus
        case "ModuleError":
            let name = code?.split(separator: ".").last.map(String.init)
            if let module = name.flatMap(IdentityVerification.init(rawValue:)) {
                self = .moduleError(module)
            } else {
                self = .problem(answer.error)
            }
        default:
            self = .unexpected(messageCode: answer.workflow_error?.message_code, "\(answer.error) (status \(status))")
        }
    }
}

/// The body of an error answer, as far as it is read here.
struct WorkflowErrorBody: Decodable {
    let error: String
    let workflow_error: Workflow?

    struct Workflow: Decodable {
        let type: String
        let code: String?
        let message_code: String?
    }
}
