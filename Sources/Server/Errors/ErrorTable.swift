import AppComponents
import EntrupyAPI
import HTTPTypes
import Simulation

/// The status, code and SDK error of each kind of error [D error-envelope]. No other place knows a status of an error.
enum ErrorTable {
    struct Row: Sendable {
        let status: HTTPResponse.Status
        let code: String
        /// `nil` if the SDK has no error for it.
        let sdkError: SDKErrorCode?

        fileprivate init(_ status: HTTPResponse.Status, _ code: String, _ sdkError: SDKErrorCode?) {
            self.status = status
            self.code = code
            self.sdkError = sdkError
        }
    }

    /// A row for each kind. The first row with a status is that of the status's general error.
    private static let rows: KeyValuePairs<PlatformError.Kind, Row> = [
        .invalid: Row(.badRequest, "bad_request", .ErrorCodeBadRequest),
        .missingRegions: Row(.badRequest, "bad_request", .ErrorCodeBadRequest),
        .unauthorized: Row(.unauthorized, "unauthorized", .ErrorCodeUnauthorizedAccess),
        .forbidden: Row(.forbidden, "forbidden", .ErrorCodeForbiddenError),
        .notFound: Row(.notFound, "not_found", .ErrorCodeSearchItemNotFound),
        .unknownRoute: Row(.notFound, "unknown_route", .ErrorCodeSearchItemNotFound),
        .unknownNamespace: Row(.notFound, "unknown_namespace", .ErrorCodeSearchItemNotFound),
        .methodNotAllowed: Row(.methodNotAllowed, "method_not_allowed", .ErrorCodeBadRequest),
        .notImplemented: Row(.notImplemented, "not_implemented", .ErrorCodeBadRequest),
        .bodyTimedOut: Row(.requestTimeout, "request_timeout", .ErrorCodeRequestTimeoutError),
        .wrongState: Row(.conflict, "conflict", .ErrorCodeBadRequest),
        .userDataConflict: Row(.conflict, "conflict", .ErrorCodeBadRequest),
        .unverified: Row(.conflict, "conflict", .ErrorCodeBadRequest),
        .scenarioFailed: Row(.conflict, "conflict", .ErrorCodeBadRequest),
        .unsettled: Row(.conflict, "conflict", .ErrorCodeBadRequest),
        .captureTimedOut: Row(.gone, "capture_timed_out", nil),
        .bodyTooLarge: Row(.contentTooLarge, "payload_too_large", .ErrorCodeBadRequest),
        .unsupportedMediaType: Row(.unsupportedMediaType, "unsupported_media_type", .ErrorCodeBadRequest),
        .unsupportedEncoding: Row(.unsupportedMediaType, "unsupported_media_type", .ErrorCodeBadRequest),
        .imageRejected: Row(.unprocessableContent, "image_rejected", .ErrorCodeImageUploadError),
        .rateLimited: Row(.tooManyRequests, "too_many_requests", .ErrorCodeTooManyRequests),
        .unavailable: Row(.serviceUnavailable, "unavailable", .ErrorCodeInternalServerError),
        .notReady: Row(.serviceUnavailable, "unavailable", .ErrorCodeInternalServerError),
        .abandoned: Row(.serviceUnavailable, "unavailable", .ErrorCodeInternalServerError),
        .internalError: Row(.internalServerError, "internal_error", .ErrorCodeInternalServerError),
        .canceled: Row(.conflict, "canceled", nil),
        .clientRejected: Row(.forbidden, "client_rejected", nil),
        .configurationNotSupported: Row(.conflict, "configuration_not_supported", nil),
        .invalidSession: Row(.unauthorized, "invalid_session", nil),
        .invalidWorkflowStatus: Row(.conflict, "invalid_workflow_status", nil),
        .moduleError: Row(.unprocessableContent, "module_error", nil),
        .unexpected: Row(.internalServerError, "unexpected", nil),
    ]

    private static let byKind = Dictionary(uniqueKeysWithValues: rows.map { ($0, $1) })

    /// The row of an error. An injected fault has the row of the status it chose.
    static func row(_ error: PlatformError) -> Row {
        if error.kind == .injected, case .answer(let status, _) = error.payload { return row(ofStatus: status) }
        return byKind[error.kind] ?? row(ofStatus: 500)
    }

    /// The statuses of errors that name an error of the SDK, smallest first; empty if no answer names it.
    static func statuses(of code: SDKErrorCode) -> [Int] {
        let known = Set(rows.map(\.value).filter { $0.sdkError == code }.map(\.status.code))
        return (code == row(ofStatus: 504).sdkError ? known.union([504]) : known).sorted()
    }

    /// Whether a kind has a row; for tests.
    static func knows(_ kind: PlatformError.Kind) -> Bool { byKind[kind] != nil || kind == .injected }

    /// The row for a status that a fault rule chose: that of the general error of the status [D fault-rules].
    private static func row(ofStatus code: Int) -> Row {
        if let (_, row) = rows.first(where: { $1.status.code == code }) { return row }
        let status = HTTPResponse.Status(code: code)
        return switch code {
        case 504: Row(status, "server_timeout", .ErrorCodeServerTimeoutError)
        case ..<500: Row(status, "bad_request", .ErrorCodeBadRequest)
        default: Row(status, "internal_error", .ErrorCodeInternalServerError)
        }
    }
}
