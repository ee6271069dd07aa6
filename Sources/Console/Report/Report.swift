import AppComponentsAPI
import CConsole
import EntrupyAPI
import Foundation
import SimulationAPI

/// One page for a failure: everything that the console shows of a namespace, rendered ahead, in a file that needs no server
/// [D report]. Secrets are masked, as in the control API that it is read from.
package struct Report: Sendable {
    /// The page.
    package let html: String
    /// A sentence for each kind of thing that was left out.
    package let notes: [String]

    /// The maximum numbers of requests with their messages, and of items.
    static let maxRequests = 2000
    static let maxItems = 500
    static let maxDeliveries = 500
    static let maxEvents = 2000
    /// The maximum size of a shown body, in characters.
    static let maxBody = 6000
    /// The maximum size of all bodies, in UTF-8 bytes. Later ones are left out.
    static let maxBodies = 2_000_000
    /// The maximum size of all pictures together, in bytes.
    static let maxPictures = 1_500_000

    /// Reads a namespace through the control API and renders the page.
    ///
    /// - Parameters:
    ///   - title: the name of the bundle.
    ///   - gate: the namespace's scenario, verified; `nil` if it has none. Its failures come first on the page.
    ///   - picture: reads a picture by its path in the control API; `nil` if it is not there.
    package init(
        _ console: Console, title: String, gate: ReportGate? = nil, _ api: @escaping ControlAPI,
        picture: @escaping @Sendable (_ path: String) async -> Data?
    ) async throws {
        var reading = ReportReading(ControlReader(api), picture)
        var view = try await reading.view()
        view["title"] = title
        view["version"] = console.version
        view["gate"] = gate.map { [$0.view(hasRequests: reading.hasRequests)] } ?? []
        view["notes"] = reading.notes
        view["hasNotes"] = !reading.notes.isEmpty
        let script = String(decoding: ReportAsset.script, as: UTF8.self)
        let style = String(decoding: ConsoleAsset.style.bytes, as: UTF8.self)
        view["script"] = script
        view["style"] = style
        view["policy"] =
            "default-src 'none'; script-src \(ContentPolicy.source(of: script)); style-src \(ContentPolicy.source(of: style)); img-src data:; base-uri 'none'; form-action 'none'"
        html = try PageTemplates.render(view, "report")
        notes = reading.notes
    }
}

/// The verification of a scenario, as a report shows it.
package enum ReportGate: Sendable {
    case verified(ScenarioRun)
    /// The reason why the expectations of a scenario could not be checked.
    case unverifiable(name: String, reason: String)

    /// - Parameter hasRequests: whether the file holds any request; an exported snapshot holds none.
    fileprivate func view(hasRequests: Bool) -> View {
        switch self {
        case .unverifiable(let name, let reason):
            return ["name": name, "summary": "not checked", "isFailed": true, "reason": reason, "hasReason": true]
        case .verified(let run):
            let failures =
                run.timeline.filter { $0.state != "done" }.map { action -> View in
                    [
                        "check": "\(action.action) at \(Moment.text(action.at))", "line": "",
                        "problem": action.problem ?? "is still due: the clock did not pass it",
                    ]
                }
                + run.expectations.filter { !$0.passed }.map(Self.row)
            let met = run.expectations.filter(\.passed).map(Self.row)
            let notes = run.notes.map { note -> View in ["field": note.field, "problem": note.problem] }
            let noted = notes.isEmpty ? "" : ", with \(notes.count) \(notes.count == 1 ? "note" : "notes")"
            return [
                "name": run.name, "isFailed": !failures.isEmpty, "isMet": failures.isEmpty && notes.isEmpty,
                "isNoted": failures.isEmpty && !notes.isEmpty, "hasReason": false,
                "summary": (failures.isEmpty ? "all expectations are met" : "\(failures.count) not met") + noted,
                "notes": notes, "hasNotes": !notes.isEmpty,
                "failures": failures, "hasFailures": !failures.isEmpty, "met": met, "metCount": met.count,
                "hasMet": !met.isEmpty, "lacksRequests": !failures.isEmpty && !hasRequests,
            ]
        }
    }

    private static func row(_ check: ScenarioCheck) -> View {
        [
            "check": check.expectation, "problem": check.problem ?? "found \(check.found)",
            "line": check.line.map { "line \($0)" } ?? "",
        ]
    }
}

