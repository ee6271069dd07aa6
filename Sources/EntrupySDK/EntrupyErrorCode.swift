/// The errors of the vendor's SDK, with its names and raw values [P].
public enum EntrupyErrorCode: UInt, Sendable, CaseIterable {
    /// No connection to the server. Never sent by the server: this module raises it.
    case ErrorCodeOfflineAccess
    /// A header or a parameter is missing or wrong.
    case ErrorCodeBadRequest
    /// The session token is missing, expired, revoked or malformed.
    case ErrorCodeUnauthorizedAccess
    /// The bundle is not registered, a signed request was used again, or flagging is switched off for the SDK.
    case ErrorCodeForbiddenError
    /// The server failed.
    case ErrorCodeInternalServerError
    /// The request took too long on the client's side.
    case ErrorCodeRequestTimeoutError
    /// The server did not answer in time.
    case ErrorCodeServerTimeoutError
    /// A rate limit is exceeded.
    case ErrorCodeTooManyRequests
    /// An image of a capture could not be uploaded.
    case ErrorCodeImageUploadError
    /// The user refused the camera. Never sent by the server: this module raises it.
    case ErrorCodeUserDeniedPermissions
    /// Any other error.
    case ErrorCodeUnknownError
    /// The item does not exist, or belongs to another user.
    case ErrorCodeSearchItemNotFound
    /// The item exists already. The simulated platform never reports it.
    case ErrorCodeSearchItemFound
}

/// The configuration that captures are made with, with the names and raw values of the vendor's SDK [P].
public enum EntrupyConfigType: UInt, Sendable, CaseIterable {
    /// A shorter workflow for development. Every submission made with it becomes Invalid [S].
    case ConfigTypeDebug
    /// The whole workflow.
    case ConfigTypeProduction
}
