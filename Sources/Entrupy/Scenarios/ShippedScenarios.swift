/// The scenarios in `seed-data/scenarios`, one for each edge case that the vendor documents [S].
package enum ShippedScenarios {
    /// The texts of the scenarios, by name.
    package static let all: [String: String] = [
        "burst-limit": text(PackageResources.burst_limit_yaml),
        "capture-times-out": text(PackageResources.capture_times_out_yaml),
        "conflicting-user-data": text(PackageResources.conflicting_user_data_yaml),
        "cursor-under-concurrent-inserts": text(PackageResources.cursor_under_concurrent_inserts_yaml),
        "debug-configuration": text(PackageResources.debug_configuration_yaml),
        "each-result": text(PackageResources.each_result_yaml),
        "expired-session": text(PackageResources.expired_session_yaml),
        "flag-and-clear": text(PackageResources.flag_and_clear_yaml),
        "flag-ineligible-item": text(PackageResources.flag_ineligible_item_yaml),
        "late-result": text(PackageResources.late_result_yaml),
        "late-result-then-disputed": text(PackageResources.late_result_then_disputed_yaml),
        "login-limit": text(PackageResources.login_limit_yaml),
        "revoked-session": text(PackageResources.revoked_session_yaml),
        "server-errors-and-time-outs": text(PackageResources.server_errors_and_time_outs_yaml),
        "signed-request-used-twice": text(PackageResources.signed_request_used_twice_yaml),
        "upload-failure": text(PackageResources.upload_failure_yaml),
        "webhook-receiver-down-then-up": text(PackageResources.webhook_receiver_down_then_up_yaml),
    ]

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
