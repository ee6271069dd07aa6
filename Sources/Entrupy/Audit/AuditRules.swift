import EntrupyAPI
import EntrupyStorage
import Simulation
import Storage

extension AuditRoute {
    static let login = AuditRoute("POST /sdk/login")
    /// The name of the login in the vendor's guide.
    static let guideLogin = AuditRoute("POST /login")
    static let logout = AuditRoute("POST /sdk/logout")
}

extension AuditNames {
    static let ofEntrupy = AuditNames(
        logins: [.login, .guideLogin],
        endings: [.logout, AuditRoute("POST /sdk/captures/*/cancel"), AuditRoute("POST /sdk/captures/*/submit")],
        foreign: [
            "nextcursor": "cursor", "pagecursor": "cursor", "page": "cursor", "offset": "cursor",
            "paginationlimit": "limit", "pagesize": "limit", "perpage": "limit",
        ],
        shadowed: [
            // [D fingerprints]
            ShadowedMember(
                AuditRoute("POST /sdk/captures"), "fingerprint_parent", by: "entrupy_id", in: "item",
                where: ("capture_workflow", "fingerprint_compare"))
        ])
}

extension AuditRule {
    static let ofEntrupy: [AuditRule] = [
        AuditRule(
            "signed-request-reused", .error,
            source: "SDK guide, 15. Error Codes [S]: a signed authorization request logs in once",
            .valueReused([.login, .guideLogin], member: "signed_authorization_request")),
        AuditRule(
            "session-after-cleanup", .error,
            source: "SDK guide, 13. Cleanup [S]: cleanup ends the session; log in again before the next call",
            .tokenAfterEnd(ending: .logout)),
        AuditRule(
            "polling-too-tight", .warning,
            source:
                "[D audit]: the answer names the time of the result (eta); ask at most every second before it, or use webhooks",
            .polling(
                [
                    AuditRoute("GET /sdk/results/*"), AuditRoute("GET /v1/authentications/*"),
                    AuditRoute("GET /v2/authentications/*"), AuditRoute("GET /v1/lookup/authentications/*"),
                    AuditRoute("GET /v2/lookup/authentications/*"),
                ], eta: [["status", "eta", "epoch"], ["item", "status", "eta", "epoch"]], every: .second)),
        AuditRule(
            "login-each-time", .warning,
            source:
                "SDK guide, 7. Checking the token, and 14. Rate Limiting [S]: a session lives for hours, and 100 logins a day are the limit",
            .repeatedLogin(
                [.login, .guideLogin], ending: .logout, token: "token",
                expires: ["soft_expiration_time", "expiration_time"],
                ended: [.sessionEnded], sessions: 2)),
        AuditRule(
            "flag-without-check", .warning,
            source: "SDK guide, 11. Flagging Results [S]: read is_flaggable before a flag is set",
            .refusedWithoutReading(
                AuditRoute("PUT /sdk/results/*/flag"), member: "is_flaggable", id: "entrupy_id",
                known: .itemSubmitted)),
        AuditRule(
            "capture-abandoned", .warning,
            source:
                "SDK guide, capture [S]: a capture that is not submitted within 2 hours is aborted; cancel it instead",
            .happened(.captureTimedOut, of: .captureStarted, what: "capture")),
        AuditRule(
            "retake-unanswered", .warning,
            source: "[P] retakes: the item stays under review until the new images are there",
            .unanswered(
                .retakeRequested, answer: .retakeAnswered, closing: [.resultSet, .resultChanged], member: "retake_id",
                within: .day)),
        AuditRule(
            "upload-repeated", .warning,
            source: "[D audit]: the answer 200 says that the image is there; only another image needs another upload",
            .repeatedUpload(
                [AuditRoute("PUT /sdk/captures/*/images/*")], digest: "sha256")),
        AuditRule(
            "deprecated-version", .warning,
            source: "API reference, version history [P]: new clients use v2, or Api-Version 1.3 and later",
            .oldVersion(path: Glob("/v1/*"), header: "api-version", old: ["1.0", "1.1", "1.2"])),
        AuditRule(
            "resubmitted-instead-of-flagged", .warning,
            source: "SDK guide, 11. Flagging Results [S]: dispute a result with a flag; another submission may cost",
            .resubmitted(
                AuditResubmission(
                    submitted: .itemSubmitted, decided: [.resultSet, .resultChanged], disputed: .flagSet,
                    subject: disputed))),
    ]

    /// The customer's id of an item, and the results that its user can flag with some settings.
    private static func disputed(
        _ entrupyID: String, _ settings: Settings, _ job: JobContext
    ) throws -> AuditResubmission.Subject? {
        guard let item = try job.transaction.item(entrupyID: entrupyID), let id = item.customerItemID, !id.isEmpty,
            MagicItemID(id) == nil, let organization = try job.transaction.organization(id: item.organizationID)
        else { return nil }
        let own = settings.part(EntrupySettings.self)
        let mayFlag = organization.sdkFlagging && own.sdkFlagging && item.activity == .authentication
        return (id, item.activity.rawValue, mayFlag ? Set(own.flagEligible.map(\.rawValue)) : [])
    }
}
