import SimulationAPI

/// The subscriptions and deliveries.
enum WebhooksPage {
    private static let rows = 50
    private static let states = ["waiting", "sending", "retrying", "delivered", "failed", "cancelled"]

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let status = request.given("status", of: states)
        let subscriptions = try await api.get("webhooks", as: SubscriptionInfoList.self).webhooks
        let deliveries = try await api.get(
            "webhook-deliveries",
            [
                ("limit", "\(rows)"), ("cursor", request.given("cursor")), ("status", status),
                ("entrupy_id", request.given("item")),
            ], as: WebhookDeliveryList.self)
        let list = deliveries
        let view: View = [
            "subscriptions": subscriptions.map { subscription($0) }, "hasSubscriptions": !subscriptions.isEmpty,
            "noSubscriptions": subscriptions.isEmpty,
            "deliveries": list.deliveries.map { DeliveryRow.view($0, request) },
            "hasDeliveries": !list.deliveries.isEmpty, "noDeliveries": list.deliveries.isEmpty,
            "states": ([nil] + states.map(Optional.some)).map { state -> View in
                [
                    "name": state ?? "all", "isCurrent": state == status,
                    "stateLink": "\(request.console)/webhooks" + Link.query([("status", state)]),
                ]
            },
            "hasNext": list.next_cursor != nil, "shellURL": Shell.quoted(request.url),
            "nextLink": "\(request.console)/webhooks" + Link.query([("status", status), ("cursor", list.next_cursor)]),
        ]
        return PagePart(section: "webhooks", title: "Webhooks", template: "webhooks", view: view)
    }

    private static func subscription(_ subscription: SubscriptionInfo) -> View {
        [
            "key": subscription.id, "subscriptionID": subscription.id, "url": subscription.url,
            "organization": subscription.organization, "events": subscription.events.joined(separator: ", "),
            "username": subscription.username ?? "", "hasUsername": subscription.username != nil,
            "version": subscription.version, "format": subscription.format, "signature": subscription.signature,
            "status": subscription.status, "isPending": subscription.status == "pending",
            "verification": subscription.verification ?? "", "open": subscription.open_deliveries,
        ]
    }
}

/// A delivery as a row of a list.
enum DeliveryRow {
    static func view(_ delivery: WebhookDelivery, _ request: ConsoleRequest) -> View {
        let last = delivery.attempts.last
        return [
            "key": delivery.id, "deliveryID": delivery.id,
            "link": "\(request.console)/webhooks/deliveries/\(Link.escaped(delivery.id))",
            "event": delivery.event, "item": delivery.entrupy_id ?? "", "hasItem": delivery.entrupy_id != nil,
            "itemLink": "\(request.console)/items/\(Link.escaped(delivery.entrupy_id ?? ""))",
            "status": delivery.status, "statusStyle": Style.delivery(delivery.status),
            "url": delivery.url ?? "(deleted)",
            "attempts": delivery.attempts.count,
            "last": last.map { $0.status.map { "\($0)" } ?? $0.error ?? "no answer" } ?? "",
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
        var view = DeliveryRow.view(delivery, request)
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
