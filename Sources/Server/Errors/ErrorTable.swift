import AppComponents
import EntrupyAPI
import HTTPTypes
import Simulation

/// The status, code and SDK error of each kind of error [D error-envelope]. No other place knows a status of an error.
enum ErrorTable {
    /// `sdkError` is `nil` if the SDK has no error for it.
    typealias Row = (status: HTTPResponse.Status, code: String, sdkError: SDKErrorCode?)

    /// A row for each kind. The first row with a status is that of the status's general error.
    private static let rows: KeyValuePairs<PlatformError.Kind, Row> = [
        .invalid: (.badRequest, "bad_request", .ErrorCodeBadRequest),
        .missingRegions: (.badRequest, "bad_request", .ErrorCodeBadRequest),
        .unauthorized: (.unauthorized, "unauthorized", .ErrorCodeUnauthorizedAccess),
        .forbidden: (.forbidden, "forbidden", .ErrorCodeForbiddenError),
        .notFound: (.notFound, "not_found", .ErrorCodeSearchItemNotFound),
        .unknownRoute: (.notFound, "unknown_route", .ErrorCodeSearchItemNotFound),
        .unknownNamespace: (.notFound, "unknown_namespace", .ErrorCodeSearchItemNotFound),
        .methodNotAllowed: (.methodNotAllowed, "method_not_allowed", .ErrorCodeBadRequest),
        .notImplemented: (.notImplemented, "not_implemented", .ErrorCodeBadRequest),
        .bodyTimedOut: (.requestTimeout, "request_timeout", .ErrorCodeRequestTimeoutError),
        .wrongState: (.conflict, "conflict", .ErrorCodeBadRequest),
        .userDataConflict: (.conflict, "conflict", .ErrorCodeBadRequest),
        .unverified: (.conflict, "conflict", .ErrorCodeBadRequest),
        .forgotten: (.conflict, "forgotten", .ErrorCodeBadRequest),
        .scenarioFailed: (.conflict, "conflict", .ErrorCodeBadRequest),
        .unsettled: (.conflict, "conflict", .ErrorCodeBadRequest),
        .captureTimedOut: (.gone, "capture_timed_out", nil),
        .bodyTooLarge: (.contentTooLarge, "payload_too_large", .ErrorCodeBadRequest),
        .unsupportedMediaType: (.unsupportedMediaType, "unsupported_media_type", .ErrorCodeBadRequest),
        .unsupportedEncoding: (.unsupportedMediaType, "unsupported_media_type", .ErrorCodeBadRequest),
        .rangeNotSatisfiable: (.rangeNotSatisfiable, "range_not_satisfiable", .ErrorCodeBadRequest),
        .imageRejected: (.unprocessableContent, "image_rejected", .ErrorCodeImageUploadError),
        .rateLimited: (.tooManyRequests, "too_many_requests", .ErrorCodeTooManyRequests),
        .unavailable: (.serviceUnavailable, "unavailable", .ErrorCodeInternalServerError),
        .notReady: (.serviceUnavailable, "unavailable", .ErrorCodeInternalServerError),
        .abandoned: (.serviceUnavailable, "unavailable", .ErrorCodeInternalServerError),
        .internalError: (.internalServerError, "internal_error", .ErrorCodeInternalServerError),
        .canceled: (.conflict, "canceled", nil),
        .clientRejected: (.forbidden, "client_rejected", nil),
        .configurationNotSupported: (.conflict, "configuration_not_supported", nil),
        .invalidSession: (.unauthorized, "invalid_session", nil),
        .invalidWorkflowStatus: (.conflict, "invalid_workflow_status", nil),
        .moduleError: (.unprocessableContent, "module_error", nil),
        .unexpected: (.internalServerError, "unexpected", nil),
    ]

    private static let byKind = Dictionary(uniqueKeysWithValues: rows.map { ($0, $1) })

    /// The row of an error. An injected fault has the row of the status it chose.
    static func row(_ error: PlatformError) -> Row {
        if error.kind == .injected, case .answer(let status, _, _) = error.payload { return row(ofStatus: status) }
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
        case 504: (status, "server_timeout", .ErrorCodeServerTimeoutError)
        case ..<500: (status, "bad_request", .ErrorCodeBadRequest)
        default: (status, "internal_error", .ErrorCodeInternalServerError)
        }
    }
}
