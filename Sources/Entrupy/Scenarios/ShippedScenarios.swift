/// The scenarios in `seed-data/scenarios`, one for each edge case that the vendor documents [S].
package enum ShippedScenarios {
    /// The texts of the scenarios, by name.
    package static let all = [
        "burst-limit": PackageResources.burst_limit_yaml,
        "capture-times-out": PackageResources.capture_times_out_yaml,
        "conflicting-user-data": PackageResources.conflicting_user_data_yaml,
        "cursor-under-concurrent-inserts": PackageResources.cursor_under_concurrent_inserts_yaml,
        "debug-configuration": PackageResources.debug_configuration_yaml,
        "each-result": PackageResources.each_result_yaml,
        "expired-session": PackageResources.expired_session_yaml,
        "flag-and-clear": PackageResources.flag_and_clear_yaml,
        "flag-ineligible-item": PackageResources.flag_ineligible_item_yaml,
        "late-result": PackageResources.late_result_yaml,
        "late-result-then-disputed": PackageResources.late_result_then_disputed_yaml,
        "login-limit": PackageResources.login_limit_yaml,
        "revoked-session": PackageResources.revoked_session_yaml,
        "server-errors-and-time-outs": PackageResources.server_errors_and_time_outs_yaml,
        "signed-request-used-twice": PackageResources.signed_request_used_twice_yaml,
        "upload-failure": PackageResources.upload_failure_yaml,
        "webhook-receiver-down-then-up": PackageResources.webhook_receiver_down_then_up_yaml,
    ].mapValues { String(decoding: $0, as: UTF8.self) }
}
