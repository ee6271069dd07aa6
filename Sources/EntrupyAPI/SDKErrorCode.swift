/// The error codes of the vendor's SDK, with the SDK's raw values [P].
public enum SDKErrorCode: Int, Codable, Sendable, CaseIterable {
    case ErrorCodeOfflineAccess = 0
    case ErrorCodeBadRequest
    case ErrorCodeUnauthorizedAccess
    case ErrorCodeForbiddenError
    case ErrorCodeInternalServerError
    case ErrorCodeRequestTimeoutError
    case ErrorCodeServerTimeoutError
    case ErrorCodeTooManyRequests
    case ErrorCodeImageUploadError
    case ErrorCodeUserDeniedPermissions
    case ErrorCodeUnknownError
    case ErrorCodeSearchItemNotFound
    case ErrorCodeSearchItemFound
}
