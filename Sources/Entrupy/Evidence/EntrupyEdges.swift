import EntrupyAPI
import Simulation

extension PlatformEvidence {
    /// The evidence of Entrupy's documents: misuse, edges, and commands that meet them.
    static let ofEntrupy = {
        var evidence = PlatformEvidence()
        evidence.auditRules = AuditRule.ofEntrupy
        evidence.auditNames = .ofEntrupy
        evidence.explained = ExplainedObject.ofEntrupy
        evidence.axes = { EntrupyEdges.axes }
        evidence.answerCommands = { EntrupyLines.answers }
        evidence.curlOptions = EntrupyLines.curlOptions
        evidence.webhookCommands = { EntrupyLines.webhooks }
        evidence.scenarioCommands = { EntrupyLines.scenarios }
        return evidence
    }()
}

/// The documented edges of Entrupy, beside the answers of its routes [D coverage].
enum EntrupyEdges {
    static var axes: [DocumentedAxis] {
        [
            DocumentedAxis("results", "Results of items", Self.results),
            DocumentedAxis("captures", "States of captures", Self.captures),
            DocumentedAxis("flags", "States of flags", Self.flags),
            DocumentedAxis(DocumentedAxis.limits, "Limits that were exceeded", Self.limits),
        ]
    }

    /// Every result that an item of a client can have. Items that the control API makes have met nothing.
    private static var results: [DocumentedEdge] {
        ResultID.allCases.map { result in
            var events = [EventKind.resultSet, .resultChanged].map { EventPattern($0, [("result", result.rawValue)]) }
            if [.needsReview, .received].contains(result) {
                // A new item is under review, unless its result comes with it.
                events.append(
                    EventPattern(
                        .itemSubmitted, [("initial", result.rawValue)], unlessFollowed: [.resultSet, .resultChanged]))
            }
            let activity =
                result.isOfComparisonsOnly
                ? " --activity fingerprint_compare --fingerprint-parent \(EntrupyLines.registered)"
                : result.isOfRegistrationsOnly ? " --activity fingerprint_register" : ""
            let sku = "entrupy-sim capture run --sku sim-\(result.rawValue)-after-0s\(activity)"
            return DocumentedEdge(result.rawValue, on: events, meetWith: sku)
        }
    }

    private static let captures: [DocumentedEdge] = [
        DocumentedEdge("started", on: [EventPattern(.captureStarted)], meetWith: EntrupyLines.start),
        DocumentedEdge("started -> submitted", on: [EventPattern(.captureSubmitted)], meetWith: EntrupyLines.item),
        DocumentedEdge(
            "started -> cancelled", on: [EventPattern(.captureCancelled)],
            meetWith: EntrupyLines.ofCapture(EntrupyLines.call("POST", "/sdk/captures/$ID/cancel"))),
        DocumentedEdge(
            "started -> timed_out", on: [EventPattern(.captureTimedOut)],
            meetWith: "\(EntrupyLines.start); entrupy-sim clock advance 2h"),
    ]

    private static let flags: [DocumentedEdge] = [
        DocumentedEdge(
            "none -> flagged", on: [EventPattern(.flagSet, [("by", nil), ("from", nil)])],
            meetWith: EntrupyLines.flagged),
        DocumentedEdge(
            "flagged -> none", on: [EventPattern(.flagCleared, [("by", nil)])],
            meetWith: "\(EntrupyLines.flagged); \(EntrupyLines.flag(false))"),
        DocumentedEdge(
            "flagged -> resolved", on: [EventPattern(.flagResolved, [("by", nil)])],
            meetWith: "\(EntrupyLines.flagged); \(EntrupyLines.resolved)"),
        DocumentedEdge(
            "resolved -> flagged", on: [EventPattern(.flagSet, [("from", FlagID.resolved.rawValue)])],
            meetWith: "\(EntrupyLines.flagged); \(EntrupyLines.resolved); \(EntrupyLines.flag(true))"),
    ]

    /// The settings of `rate_limits` [S].
    private static let limits: [DocumentedEdge] = [
        DocumentedEdge("sdk_per_second", meetWith: EntrupyLines.limited("sdk_per_second", EntrupyLines.session)),
        DocumentedEdge("logins_per_minute", meetWith: EntrupyLines.logins("logins_per_minute")),
        DocumentedEdge("logins_per_day", meetWith: EntrupyLines.logins("logins_per_day")),
        DocumentedEdge("api_per_second", meetWith: EntrupyLines.limited("api_per_second", EntrupyLines.health)),
        DocumentedEdge(
            "open_captures",
            meetWith:
                "entrupy-sim settings set rate_limits.open_captures 1; \(EntrupyLines.start); \(EntrupyLines.start)"),
    ]
}

extension EntrupyLines {
    /// The options of `curl` with which a request to a path has a caller.
    @Sendable static func curlOptions(_ path: String) -> String? {
        func begins(with beginning: String) -> Bool { path.utf8.starts(with: beginning.utf8) }
        if begins(with: "/v1/") { return "\(EntrupyLines.backend) -H 'Api-Version: 1.4'" }
        if begins(with: "/v2/") { return EntrupyLines.backend }
        if begins(with: "/sdk/login") { return nil }
        if begins(with: "/sdk/") { return EntrupyLines.user }
        return path.isIdentical(to: "/partner/authorize-entrupy-sdk-user") ? EntrupyLines.partner : nil
    }
}
