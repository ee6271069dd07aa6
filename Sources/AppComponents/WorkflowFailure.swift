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

    var stage: Stage {
        switch self {
        case .configurationNotSupported, .invalidSession, .invalidValidationCode, .sessionExpired: .session
        case .invalidWorkflowStatus, .documentTypeNotSupported, .issuingCountryNotSupported, .decodingError,
            .invalidFont, .parseError, .incorrectConfiguration:
            .start
        case .canceled, .clientRejected, .documentExpired, .documentTypeInvalid, .documentTypeMismatch,
            .nationalityNotSupported, .noDocumentDetected, .personNotAdult, .unexpected:
            .finish
        }
    }

    /// The name of the error in Fourthline's documentation; `nil` if only plugins have it.
    var type: String? {
        switch self {
        case .canceled, .clientRejected, .configurationNotSupported, .invalidSession, .invalidWorkflowStatus,
            .unexpected:
            rawValue
        case .invalidValidationCode, .sessionExpired: "InvalidSession"
        case .documentExpired, .documentTypeInvalid, .documentTypeMismatch, .documentTypeNotSupported,
            .issuingCountryNotSupported, .nationalityNotSupported, .noDocumentDetected, .personNotAdult:
            "ModuleError"
        case .decodingError, .invalidFont, .parseError, .incorrectConfiguration: nil
        }
    }

    /// The value that comes with the error in Fourthline's documentation; `nil` if it has none.
    var code: String? {
        switch self {
        case .invalidValidationCode, .sessionExpired: rawValue
        default: type == "ModuleError" ? "IdentityVerification.\(rawValue)" : nil
        }
    }

    /// Whether it is about an identity document, so that the Biometrics Component does not have it.
    var isOfDocuments: Bool { type == "ModuleError" }

    /// The error's number in plugins [S].
    package var pluginCode: Int {
        switch self {
        case .decodingError: 800
        case .invalidFont: 802
        case .canceled: 803
        case .parseError: 830
        case .incorrectConfiguration: 850
        case .unexpected: 870
        case .clientRejected: 1000
        case .invalidSession, .invalidValidationCode, .sessionExpired: 1001
        case .configurationNotSupported: 1003
        case .invalidWorkflowStatus: 1004
        default: 1002
        }
    }

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

    private var kind: PlatformError.Kind {
        switch self {
        case .canceled: .canceled
        case .clientRejected: .clientRejected
        case .configurationNotSupported: .configurationNotSupported
        case .invalidSession, .invalidValidationCode, .sessionExpired: .invalidSession
        case .invalidWorkflowStatus: .invalidWorkflowStatus
        case .unexpected: .unexpected
        case .decodingError, .invalidFont, .parseError, .incorrectConfiguration: .invalid
        default: .moduleError
        }
    }

    /// One sentence for the error where no rule says more.
    private var message: String {
        switch self {
        case .canceled: "the client canceled the flow"
        case .clientRejected: "the client was rejected; no new workflow can be created for this client"
        case .configurationNotSupported: "the workflow of this validation code is not supported"
        case .invalidSession: "the workflow session is not valid; create a new validation code"
        case .invalidValidationCode: "the validation code is not valid; create a new one"
        case .sessionExpired: "the workflow session has expired; create a new validation code"
        case .invalidWorkflowStatus: "the workflow's modules may have been completed, or have ended with an error"
        case .documentExpired: "the client's document has expired"
        case .documentTypeInvalid: "the document's machine-readable zone is that of another type of document"
        case .documentTypeMismatch: "the document is not of the type that was selected"
        case .documentTypeNotSupported: "the workflow does not support this type of document"
        case .issuingCountryNotSupported: "the workflow does not support the country that issued the document"
        case .nationalityNotSupported: "the workflow does not support the client's nationality"
        case .noDocumentDetected: "no document was detected in the pictures"
        case .personNotAdult: "the client is underage"
        case .unexpected: "an unexpected error occurred"
        case .decodingError: "the input cannot be decoded"
        case .invalidFont: "a font of the customization was not found"
        case .parseError: "the input is not JSON"
        case .incorrectConfiguration: "the workflow was not configured correctly"
        }
    }

    /// The error for a caller.
    ///
    /// - Parameters:
    ///   - message: one sentence; `nil` for the general one.
    ///   - messageCode: what the vendor's support asks for, of ``unexpected``.
    ///   - because: the fact behind it, for the journal.
    package func error(
        _ message: String? = nil, _ details: [ErrorDetail] = [], messageCode: String? = nil, because: String? = nil
    ) -> PlatformError {
        PlatformError(
            kind, message ?? self.message, details,
            payload: .fact(WorkflowFact(failure: self, messageCode: messageCode)), because: because)
    }
}

/// The name of an error in Fourthline's documentation. The answer has it beside the envelope [D workflow-errors].
package struct WorkflowFact: PlatformFact {
    package let failure: WorkflowFailure
    let messageCode: String?

    package var edge: EdgeName? { EdgeName(AppComponentsPlatform.errors, failure.rawValue) }

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
