import EntrupyAPI
import Foundation
import SimulationAPI

/// One item: its state, its history, its forms in every API, and what can be done with it.
enum ItemPage {
    static func part(_ id: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let path = "authentications/\(Link.escaped(id))"
        let item = try await api.get(path, as: AuthenticationInfo.self)
        let choices = try await api.get("choices", as: Choices.self).lists
        let clock = try await api.get("clock", as: ClockState.self)
        let deliveries = try await api.get(
            "webhook-deliveries", [("entrupy_id", item.entrupy_id), ("limit", "20")], as: WebhookDeliveryList.self)
        let rules = try await api.get("\(path)/rules", as: RuleMatchList.self)
        let captured =
            item.capture_id == nil
            ? []
            : try await api.get("event-log", [("subject", item.capture_id), ("limit", "50")], as: EventList.self).events
        var view = state(item, now: clock.epoch, request)
        let mode = item.v2.activity.name == "authentication" ? nil : item.v2.activity.mode
        view["results"] = Options.view(
            choices["results"]?.filter { choice in
                let result = ResultID(rawValue: choice.id)
                return (mode == "compare" || !result.isOfComparisonsOnly)
                    && (mode == "register" || !result.isOfRegistrationsOnly)
            }, chosen: item.result.id.rawValue)
        view["reasons"] = Options.view(choices["invalid_reasons"], chosen: item.result.reason)
        view["events"] = Options.view(choices["webhook_events"], chosen: nil)
        view["deliveries"] = deliveries.deliveries.map { DeliveryRow.view($0, now: clock.epoch, request) }
        view["hasDeliveries"] = !deliveries.deliveries.isEmpty
        let matches = rules.rules
        view["matches"] = matches.map { Matches.view($0, request) }
        view["hasMatches"] = !matches.isEmpty
        var events = item.timeline.map {
            TimelineChart.Event(at: $0.at, kind: $0.event, subject: item.entrupy_id, data: $0.data)
        }
        events += captured.map {
            TimelineChart.Event(at: $0.at, kind: $0.kind, subject: $0.subject, data: $0.data)
        }
        for delivery in deliveries.deliveries {
            events += delivery.attempts.map { TimelineChart.Event($0, of: delivery) }
        }
        var due: [TimelineChart.Due] = []
        if let at = item.result_due_at { due.append(.init(at: at, kind: "result", subject: item.entrupy_id)) }
        due += deliveries.deliveries.compactMap { delivery in
            delivery.next_attempt_at.map { TimelineChart.Due(at: $0, kind: "webhook.attempt", subject: delivery.id) }
        }
        let chart = TimelineChart(
            events: events, due: due, snapshots: [], now: clock.epoch, range: nil, request)
        view["chart"] = [chart.view]
        return PagePart(section: "items", title: "Item \(item.entrupy_id)", template: "item", view: view)
    }

    static func state(_ item: AuthenticationInfo, now: Double, _ request: ConsoleRequest) -> View {
        let fields = item.item.members ?? [:]
        func field(_ name: String) -> String { fields[name]?.text ?? "" }
        var undo: JSONObject = ["result": .string(item.result.id.rawValue)]
        undo["reason"] = item.result.reason.map { .string($0) }
        let flag = item.flag.flag_info
        return [
            "itemID": item.entrupy_id, "whyLink": request.console + ExplanationPage.path(item.entrupy_id),
            "controlPath": "\(request.base)/_sim/authentications/\(Link.escaped(item.entrupy_id))",
            "brand": item.v2.properties.brand_name ?? "", "customerID": item.customer_item_id ?? "",
            "hasCustomerID": item.customer_item_id != nil,
            "user": item.username, "userLink": "\(request.console)/users/\(Link.escaped(item.username))",
            "result": item.result.id.rawValue, "isPending": !item.result.final,
            "resultStyle": Style.result(item.result.id.rawValue, isFinal: item.result.final),
            "reason": item.result.reason ?? "", "hasReason": item.result.reason != nil,
            "decidedBy": EventWords.rule(item.decided_by),
            "hasDue": item.result_due_at != nil,
            "due": item.result_due_at.map { Moment.text($0) } ?? "",
            "dueISO": item.result_due_at.map { Moment.iso($0) } ?? "",
            "dueLeft": item.result_due_at.map { "\(max(0, $0 - now))" } ?? "",
            "dueIn": item.result_due_at.map { Moment.span($0 - now) } ?? "",
            "flag": item.flag.id.rawValue, "flagStyle": Style.flag(item.flag.id.rawValue),
            "isFlagged": item.flag.id == .flagged, "isFlaggable": item.flag.is_flaggable,
            "hasFlagInfo": flag != nil, "flagLabel": flag?.label ?? "", "flagMessage": flag?.message ?? "",
            "hasFlagMessage": flag?.message != nil,
            "undo": PrettyJSON.line(.object(undo)),
            "hasCertificate": item.certificate_id != nil,
            "isWithdrawn": item.certificate_id != nil && item.v2.certificate == nil,
            "certificateLink": item.certificate_id.map { "\(request.base)/certificates/\(Link.escaped($0))" } ?? "",
            "certificateID": item.certificate_id ?? "",
            "captureID": item.capture_id ?? "", "hasCapture": item.capture_id != nil,
            "captureLink": "\(request.console)/captures?status=all#\(Link.escaped(item.capture_id ?? ""))",
            "fields": fields.keys.sorted().map {
                ["name": $0, "value": fields[$0].map { $0.text ?? PrettyJSON.line($0) } ?? ""] as View
            },
            "pictures": item.pictures.map { picture in
                [
                    "region": picture.region_id.replacing("_", with: " "), "regionID": picture.region_id,
                    "picture": Picture.path(picture.url, request), "size": SizeText.text(picture.bytes),
                    "isShown": picture.bytes <= ItemsPage.maxPicture,
                ] as View
            },
            "hasPictures": !item.pictures.isEmpty,
            "history": item.timeline.reversed().map {
                ChangeRow.view(
                    StateChange(sequence: 0, at: $0.at, kind: $0.event, subject: item.entrupy_id, data: $0.data),
                    request)
            },
            "sdk": PrettyJSON.text(item.sdk), "v1": PrettyJSON.text(item.v1), "v2": PrettyJSON.text(item.v2),
        ]
    }
}
