import EntrupyAPI
import Simulation
import SimulationAPI

extension IDKind {
    static let capture = IDKind("capture", prefix: "cap_", length: 20, futureLength: 36)
    static let item = IDKind("item", length: 8, alphabet: .uppercaseAndDigits)
    static let session = IDKind("session", prefix: "sdk_", length: 52, futureLength: 80)
    static let signedRequest = IDKind("signed_request", length: 26, futureLength: 40)
    static let partnerSession = IDKind("partner_session", prefix: "partner_", length: 40, futureLength: 64)
    static let retake = IDKind("retake", prefix: "rtk_", length: 20)
    static let supportMessage = IDKind("support_message", prefix: "msg_", length: 20)
    static let certificateTransfer = IDKind("certificate_transfer", prefix: "trf_", length: 20)

    static let ofEntrupy: [IDKind] = [
        .capture, .item, .session, .signedRequest, .partnerSession, .retake, .supportMessage,
        .certificateTransfer,
    ]
}

extension EventKind {
    static let sessionStarted = EventKind("session.started")
    static let sessionEnded = EventKind("session.ended")
    static let sessionExpired = EventKind("session.expired")
    static let captureStarted = EventKind("capture.started")
    static let imageUploaded = EventKind("image.uploaded")
    static let captureSubmitted = EventKind("capture.submitted")
    static let captureCancelled = EventKind("capture.cancelled")
    static let captureTimedOut = EventKind("capture.timed_out")
    static let itemSubmitted = EventKind("item.submitted")
    static let itemsGenerated = EventKind("items.generated")
    static let resultSet = EventKind("result.set")
    static let resultChanged = EventKind("result.changed")
    /// The item stays under review, and its scheduled result is cancelled.
    static let resultUnplanned = EventKind("result.unplanned")
    static let flagSet = EventKind("flag.set")
    static let flagCleared = EventKind("flag.cleared")
    static let flagResolved = EventKind("flag.resolved")
    static let certificateTransferred = EventKind("certificate.transferred")
    static let partnerSessionStarted = EventKind("partner.session.started")
    static let retakeRequested = EventKind("retake.requested")
    static let retakeAnswered = EventKind("retake.answered")
    static let supportMessage = EventKind("support.message")
    static let supportAnswered = EventKind("support.answered")
    static let catalogChanged = EventKind("catalog.changed")
    static let marketEdgeChanged = EventKind("market_edge.changed")

    static let ofEntrupy: [EventKind] = [
        .sessionStarted, .sessionEnded, .sessionExpired, .captureStarted, .imageUploaded,
        .captureSubmitted, .captureCancelled, .captureTimedOut, .itemSubmitted, .itemsGenerated, .resultSet,
        .resultChanged, .resultUnplanned, .flagSet, .flagCleared, .flagResolved, .certificateTransferred,
        .partnerSessionStarted, .retakeRequested, .retakeAnswered, .supportMessage, .supportAnswered, .catalogChanged,
        .marketEdgeChanged,
    ]

    /// The kinds that appear in an item's timeline.
    static let shown: [EventKind] = [.itemSubmitted, .resultSet, .resultChanged, .flagSet, .flagCleared, .flagResolved]
}

extension DueKind {
    static let captureTimeout = DueKind(
        "capture.timeout", start: { try $1.transaction.capture(id: $0)?.startedAt },
        perform: { try Captures.timeOut(captureID: $0, $1) })
    static let result = DueKind(
        "result", isConsequence: true, start: { try $1.transaction.item(entrupyID: $0)?.updatedAt },
        perform: { try Results.setPlannedResult(entrupyID: $0, $1) })
    static let sessionExpiry = DueKind(
        "session.expiry", shown: { ActiveSession.id(ofToken: $0) },
        start: { try $1.transaction.session(token: $0)?.createdAt }, perform: { try Sessions.expire(token: $0, $1) })

    static let ofEntrupy: [DueKind] = [.captureTimeout, .result, .sessionExpiry]
}

extension AwaitedEvent {
    /// Entrupy's events that tests can wait for [D wait].
    static let ofEntrupy: [AwaitedEvent] = [
        AwaitedEvent("item", "result", [.resultSet, .resultChanged]) {
            $0.members?["result"]?.text.map { ResultID(rawValue: $0).isFinal } ?? true
        },
        AwaitedEvent("item", "flag", [.flagSet, .flagCleared, .flagResolved]),
        AwaitedEvent("item", "retake", [.retakeRequested]),
        AwaitedEvent("capture", "submitted", [.captureSubmitted]),
        AwaitedEvent("capture", "cancelled", [.captureCancelled]),
        AwaitedEvent("capture", "timed_out", [.captureTimedOut]),
    ]
}
