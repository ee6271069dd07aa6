import EntrupyAPI
import Simulation

extension PlatformEvidence {
    /// The evidence of Entrupy's documents: misuse and edges.
    static let ofEntrupy = {
        var evidence = PlatformEvidence()
        evidence.auditRules = AuditRule.ofEntrupy
        evidence.auditNames = .ofEntrupy
        evidence.explained = ExplainedObject.ofEntrupy
        evidence.axes = { EntrupyEdges.axes }
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
            return DocumentedEdge(result.rawValue, on: events)
        }
    }

    private static let captures: [DocumentedEdge] = [
        DocumentedEdge("started", on: [EventPattern(.captureStarted)]),
        DocumentedEdge("started -> submitted", on: [EventPattern(.captureSubmitted)]),
        DocumentedEdge("started -> cancelled", on: [EventPattern(.captureCancelled)]),
        DocumentedEdge("started -> timed_out", on: [EventPattern(.captureTimedOut)]),
    ]

    private static let flags: [DocumentedEdge] = [
        DocumentedEdge("none -> flagged", on: [EventPattern(.flagSet, [("by", nil), ("from", nil)])]),
        DocumentedEdge("flagged -> none", on: [EventPattern(.flagCleared, [("by", nil)])]),
        DocumentedEdge("flagged -> resolved", on: [EventPattern(.flagResolved, [("by", nil)])]),
        DocumentedEdge("resolved -> flagged", on: [EventPattern(.flagSet, [("from", FlagID.resolved.rawValue)])]),
    ]

    /// The settings of `rate_limits` [S].
    private static let limits =
        ["sdk_per_second", "logins_per_minute", "logins_per_day", "api_per_second", "open_captures"].map {
            DocumentedEdge($0)
        }
}
