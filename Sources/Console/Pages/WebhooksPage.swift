import SimulationAPI

/// The subscriptions and deliveries.
enum WebhooksPage {
    private static let rows = 50
    private static let states = ["failed", "retrying", "waiting", "sending", "delivered", "cancelled"]
    /// The number of deliveries of each failed state that come before all others.
    private static let maxFailures = 20

    private struct View: Encodable, Sendable {
        let subscriptions: Rows<Subscription>?
        let states: [Tab]
        /// Those that failed or whose attempts fail.
        let failures: Rows<DeliveryRow>?
        let hasMoreFailures: Bool
        let failedLink, retryingLink: String
        let deliveries: Rows<DeliveryRow>?
        let nextLink: String?
        let shellURL: String
    }

    private struct Subscription: Encodable, Sendable {
        let info: SubscriptionInfo
        let events: String
        let isPending: Bool
        let openDeliveries: Int?
        /// The last attempt, if it failed.
        let failed: Failed?

        struct Failed: Encodable, Sendable {
            let attempt: SubscriptionInfo.Failing
            let link, at, reason: String
        }
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let status = request.given("status", of: states)
        let subscriptions = try await api.get("webhooks", as: SubscriptionInfoList.self).webhooks
        let now = try await api.get("clock", as: ClockState.self).epoch
        // Of an item, or of one state, all are in one list.
        let isFirst = status == nil && request.given("item") == nil && request.given("cursor") == nil
        let (failures, hasMoreFailures) = isFirst ? try await self.failures(api) : ([], false)
        let deliveries = try await api.get(
            "webhook-deliveries",
            [
                ("limit", "\(rows)"), ("cursor", request.given("cursor")), ("status", status),
                ("entrupy_id", request.given("item")),
            ], as: WebhookDeliveryList.self)
        let shown = Set(failures.map(\.id))
        let others = deliveries.deliveries.filter { !shown.contains($0.id) }
        func link(_ pairs: [(String, String?)]) -> String { "\(request.console)/webhooks" + Link.query(pairs) }
        let view = View(
            subscriptions: Rows(ordered(subscriptions).map { subscription($0, request) }),
            states: ([nil] + states.map(Optional.some)).map { state in
                Tab(name: state ?? "all", link: link([("status", state)]), isCurrent: state == status)
            },
            failures: Rows(failures.map { DeliveryRow($0, now: now, request) }), hasMoreFailures: hasMoreFailures,
            failedLink: link([("status", "failed")]), retryingLink: link([("status", "retrying")]),
            deliveries: Rows(others.map { DeliveryRow($0, now: now, request) }),
            nextLink: deliveries.next_cursor.map { link([("status", status), ("cursor", $0)]) },
            shellURL: Shell.quoted(request.url))
        return PagePart(section: "webhooks", title: "Webhooks", template: "webhooks", view: view)
    }

    /// Those whose deliveries fail come first.
    private static func ordered(_ subscriptions: [SubscriptionInfo]) -> [SubscriptionInfo] {
        subscriptions.filter { $0.failing != nil } + subscriptions.filter { $0.failing == nil }
    }

    /// The deliveries that failed, and those whose attempts fail; of each, newest first.
    private static func failures(_ api: ControlReader) async throws -> ([WebhookDelivery], hasMore: Bool) {
        var (found, hasMore): ([WebhookDelivery], Bool) = ([], false)
        for status in ["failed", "retrying"] {
            let list = try await api.get(
                "webhook-deliveries", [("limit", "\(maxFailures)"), ("status", status)], as: WebhookDeliveryList.self)
            found += list.deliveries
            hasMore = hasMore || list.next_cursor != nil
        }
        return (found, hasMore)
    }

    private static func subscription(_ subscription: SubscriptionInfo, _ request: ConsoleRequest) -> Subscription {
        Subscription(
            info: subscription, events: subscription.events.joined(separator: ", "),
            isPending: subscription.status == "pending",
            openDeliveries: subscription.open_deliveries > 0 ? subscription.open_deliveries : nil,
            failed: subscription.failing.map { attempt in
                Subscription.Failed(
                    attempt: attempt, link: "\(request.console)/webhooks/deliveries/\(Link.escaped(attempt.delivery))",
                    at: Moment.text(attempt.at), reason: reason(attempt.status, attempt.error))
            })
    }

    /// Why an attempt failed, in a few words.
    static func reason(_ status: Int?, _ error: String?) -> String {
        let parts = [status.map { "the receiver answered \($0)" }, error].compactMap { $0 }
        return parts.isEmpty ? "no answer" : parts.joined(separator: ", ")
    }
}

