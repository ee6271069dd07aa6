import AppComponentsAPI
import Simulation
import SimulationAPI

/// The errors of Fourthline's documentation, by the names that outcome rules, faults and magic document numbers take
/// [S].
package enum WorkflowFailure: String, CaseIterable, Sendable {
    case canceled = "Canceled"
    case clientRejected = "ClientRejected"
    case configurationNotSupported = "ConfigurationNotSupported"
    /// An unknown session, or one that was cleared.
    case invalidSession = "InvalidSession"
    case invalidValidationCode = "InvalidValidationCode"
    case sessionExpired = "SessionExpired"
    case invalidWorkflowStatus = "InvalidWorkflowStatus"
    case documentExpired = "DocumentExpired"
    case documentTypeInvalid = "DocumentTypeInvalid"
    case documentTypeMismatch = "DocumentTypeMismatch"
    case documentTypeNotSupported = "DocumentTypeNotSupported"
    case issuingCountryNotSupported = "IssuingCountryNotSupported"
    case nationalityNotSupported = "NationalityNotSupported"
    case noDocumentDetected = "NoDocumentDetected"
    case personNotAdult = "PersonNotAdult"
    case unexpected = "Unexpected"
    // Errors that plugins alone have. Elsewhere they are a plain 400.
    case decodingError = "DecodingError"
    case invalidFont = "InvalidFont"
    case parseError = "JSONParseError"
    case incorrectConfiguration = "IncorrectConfiguration"

    /// The step at which a rule can inject the error.
    enum Stage: Sendable {
        case session, start, finish
    }

    /// The stage, the kind, the number in plugins [S], and one sentence for the error where no rule says more.
    private var facts: (stage: Stage, kind: PlatformError.Kind, pluginCode: Int, message: String) {
        switch self {
        case .canceled: (.finish, .canceled, 803, "the client canceled the flow")
        case .clientRejected:
            (.finish, .clientRejected, 1000, "the client was rejected; no new workflow can be created for this client")
        case .configurationNotSupported:
            (.session, .configurationNotSupported, 1003, "the workflow of this validation code is not supported")
        case .invalidSession:
            (.session, .invalidSession, 1001, "the workflow session is not valid; create a new validation code")
        case .invalidValidationCode:
            (.session, .invalidSession, 1001, "the validation code is not valid; create a new one")
        case .sessionExpired:
            (.session, .invalidSession, 1001, "the workflow session has expired; create a new validation code")
        case .invalidWorkflowStatus:
            (
                .start, .invalidWorkflowStatus, 1004,
                "the workflow's modules may have been completed, or have ended with an error"
            )
        case .documentExpired: (.finish, .moduleError, 1002, "the client's document has expired")
        case .documentTypeInvalid:
            (.finish, .moduleError, 1002, "the document's machine-readable zone is that of another type of document")
        case .documentTypeMismatch:
            (.finish, .moduleError, 1002, "the document is not of the type that was selected")
        case .documentTypeNotSupported:
            (.start, .moduleError, 1002, "the workflow does not support this type of document")
        case .issuingCountryNotSupported:
            (.start, .moduleError, 1002, "the workflow does not support the country that issued the document")
        case .nationalityNotSupported:
            (.finish, .moduleError, 1002, "the workflow does not support the client's nationality")
        case .noDocumentDetected: (.finish, .moduleError, 1002, "no document was detected in the pictures")
        case .personNotAdult: (.finish, .moduleError, 1002, "the client is underage")
        case .unexpected: (.finish, .unexpected, 870, "an unexpected error occurred")
        case .decodingError: (.start, .invalid, 800, "the input cannot be decoded")
        case .invalidFont: (.start, .invalid, 802, "a font of the customization was not found")
        case .parseError: (.start, .invalid, 830, "the input is not JSON")
        case .incorrectConfiguration: (.start, .invalid, 850, "the workflow was not configured correctly")
        }
    }

    var stage: Stage { facts.stage }
    /// The error's number in plugins [S].
    package var pluginCode: Int { facts.pluginCode }

    /// The name of the error in Fourthline's documentation; `nil` if only plugins have it.
    var type: String? {
        switch facts.kind {
        case .invalid: nil
        case .invalidSession: "InvalidSession"
        case .moduleError: "ModuleError"
        default: rawValue
        }
    }

    /// The value that comes with the error in Fourthline's documentation; `nil` if it has none.
    var code: String? {
        switch self {
        case .invalidValidationCode, .sessionExpired: rawValue
        default: isOfDocuments ? "IdentityVerification.\(rawValue)" : nil
        }
    }

    /// Whether it is about an identity document, so that the Biometrics Component does not have it.
    var isOfDocuments: Bool { facts.kind == .moduleError }

    /// The beginning of a plugin's description [S].
    package var pluginTitle: String {
        switch self {
        case .decodingError: "Decoding Error"
        case .invalidFont: "Invalid or missing font"
        case .canceled: "User canceled"
        case .parseError: "JSON parse error"
        case .incorrectConfiguration: "Incorrect Configuration"
        default: code ?? rawValue
        }
    }

    /// The error for a caller.
    ///
    /// - Parameters:
    ///   - message: one sentence; `nil` for the general one.
    ///   - messageCode: what the vendor's support asks for, of ``unexpected``.
    ///   - because: the fact behind it, for the journal.
    package func error(
        _ message: String? = nil, _ details: [ErrorDetail] = [], messageCode: String? = nil, because: Because? = nil
    ) -> PlatformError {
        PlatformError(
            facts.kind, message ?? facts.message, details,
            payload: .fact(WorkflowFact(failure: self, messageCode: messageCode)), because: because)
    }
}

/// The name of an error in Fourthline's documentation. The answer has it beside the envelope [D workflow-errors].
package struct WorkflowFact: PlatformFact {
    package let failure: WorkflowFailure
    let messageCode: String?

    package var edge: Coverage.Name? { Coverage.Name(ComponentEdges.errors, failure.rawValue) }

    package func add(to envelope: inout ErrorEnvelope) {
        guard let type = failure.type else { return }
        envelope.workflow_error = WorkflowErrorInfo(type: type, code: failure.code, message_code: messageCode)
    }
}

extension PlatformError.Kind {
    package static let canceled = Self("canceled")
    package static let clientRejected = Self("client_rejected")
    package static let configurationNotSupported = Self("configuration_not_supported")
    package static let invalidSession = Self("invalid_session")
    package static let invalidWorkflowStatus = Self("invalid_workflow_status")
    package static let moduleError = Self("module_error")
    package static let unexpected = Self("unexpected")
}
