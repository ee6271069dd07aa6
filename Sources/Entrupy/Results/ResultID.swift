/// The ids of results [S].
enum ResultID {
    static let authentic = "authentic"
    static let unknown = "unknown"
    static let notSupported = "not_supported"
    static let needsReview = "needs_review"
    static let invalid = "invalid"
    static let all = [authentic, unknown, notSupported, needsReview, invalid]

    /// The reason of results for the debug configuration.
    static let debugReason = "debug_configuration"
}