/// The script of a report.
enum ReportAsset {
    static let script = ConsoleAsset.read(entrupy_sim_report_script)
}

/// Reads what a report shows.
private struct ReportReading {
    private let api: ControlReader
    private let picture: @Sendable (String) async -> Data?
    private let request = ConsoleRequest(namespace: "default", path: [], query: [:], isReadOnly: true, url: "")
    private(set) var notes: [String] = []
    private(set) var hasRequests = false
    private var bodies = 0
    private var cutBodies = 0
    private var largePictures = 0
    private var pictures: [String: String] = [:]
    private var pictureBytes = 0

    init(_ api: ControlReader, _ picture: @escaping @Sendable (String) async -> Data?) {
        self.api = api
        self.picture = picture
    }

    mutating func view() async throws -> View {
        let info = try await api.get("info", as: ServerInfo.self)
        let now = info.namespace.clock.epoch
        let requests = try await requests()
        hasRequests = !requests.isEmpty
        let events = try await events()
        let deliveries = try await deliveries()
        let items = try await items(deliveries, now: now)
        let due = try await api.get("due", [("limit", "100")], as: DueList.self).due
        let faults = try await api.get("faults", as: FaultList.self).faults
        let outcomes = try await api.get("outcomes", as: OutcomeList.self).outcomes
        let users = try await api.get("users", [("limit", "200")], as: UserInfoList.self).users
        let sessions = try await api.get("components/sessions", [("limit", "200")], as: WorkflowSessionList.self)
            .sessions
        let chart = TimelineChart(
            events: events.suffix(500).map { .init(at: $0.at, kind: $0.kind, subject: $0.subject, data: $0.data) },
            due: due.map { .init(at: $0.at, kind: $0.kind, subject: $0.subject) }, snapshots: [], now: now, range: nil,
            request)
        noteWhatIsLeftOut()
        return [
            "now": Moment.text(now), "clockMode": info.namespace.clock.mode, "seed": info.namespace.seed,
            "randomSeed": "\(info.namespace.random_seed)", "itemCount": info.namespace.counts.authentications,
            "userCount": info.namespace.counts.users, "captureCount": info.namespace.counts.captures,
            "console": "", "base": "", "canChange": false, "readOnly": true, "cli": "",
            "requests": requests, "requestCount": requests.count, "chart": [chart.view],
            "events": events.reversed().map { event($0) }, "eventCount": events.count,
            "items": items, "shownItems": items.count,
            "deliveries": deliveries.map { delivery($0) }, "deliveryCount": deliveries.count,
            "due": due.map { entry -> View in
                [
                    "dueName": EventWords.due(entry.kind), "dueSubject": entry.subject, "dueAt": Moment.text(entry.at),
                    "left": Moment.span(entry.seconds_left),
                ]
            },
            "hasDue": !due.isEmpty,
            "faults": faults.map {
                [
                    "ruleID": $0.id, "match": PrettyJSON.line($0.match), "effect": PrettyJSON.line($0.effect),
                    "hits": $0.hits, "seen": $0.seen,
                ] as View
            },
            "hasFaults": !faults.isEmpty,
            "outcomes": outcomes.map {
                ["ruleID": $0.id, "match": PrettyJSON.line($0.match), "result": $0.result, "hits": $0.hits] as View
            },
            "hasOutcomes": !outcomes.isEmpty,
            "users": users.map {
                [
                    "user": $0.username, "email": $0.email ?? "", "sessionCount": $0.sessions,
                    "submissions": $0.submissions,
                ] as View
            },
            "sessions": sessions.map {
                [
                    "sessionID": $0.session_id, "status": $0.status, "workflow": $0.workflow?.name ?? "",
                    "json": PrettyJSON.text($0),
                ] as View
            },
            "hasSessions": !sessions.isEmpty,
            "settings": PrettyJSON.text(info.settings),
            "pictureMap": PrettyJSON.line(.object(JSONObject(pictures.map { ($0.key, JSONValue.string($0.value)) })))
                .replacing(each: "<", with: "\\u003c"),
        ]
    }

