import SimulationAPI

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
        let deliveries: Rows<DeliveryRow>?
        let nextLink: String?
        let formats, signatures, eventChoices: [Option]
        /// The URLs of the subscriptions as a JSON array.
        let urls: String
    }

    private struct Subscription: Encodable, Sendable {
        let info: SubscriptionInfo
        let events: String
        let isPending: Bool
        let openDeliveries: Int?
        /// Why the last attempt failed; `nil` if it did not.
        let failed: String?
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let status = request.given("status", of: states)
        let subscriptions = try await api.get("webhooks", as: SubscriptionInfoList.self).webhooks
        let now = try await api.get("clock", as: ClockState.self).epoch
        let lists = try await api.get("choices", as: Choices.self).lists
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
        // Those whose deliveries fail come first.
        let ordered = subscriptions.filter { $0.failing != nil } + subscriptions.filter { $0.failing == nil }
        let view = View(
            subscriptions: Rows(ordered.map(subscription)),
            states: ([nil] + states.map(Optional.some)).map { state in
                Tab(name: state ?? "all", link: link([("status", state)]), isCurrent: state == status)
            },
            failures: Rows(failures.map { DeliveryRow($0, now: now) }), hasMoreFailures: hasMoreFailures,
            deliveries: Rows(others.map { DeliveryRow($0, now: now) }),
            nextLink: deliveries.next_cursor.map { link([("status", status), ("cursor", $0)]) },
            formats: Option.all(lists["webhook_formats"]), signatures: Option.all(lists["webhook_signatures"]),
            eventChoices: Option.all(lists["webhook_events"]),
            urls: PrettyJSON.line(.array(subscriptions.map { .string($0.url) })))
        return PagePart(section: "webhooks", title: "Webhooks", template: "webhooks", view: view)
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

    private static func subscription(_ subscription: SubscriptionInfo) -> Subscription {
        Subscription(
            info: subscription, events: subscription.events.joined(separator: ", "),
            isPending: subscription.status == "pending",
            openDeliveries: subscription.open_deliveries > 0 ? subscription.open_deliveries : nil,
            failed: subscription.failing.map { attempt in
                [attempt.status.map { "the receiver answered \($0)" }, attempt.error].compactMap { $0 }
                    .joined(separator: ", ").nonEmpty ?? "no answer"
            })
    }
}

struct DeliveryRow: Encodable, Sendable {
    let delivery: WebhookDelivery
    let statusStyle, url: String
    /// The last attempt's answer; empty if there was no attempt.
    let last: String
    let lastStyle: String
    let next: Countdown?

    init(_ delivery: WebhookDelivery, now: Double) {
        let attempt = delivery.attempts.last
        self.delivery = delivery
        statusStyle = Style.delivery(delivery.status)
        url = delivery.url?.maskingQuery ?? "(deleted)"
        last = attempt.map { $0.status.map { "\($0)" } ?? $0.error ?? "no answer" } ?? ""
        lastStyle = attempt.map { $0.hasSucceeded ? "last good" : "last bad" } ?? ""
        next = delivery.next_attempt_at.map { Countdown(to: $0, left: $0 - now) }
    }
}

struct DeliveryAttempt: Encodable, Sendable {
    let attempt: WebhookDelivery.Attempt
    let attemptStatus, attemptStyle: String
    let error: String?
    let took: String
    let answer: String?

    /// - Parameter shortened: cuts a text to the length that the page has space for.
    init(_ attempt: WebhookDelivery.Attempt, shortened: (String) -> String = { $0 }) {
        self.attempt = attempt
        attemptStatus = attempt.status.map { "\($0)" } ?? "no answer"
        attemptStyle = attempt.hasSucceeded ? "good" : "bad"
        error = attempt.error.map(shortened)
        took = Moment.milliseconds(attempt.duration_ms)
        answer = attempt.answer.map(shortened)?.nonEmpty
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
        let attemptList: Rows<DeliveryAttempt>?
    }

    static func part(_ id: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let delivery = try await api.get("webhook-deliveries/\(URLPart.escaped(id))", as: WebhookDelivery.self)
        let now = try await api.get("clock", as: ClockState.self).epoch
        let view = View(
            row: DeliveryRow(delivery, now: now),
            body: delivery.body == .null ? nil : PrettyJSON.text(delivery.body),
            attemptList: Rows(delivery.attempts.map { DeliveryAttempt($0) }))
        return PagePart(
            section: "webhooks", title: "\(delivery.event) \(delivery.id)", template: "delivery", view: view)
    }
}
