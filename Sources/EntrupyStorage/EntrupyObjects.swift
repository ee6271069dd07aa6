import Storage

extension ComparedState {
    /// Entrupy's objects, and its words for them [D diff].
    package static let ofEntrupy = ComparedState(
        accounts + items + captures,
        leftOut: ["logins": "the times of logins, which limits count"])

    private static let user = ComparedMember.reference("username", "user_id", to: "user")

    private static let accounts = [
        ComparedKind(
            "app", in: "bundles", order: "organization_id, bundle_id",
            [.reference("organization", "organization_id", to: "organization").key, .value("bundle_id").key]),
        ComparedKind(
            "partner_user", in: "partner_users", order: "username",
            [
                .value("username").key, .reference("organization", "organization_id", to: "organization"),
                .value("unique_user_id"), .value("email"), .value("first_name"), .value("last_name"),
                .secret("password"),
            ]),
        ComparedKind(
            "partner_session", in: "partner_sessions", order: "username", [.value("username").key, .secret("token")]),
        ComparedKind(
            "signed_request", in: "signed_requests", order: "user_id, bundle_id, used_at IS NULL",
            [
                user.key, .value("bundle_id").key, .time("used_at"), .time("issued_at"), .time("expires_at"),
                .secret("id"),
            ]),
        ComparedKind(
            "session", in: "sessions", order: "user_id, bundle_id, end_reason",
            [
                user.key, .value("bundle_id").key, .value("end_reason"), .time("created_at"), .time("soft_expires_at"),
                .time("expires_at"), .time("ended_at"), .secret("token"),
            ]),
    ]

    private static let items = [
        ComparedKind(
            "item", in: "items", id: "entrupy_id",
            [
                user.key, .value("customer_item_id").key, .value("brand", "brand_id"), .value("brand_name"),
                .value("product_category", "category"), .value("config_type"), .value("activity"),
                .value("form_factor"),
                .value("result", "result_id"), .flag("result_final"), .value("result_reason"),
                .value("initial_result", "initial_result_id"), .value("decided_by"),
                .value("pending_result", "planned_result_id"), .value("pending_reason", "planned_reason"),
                .value("flag", "flag_id"), .value("flag_reason", "flag_reason_id"), .value("flag_message"),
                .value("flag_note"), .value("certificate_holder"), .document("item", "metadata"),
                .document("catalog"), .document("market_edge"), .reference("fingerprint_parent"),
                .id("certificate_id"), .id("capture_id"), .id("entrupy_id"), .time("capture_started_at"),
                .time("submitted_at"), .time("updated_at"), .time("result_at"), .time("initial_result_at"),
                .time("flagged_at"), .time("flag_resolved_at"),
            ], unshown: ["position", "organization_id", "revision", "rendering_key", "sdk_rendering"]),
        ComparedKind(
            "retake", in: "retakes",
            [
                .reference("item", "entrupy_id").key, .value("regions"), .value("message"), .time("asked_at"),
                .time("answered_at"), .id("capture_id"), .id("id"),
            ], unshown: ["position", "user_id"]),
        ComparedKind(
            "message", in: "events", where: "kind IN ('support.message', 'support.answered')", order: "sequence",
            [
                .reference("item", "subject").key,
                .value("type", "iif(kind = 'support.message', 'question', 'answer')"),
                .value("message", "json_extract(data, '$.message')"),
                .value("options", "json_extract(data, '$.options')"),
                .value("author", "json_extract(data, '$.author')"), .time("created_at", "at"),
            ], unshown: ["sequence", "cause"]),
    ]

    private static let captures = [
        ComparedKind(
            "capture", in: "captures", id: "id",
            [
                user.key, .value("customer_item_id", "json_extract(item, '$.customer_item_id')").key, .value("status"),
                .value("config_type"), .value("product_category", "category"), .value("activity"),
                .document("item"), .reference("fingerprint_parent"), .time("started_at"), .time("expires_at"),
                .time("submitted_at"), .time("ended_at"), .id("entrupy_id"), .id("retake_id"), .id("id"),
            ], unshown: ["position"]),
        ComparedKind(
            "picture", in: "capture_images", order: "capture_id, region_id",
            [
                .reference("capture", "capture_id").key, .value("region_id").key, .value("sha256"), .value("bytes"),
                .value("media_type"), .time("uploaded_at"),
            ], unshown: ["in_use"]),
    ]
}