    private mutating func noteWhatIsLeftOut() {
        if cutBodies > 0 {
            notes.append(
                "Bodies that are cut: \(cutBodies). A report shows the first \(Report.maxBody) characters of each, and \(Report.maxBodies / 1_000_000) MB of all."
            )
        }
        if largePictures > 0 {
            notes.append(
                "Pictures that are left out: \(largePictures). A report holds pictures of up to 500 kB, and \(Report.maxPictures / 1000) kB of all."
            )
        }
    }

    private mutating func requests() async throws -> [View] {
        var list: [JournaledRequest] = []
        var cursor: String?
        repeat {
            let page = try await api.get("requests", [("limit", "1000"), ("cursor", cursor)], as: RequestList.self)
            list += page.requests
            cursor = page.next_cursor
        } while cursor != nil && list.count < Report.maxRequests
        if cursor != nil || list.count > Report.maxRequests {
            notes.append("Only the newest \(Report.maxRequests) requests are here; the bundle has more.")
        }
        var views: [View] = []
        for entry in list.prefix(Report.maxRequests) {
            let name = RequestPage.Name(entry)
            let whole = try await api.get(name.controlPath, name.query, as: JournaledRequest.self)
            var view = RequestRow.view(whole, request)
            view["requestID"] = whole.id
            view["sent"] = message(whole.request)
            view["answer"] = message(whole.response)
            view["decided"] = RequestRow.pills(whole.decided_by, request)
            view["words"] = words(of: whole)
            view["curl"] = Snippets(whole, url: nil).curl
            views.append(view)
        }
        return views
    }

    /// The words that the search of the report looks at.
    private func words(of entry: JournaledRequest) -> String {
        [
            entry.status.map { "status:\($0)" }, entry.status.map { "status:\($0 / 100)xx" },
            "delivered:\(entry.delivered)", "method:\(entry.method)", "route:\(entry.path)",
            entry.username.map { "user:\($0)" }, entry.test.map { "test:\($0)" }, entry.id,
            entry.decided_by.fault.map { "fault:\($0)" }, entry.query,
        ].compactMap { $0 }.joined(separator: " ").lowercased()
    }

    private mutating func message(_ message: JournaledMessage?) -> [View] {
        guard let message else { return [] }
        let whole = PrettyJSON.body(message.body ?? "")
        let shown = bodies > Report.maxBodies ? "" : String(whole.prefix(Report.maxBody))
        if shown.utf8.count < whole.utf8.count { cutBodies += 1 }
        bodies += shown.utf8.count
        return [
            [
                "headers": message.headers.filter { $0.count == 2 }.map { ["name": $0[0], "value": $0[1]] as View },
                "body": shown, "hasBody": !shown.isEmpty,
                "isCut": message.truncated || shown.utf8.count < whole.utf8.count,
                "size": SizeText.text(message.bytes), "isBinary": message.body == nil && message.bytes > 0,
            ]
        ]
    }

    /// The events, oldest first.
    private mutating func events() async throws -> [StateChange] {
        var list: [StateChange] = []
        var cursor: String?
        repeat {
            let page = try await api.get("event-log", [("limit", "1000"), ("cursor", cursor)], as: EventList.self)
            list += page.events
            cursor = page.next_cursor
        } while cursor != nil && list.count < Report.maxEvents
        if cursor != nil { notes.append("Only the newest \(Report.maxEvents) entries of the event log are here.") }
        return list.prefix(Report.maxEvents).reversed()
    }

    private func event(_ change: StateChange) -> View {
        var view = ChangeRow.view(change, request)
        view["hasLink"] = false
        view["words"] = "kind:\(change.kind) subject:\(change.subject)".lowercased()
        return view
    }