/// A delivery as a row of a list.
struct DeliveryRow: Encodable, Sendable {
    let deliveryID, link, event: String
    let item: String?
    let itemLink, status, statusStyle, url: String
    let attempts: Int
    /// The last attempt's answer; empty if there was no attempt.
    let last: String
    let lastStyle: String
    /// The earlier delivery that it waits for.
    let waitsFor: String?
    let waitsLink: String
    /// Why it waits for a connection.
    let heldBack: String?
    let nextAttempt: String?
    let nextISO, nextLeft, nextIn, at, redeliverPath: String

    /// - Parameter now: the time of the namespace's clock; `nil` if the page does not show the time that is left.
    init(_ delivery: WebhookDelivery, now: Double? = nil, _ request: ConsoleRequest) {
        func page(_ id: String?) -> String { "\(request.console)/webhooks/deliveries/\(Link.escaped(id ?? ""))" }
        let left = max(0, (delivery.next_attempt_at ?? 0) - (now ?? .infinity))
        let attempt = delivery.attempts.last
        deliveryID = delivery.id
        link = page(delivery.id)
        event = delivery.event
        item = delivery.entrupy_id
        itemLink = "\(request.console)/items/\(Link.escaped(delivery.entrupy_id ?? ""))"
        status = delivery.status
        statusStyle = Style.delivery(delivery.status)
        url = delivery.url ?? "(deleted)"
        attempts = delivery.attempts.count
        last = attempt.map { $0.status.map { "\($0)" } ?? $0.error ?? "no answer" } ?? ""
        lastStyle = attempt.map { $0.hasSucceeded ? "last good" : "last bad" } ?? ""
        waitsFor = delivery.waits_for
        waitsLink = page(delivery.waits_for)
        heldBack = delivery.held_back
        nextAttempt = delivery.next_attempt_at.map { Moment.text($0) }
        nextISO = delivery.next_attempt_at.map { Moment.iso($0) } ?? ""
        nextLeft = "\(left)"
        nextIn = Moment.span(left)
        at = Moment.text(delivery.created_at)
        redeliverPath = "\(request.base)/_sim/webhook-deliveries/\(Link.escaped(delivery.id))/redeliver"
    }
}

/// An attempt of a delivery as a row of a list.
struct DeliveryAttempt: Encodable, Sendable {
    let number: Int
    let at, attemptStatus, attemptStyle: String
    let error: String?
    let took: String
    let answer, signature, fault: String?
    let faultLink: String

    /// - Parameter shortened: cuts a text to the length that the page has space for.
    init(_ attempt: WebhookDelivery.Attempt, _ request: ConsoleRequest, shortened: (String) -> String = { $0 }) {
        number = attempt.number
        at = Moment.text(attempt.at)
        attemptStatus = attempt.status.map { "\($0)" } ?? "no answer"
        attemptStyle = attempt.hasSucceeded ? "good" : "bad"
        error = attempt.error.map(shortened)
        took = Moment.milliseconds(attempt.duration_ms)
        answer = attempt.answer.map(shortened)?.nonEmpty
        signature = attempt.signature
        fault = attempt.fault
        faultLink = "\(request.console)/rules#\(Link.escaped(attempt.fault ?? ""))"
    }
}

extension WebhookDelivery.Attempt {
    /// Whether the receiver answered with 2xx.
    var hasSucceeded: Bool { status.map { (200..<300).contains($0) } ?? false }
}

/// One delivery: its body and its attempts.
enum DeliveryPage {
    private struct View: Encodable, Sendable {
        let row: DeliveryRow
        let body: String?
        let eventID: String
        let format: String?
        let subscriptionID, subscriptionLink: String
        let attemptList: Rows<DeliveryAttempt>?
    }

    static func part(_ id: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let delivery = try await api.get("webhook-deliveries/\(Link.escaped(id))", as: WebhookDelivery.self)
        let now = try await api.get("clock", as: ClockState.self).epoch
        let view = View(
            row: DeliveryRow(delivery, now: now, request),
            body: delivery.body == .null ? nil : PrettyJSON.text(delivery.body), eventID: delivery.event_id,
            format: delivery.format, subscriptionID: delivery.subscription_id,
            subscriptionLink: "\(request.console)/webhooks#\(Link.escaped(delivery.subscription_id))",
            attemptList: Rows(delivery.attempts.map { DeliveryAttempt($0, request) }))
        return PagePart(
            section: "webhooks", title: "\(delivery.event) \(delivery.id)", template: "delivery", view: view)
    }
}

/// The page that checks a signature, for those who write a receiver.
enum CheckPage {
    static func part(_ request: ConsoleRequest) -> PagePart {
        PagePart(
            section: "webhooks", title: "Check a signature", template: "check",
            view: ["checkPath": "\(request.base)/_sim/webhooks/check-signature"])
    }
}
