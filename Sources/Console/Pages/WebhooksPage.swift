import SimulationAPI

/// The subscriptions and deliveries.
enum WebhooksPage {
    private static let rows = 50
    private static let states = ["failed", "retrying", "waiting", "sending", "delivered", "cancelled"]
    /// The number of deliveries of each failed state that come before all others.
    private static let maxFailures = 20

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
        func link(_ status: String?) -> String { "\(request.console)/webhooks" + Link.query([("status", status)]) }
        let view: View = [
            "subscriptions": ordered(subscriptions).map { subscription($0, request) },
            "hasSubscriptions": !subscriptions.isEmpty, "noSubscriptions": subscriptions.isEmpty,
            "failures": failures.isEmpty
                ? [View]() : [["deliveries": failures.map { DeliveryRow.view($0, now: now, request) }] as View],
            "hasFailures": !failures.isEmpty, "hasMoreFailures": hasMoreFailures,
            "failedLink": link("failed"), "retryingLink": link("retrying"),
            "deliveries": others.map { DeliveryRow.view($0, now: now, request) },
            "hasDeliveries": !others.isEmpty, "noDeliveries": others.isEmpty && failures.isEmpty,
            "states": ([nil] + states.map(Optional.some)).map { state -> View in
                [
                    "name": state ?? "all", "isCurrent": state == status,
                    "stateLink": link(state),
                ]
            },
            "hasNext": deliveries.next_cursor != nil, "shellURL": Shell.quoted(request.url),
            "nextLink": "\(request.console)/webhooks"
                + Link.query([("status", status), ("cursor", deliveries.next_cursor)]),
        ]
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

    private static func subscription(_ subscription: SubscriptionInfo, _ request: ConsoleRequest) -> View {
        let failing = subscription.failing
        return [
            "key": subscription.id, "subscriptionID": subscription.id, "url": subscription.url,
            "organization": subscription.organization, "events": subscription.events.joined(separator: ", "),
            "username": subscription.username ?? "", "hasUsername": subscription.username != nil,
            "version": subscription.version, "format": subscription.format, "signature": subscription.signature,
            "status": subscription.status, "isPending": subscription.status == "pending",
            "verification": subscription.verification ?? "", "open": subscription.open_deliveries,
            "hasOpen": subscription.open_deliveries > 0, "isFailing": failing != nil,
            "failedEvent": failing?.event ?? "", "attempt": failing?.attempt ?? 0,
            "failedLink": "\(request.console)/webhooks/deliveries/\(Link.escaped(failing?.delivery ?? ""))",
            "failedAt": failing.map { Moment.text($0.at) } ?? "",
            "reason": failing.map { reason($0.status, $0.error) } ?? "",
        ]
    }
}

extension WebhooksPage {
    /// Why an attempt failed, in a few words.
    static func reason(_ status: Int?, _ error: String?) -> String {
        let parts = [status.map { "the receiver answered \($0)" }, error].compactMap { $0 }
        return parts.isEmpty ? "no answer" : parts.joined(separator: ", ")
    }
}

/// A delivery as a row of a list.
enum DeliveryRow {
    /// - Parameter now: the time of the namespace's clock; `nil` if the page does not show the time that is left.
    static func view(_ delivery: WebhookDelivery, now: Double? = nil, _ request: ConsoleRequest) -> View {
        let last = delivery.attempts.last
        let left = max(0, (delivery.next_attempt_at ?? 0) - (now ?? .infinity))
        return [
            "key": delivery.id, "deliveryID": delivery.id,
            "link": "\(request.console)/webhooks/deliveries/\(Link.escaped(delivery.id))",
            "event": delivery.event, "item": delivery.entrupy_id ?? "", "hasItem": delivery.entrupy_id != nil,
            "itemLink": "\(request.console)/items/\(Link.escaped(delivery.entrupy_id ?? ""))",
            "status": delivery.status, "statusStyle": Style.delivery(delivery.status),
            "url": delivery.url ?? "(deleted)",
            "attempts": delivery.attempts.count,
            "last": last.map { $0.status.map { "\($0)" } ?? $0.error ?? "no answer" } ?? "",
            "lastStyle": last.map { $0.status.map { (200..<300).contains($0) } ?? false ? "last good" : "last bad" }
                ?? "",
            "waits": delivery.waits_for != nil, "waitsFor": delivery.waits_for ?? "",
            "waitsLink": "\(request.console)/webhooks/deliveries/\(Link.escaped(delivery.waits_for ?? ""))",
            "isHeldBack": delivery.held_back != nil, "heldBack": delivery.held_back ?? "",
            "nextLeft": "\(left)", "nextIn": Moment.span(left),
            "at": Moment.text(delivery.created_at), "timeISO": Moment.iso(delivery.created_at),
            "hasNextAttempt": delivery.next_attempt_at != nil,
            "nextAttempt": delivery.next_attempt_at.map { Moment.text($0) } ?? "",
            "nextISO": delivery.next_attempt_at.map { Moment.iso($0) } ?? "",
            "redeliverPath": "\(request.base)/_sim/webhook-deliveries/\(Link.escaped(delivery.id))/redeliver",
        ]
    }
}

/// One delivery: its body and its attempts.
enum DeliveryPage {
    static func part(_ id: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let delivery = try await api.get("webhook-deliveries/\(Link.escaped(id))", as: WebhookDelivery.self)
        let now = try await api.get("clock", as: ClockState.self).epoch
        var view = DeliveryRow.view(delivery, now: now, request)
        view["body"] = PrettyJSON.text(delivery.body)
        view["hasBody"] = delivery.body != .null
        view["eventID"] = delivery.event_id
        view["format"] = delivery.format ?? ""
        view["subscriptionID"] = delivery.subscription_id
        view["subscriptionLink"] = "\(request.console)/webhooks#\(Link.escaped(delivery.subscription_id))"
        view["attemptList"] = delivery.attempts.map { attempt -> View in
            let isGood = attempt.status.map { (200..<300).contains($0) } ?? false
            return [
                "number": attempt.number, "at": Moment.text(attempt.at),
                "attemptStatus": attempt.status.map { "\($0)" } ?? "no answer", "attemptStyle": isGood ? "good" : "bad",
                "error": attempt.error ?? "", "hasError": attempt.error != nil,
                "took": "\((attempt.duration_ms * 10).rounded() / 10) ms", "answer": attempt.answer ?? "",
                "hasAnswer": !(attempt.answer ?? "").isEmpty, "signature": attempt.signature ?? "",
                "hasSignature": attempt.signature != nil, "fault": attempt.fault ?? "",
                "hasFault": attempt.fault != nil,
                "faultLink": "\(request.console)/rules#\(Link.escaped(attempt.fault ?? ""))",
            ]
        }
        view["hasAttempts"] = !delivery.attempts.isEmpty
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