    private mutating func deliveries() async throws -> [WebhookDelivery] {
        var list: [WebhookDelivery] = []
        var cursor: String?
        repeat {
            let page = try await api.get(
                "webhook-deliveries", [("limit", "100"), ("cursor", cursor)], as: WebhookDeliveryList.self)
            list += page.deliveries
            cursor = page.next_cursor
        } while cursor != nil && list.count < Report.maxDeliveries
        if cursor != nil { notes.append("Only the newest \(Report.maxDeliveries) deliveries are here.") }
        return list
    }

    private func delivery(_ delivery: WebhookDelivery) -> View {
        var view = DeliveryRow.view(delivery, request)
        view["body"] = PrettyJSON.text(delivery.body)
        view["words"] = "event:\(delivery.event) status:\(delivery.status) \(delivery.entrupy_id ?? "") \(delivery.id)"
            .lowercased()
        view["attemptList"] = delivery.attempts.map { attempt -> View in
            [
                "number": attempt.number, "at": Moment.text(attempt.at),
                "attemptStatus": attempt.status.map { "\($0)" } ?? "no answer", "error": attempt.error ?? "",
                "answer": attempt.answer ?? "", "hasAnswer": !(attempt.answer ?? "").isEmpty,
                "took": "\((attempt.duration_ms * 10).rounded() / 10) ms",
            ]
        }
        return view
    }

    private mutating func items(_ deliveries: [WebhookDelivery], now: Double) async throws -> [View] {
        let list = try await api.get(
            "authentications", [("limit", "\(Report.maxItems)")], as: AuthenticationList.self)
        if list.next_cursor != nil { notes.append("Only \(Report.maxItems) items are here; the bundle has more.") }
        var views: [View] = []
        for summary in list.authentications {
            let item = try await api.get(
                "authentications/\(Link.escaped(summary.entrupy_id))", as: AuthenticationInfo.self)
            var view = ItemPage.state(item, now: now, request)
            var shown: [View] = []
            for picture in item.pictures {
                let key = await embedded(picture)
                shown.append([
                    "region": picture.region_id.replacing("_", with: " "), "size": SizeText.text(picture.bytes),
                    "picture": key ?? "", "isShown": key != nil,
                ])
            }
            view["pictures"] = shown
            view["words"] =
                "\(item.entrupy_id) \(item.customer_item_id ?? "") brand:\(item.v2.properties.brand_name ?? "") result:\(item.result.id.rawValue) flag:\(item.flag.id.rawValue) user:\(item.username)"
                .lowercased()
            let attempts = deliveries.filter { $0.entrupy_id == item.entrupy_id }
            let chart = TimelineChart(
                events: item.timeline.map { .init(at: $0.at, kind: $0.event, subject: item.entrupy_id, data: $0.data) }
                    + attempts.flatMap { delivery in
                        delivery.attempts.map { .init($0, of: delivery) }
                    },
                due: item.result_due_at.map { [.init(at: $0, kind: "result", subject: item.entrupy_id)] } ?? [],
                snapshots: [], now: now, range: nil, request)
            view["chart"] = [chart.view]
            view["history"] = item.timeline.map {
                event(StateChange(sequence: 0, at: $0.at, kind: $0.event, subject: item.entrupy_id, data: $0.data))
            }
            views.append(view)
        }
        return views
    }

    /// The key of a picture that the report holds; `nil` if it is left out.
    private mutating func embedded(_ picture: AuthenticationInfo.Picture) async -> String? {
        let path = Picture.path(picture.url, request)
        let key = path.split(separator: "/").last.map(String.init) ?? ""
        if pictures[key] != nil { return key }
        guard picture.bytes <= ItemsPage.maxPicture, pictureBytes + picture.bytes <= Report.maxPictures,
            let data = await self.picture(path)
        else {
            largePictures += 1
            return nil
        }
        pictureBytes += data.count
        let type =
            data.starts(with: [0x89, 0x50])
            ? "image/png" : data.starts(with: [0xff, 0xd8]) ? "image/jpeg" : "image/webp"
        pictures[key] = "data:\(type);base64,\(data.base64EncodedString())"
        return key
    }
}
