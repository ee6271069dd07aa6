/// The ids of results [S].
enum ResultID {
    static let authentic = "authentic"
    static let unknown = "unknown"
    static let notSupported = "not_supported"
    static let needsReview = "needs_review"
    static let invalid = "invalid"
    static let all = [authentic, unknown, notSupported, needsReview, invalid]

    /// Why a submission made with the debug configuration is invalid.
    static let debugReason = "debug_configuration"
}
