import Storage

extension ComparedState {
    /// The objects of App Components, and the words for them [D diff].
    package static let ofComponents = ComparedState([
        ComparedKind(
            "component_code", in: "component_codes", order: "organization_id, workflow_id, client, used_at IS NULL",
            [
                organization, client.key, .value("workflow_id").key, .document("client"), .time("used_at"),
                .time("created_at"), .time("expires_at"), .secret("code"),
            ]),
        ComparedKind(
            "component_session", in: "component_sessions", id: "id",
            [
                organization, client.key, .value("workflow_id").key, .value("environment"), .document("client"),
                .value("end_reason"), .time("started_at"), .time("expires_at"), .time("ended_at"), .id("id"),
            ], unshown: ["position"]),
        ComparedKind(
            "component", in: "component_runs", order: "session_id, component",
            [
                .reference("session", "session_id").key, .value("component").key, .value("status"),
                .value("document_type"), .value("issuing_country"), .document("location"), .value("error"),
                .time("started_at"), .time("ended_at"),
            ]),
        ComparedKind(
            "component_file", in: "component_files", order: "session_id, component, name, is_angled",
            [
                .reference("session", "session_id").key, .value("component").key, .value("name").key,
                .flag("angled", "is_angled").key, .value("sha256"), .value("bytes"), .value("media_type"),
                .value("quality"), .value("duration"), .value("uploads"), .time("uploaded_at"),
            ], unshown: ["in_use"]),
        ComparedKind(
            "component_rejection", in: "component_rejections", order: "organization_id, client_id",
            [
                .reference("organization", "organization_id", to: "organization").key, .value("client_id").key,
                .time("rejected_at", "at"),
            ]),
    ])

    private static let organization = ComparedMember.reference("organization", "organization_id", to: "organization")
    private static let client = ComparedMember.value("client_id", "json_extract(client, '$.client_id')")
}
