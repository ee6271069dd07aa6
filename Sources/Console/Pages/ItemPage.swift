import EntrupyAPI
import Foundation
import SimulationAPI

/// One item: its state, its history, its forms in every API, and what can be done with it.
enum ItemPage {
    private struct View: Encodable, Sendable {
        let item: ItemState
        let results, reasons, events: [Option]
        let deliveries: Rows<DeliveryRow>?
        let matches: Rows<RuleMatch>?
        let chart: TimelineChart.View
    }

    static func part(_ id: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let path = "authentications/\(URLPart.escaped(id))"
        let item = try await api.get(path, as: AuthenticationInfo.self)
        let choices = try await api.get("choices", as: Choices.self).lists
        let now = try await api.get("clock", as: ClockState.self).epoch
        let deliveries = try await api.get(
            "webhook-deliveries", [("entrupy_id", item.entrupy_id), ("limit", "20")], as: WebhookDeliveryList.self
        ).deliveries
        let rules = try await api.get("\(path)/rules", as: RuleMatchList.self).rules
        let captured =
            item.capture_id == nil ? [] : try await api.events([("subject", item.capture_id), ("limit", "50")])
        let mode = item.v2.activity.name == "authentication" ? nil : item.v2.activity.mode
        let results = choices["results"]?.filter { choice in
            let result = ResultID(rawValue: choice.id)
            return (mode == "compare" || !result.isOfComparisonsOnly)
                && (mode == "register" || !result.isOfRegistrationsOnly)
        }
        let attempts = deliveries.flatMap { delivery in delivery.attempts.map { StateChange($0, of: delivery) } }
        let due = deliveries.compactMap { delivery in
            delivery.next_attempt_at.map { DueEntry("webhook.attempt", of: delivery.id, at: $0) }
        }
        let view = View(
            item: ItemState(item, Names(choices), now: now, request),
            results: Option.all(results, chosen: item.result.id.rawValue),
            reasons: Option.all(choices["invalid_reasons"], chosen: item.result.reason),
            events: Option.all(choices["webhook_events"]),
            deliveries: Rows(deliveries.map { DeliveryRow($0, now: now) }),
            matches: Rows(rules),
            chart: TimelineChart(of: item, with: captured + attempts, due, now: now, request).view)
        return PagePart(section: "items", title: "Item \(item.entrupy_id)", template: "item", view: view)
    }
}

/// An item with its history and its forms in every API.
struct ItemState: Encodable, Sendable {
    let item: AuthenticationInfo
    let resultStyle, decidedBy: String
    /// The reason of the result, by its name.
    let reason: String?
    /// `nil` if no result is due.
    let due: Countdown?
    let flagStyle: String
    let isFlagged: Bool
    /// The body that sets the result again.
    let undo: String
    let isWithdrawn: Bool
    /// The item as the app described it.
    let fields: [NamedText]
    var pictures: Rows<Photo>?
    var history: [ChangeRow]
    let sdk, v1, v2: String

    struct Photo: Encodable, Sendable {
        let picture: AuthenticationInfo.Picture
        let path: String
        /// Whether the photo is small enough to be shown.
        let isShown: Bool
    }

    init(_ item: AuthenticationInfo, _ names: Names, now: Double, _ request: ConsoleRequest) {
        var undo: JSONObject = ["result": .string(item.result.id.rawValue)]
        undo["reason"] = item.result.reason.map { .string($0) }
        self.item = item
        resultStyle = Style.result(item.result.id.rawValue, isFinal: item.result.final)
        reason = item.result.reason.map { names.value($0, of: "reason") }
        decidedBy = EventWords.rule(item.decided_by)
        due = item.result_due_at.map { Countdown(to: $0, left: $0 - now) }
        flagStyle = Style.flag(item.flag.id.rawValue)
        isFlagged = item.flag.id == .flagged
        self.undo = PrettyJSON.line(.object(undo))
        isWithdrawn = item.certificate_id != nil && item.v2.certificate == nil
        fields = (item.item.members ?? [:]).sorted.map { name, value in
            NamedText(name: name, value: value.text.map { names.value($0, of: name) } ?? PrettyJSON.line(value))
        }
        pictures = Rows(
            item.pictures.map { picture in
                Photo(
                    picture: picture, path: Picture.path(picture.url, request),
                    isShown: picture.bytes <= ItemsPage.maxPicture)
            })
        history = item.timeline.reversed().map { ChangeRow(StateChange($0, of: item.entrupy_id), request) }
        sdk = PrettyJSON.text(item.sdk)
        v1 = PrettyJSON.text(item.v1)
        v2 = PrettyJSON.text(item.v2)
    }
}

extension StateChange {
    /// An entry of an item's timeline, without its number in the event log.
    init(_ entry: AuthenticationInfo.TimelineEntry, of entrupyID: String) {
        self.init(sequence: 0, at: entry.at, kind: entry.event, subject: entrupyID, data: entry.data)
    }
}

extension TimelineChart {
    /// The chart of an item.
    ///
    /// - Parameters:
    ///   - others: what happened besides the item's own timeline.
    ///   - due: what is due besides its result.
    init(
        of item: AuthenticationInfo, with others: [StateChange], _ due: [DueEntry] = [], now: Double,
        _ request: ConsoleRequest
    ) {
        let result = item.result_due_at.map { [DueEntry("result", of: item.entrupy_id, at: $0)] } ?? []
        self.init(
            events: item.timeline.map { StateChange($0, of: item.entrupy_id) } + others, due: result + due,
            snapshots: [], now: now, range: nil, request)
    }
}

extension DueEntry {
    /// Work as a chart draws it, which needs no more of it.
    fileprivate init(_ kind: String, of subject: String, at moment: Double) {
        self.init(kind: kind, subject: subject, since: nil, at: moment, seconds_left: 0)
    }
}
