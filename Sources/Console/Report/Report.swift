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

    /// The maximum number of entries that are looked at, of each kind.
    static let maxRequests = 20_000
    static let maxItems = 500
    static let maxDeliveries = 1000
    static let maxEvents = 2000
    /// The maximum number of requests that are shown around the reasons.
    static let maxAround = 50
    /// The maximum size of a shown body, in characters.
    static let maxBody = 6000
    /// The maximum size of a page, in bytes. The spaces of its parts and what is written around them stay below.
    package static let maxBytes = 2_000_000

    /// The maximum size of each part of the page, in bytes of HTML. Together they are more than a page has: the parts that are
    /// made first take what they need.
    enum Space {
        static let around = 450_000
        static let requests = 350_000
        /// Requests without their messages.
        static let lines = 150_000
        static let items = 450_000
        static let chart = 150_000
        static let events = 150_000
        static let deliveries = 200_000
        static let rules = 60_000
        static let users = 30_000
        static let sessions = 40_000
        /// What is measured on its own: the rows of the scenario's verification, those that failed and each other kind; what is due;
        /// the settings.
        static let failures = 60_000
        static let checks = 20_000
        static let due = 20_000
        static let settings = 30_000
        /// The lists of the reasons, whose number and length are bounded.
        static let reasons = 220_000
        /// What is written around the parts.
        static let rest = 60_000
        static let all = maxBytes - failures - 2 * checks - due - settings - reasons - rest
    }

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
        var reading = ReportReading(ControlReader(api), picture, gate)
        var view = try await reading.view()
        view["title"] = ReportReasons.short(title)
        view["version"] = console.version
        let script = String(decoding: ReportAsset.script, as: UTF8.self)
        let style = String(decoding: ConsoleAsset.style.bytes, as: UTF8.self)
        view["script"] = script
        view["style"] = style
        view["policy"] =
            "default-src 'none'; script-src \(ContentPolicy.source(of: script)); style-src \(ContentPolicy.source(of: style)); img-src data:; base-uri 'none'; form-action 'none'"
        view["pictureMap"] = ""
        let size = try PageTemplates.render(view, "report").utf8.count
        view["pictureMap"] = await reading.pictures(bytes: Self.maxBytes - Space.rest - size)
        reading.noteWhatIsLeftOut()
        view["notes"] = reading.notes
        view["hasNotes"] = !reading.notes.isEmpty
        html = try PageTemplates.render(view, "report")
        notes = reading.notes
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
    private let gate: ReportGate?
    private let request = ConsoleRequest(namespace: "default", path: [], query: [:], isReadOnly: true, url: "")
    private(set) var notes: [String] = []
    /// The space that is left for the parts of the page, in bytes.
    private var left = Report.Space.all
    private var cutBodies = 0
    private var largePictures = 0
    /// The pictures of the shown items: the key, the path and the size of each, in the order of the items.
    private var wanted: [(key: String, path: String, bytes: Int)] = []

    init(_ api: ControlReader, _ picture: @escaping @Sendable (String) async -> Data?, _ gate: ReportGate?) {
        self.api = api
        self.picture = picture
        self.gate = gate
    }

    mutating func view() async throws -> View {
        let info = try await api.get("info", as: ServerInfo.self)
        let now = info.namespace.clock.epoch
        let deliveries = try await deliveries()
        let faults = try await api.get("faults", as: FaultList.self).faults
        let outcomes = try await api.get("outcomes", as: OutcomeList.self).outcomes
        let reasons = ReportReasons(gate, try await requests(), deliveries, faults, outcomes)
        let bySequence = Dictionary(
            reasons.requests.compactMap { entry in entry.sequence.map { ($0, entry) } }, uniquingKeysWith: { $1 })
        var view: View = [
            "now": Moment.text(now), "clockMode": info.namespace.clock.mode, "seed": info.namespace.seed,
            "randomSeed": "\(info.namespace.random_seed)", "itemCount": info.namespace.counts.authentications,
            "userCount": info.namespace.counts.users, "captureCount": info.namespace.counts.captures,
            "console": "", "base": "", "canChange": false, "readOnly": true, "cli": "",
            "requestCount": reasons.requests.count,
            "why": [try await reasons.view { [api] in try await Self.error(of: $0, api) }],
            "gate": try gate.map {
                [try $0.view(hasRequests: !reasons.requests.isEmpty) { bySequence[$0] }]
            } ?? [],
        ]
        try await add(requests: reasons, to: &view)
        try await add(items: deliveries, now: now, to: &view)
        try await add(eventsAt: now, to: &view)
        try add(deliveries, to: &view)
        try add(faults, outcomes, to: &view)
        try await add(usersTo: &view)
        let settings = PrettyJSON.text(info.settings)
        view["settings"] = String(settings.prefix(Report.Space.settings / 6))
        return view
    }

    /// Notes what the page does not have, and how to see it.
    mutating func noteWhatIsLeftOut() {
        if cutBodies > 0 {
            notes.append(
                "Bodies that are cut: \(cutBodies). A report shows the first \(Report.maxBody) characters of each.")
        }
        if largePictures > 0 {
            notes.append("Pictures that are left out: \(largePictures).")
        }
        guard !notes.isEmpty else { return }
        notes.append(
            "A report is at most \(Report.maxBytes / 1_000_000) MB. The bundle has everything: entrupy-sim serve --bundle FILE, then the console or entrupy-sim requests list."
        )
    }

    /// The space of a part of the page.
    private func space(_ bytes: Int) -> ReportSpace { ReportSpace(bytes: min(bytes, left)) }

    /// Takes the HTML of a part.
    private mutating func taken(_ space: ReportSpace) -> String {
        left -= space.html.utf8.count
        return space.html
    }

    private mutating func note(_ shown: Int, of all: Int, _ things: String) {
        if shown < all { notes.append("Only \(shown) of \(all) \(things) are here.") }
    }

    // MARK: Requests

    /// All requests, oldest first, without their messages.
    private mutating func requests() async throws -> [JournaledRequest] {
        var list: [JournaledRequest] = []
        var cursor: String?
        repeat {
            let page = try await api.get("requests", [("limit", "1000"), ("cursor", cursor)], as: RequestList.self)
            list += page.requests
            cursor = page.next_cursor
        } while cursor != nil && list.count < Report.maxRequests
        if cursor != nil { notes.append("Only the newest \(Report.maxRequests) requests were looked at.") }
        return list.reversed()
    }

    private mutating func add(requests reasons: ReportReasons, to view: inout View) async throws {
        var near = self.space(Report.Space.around)
        var shown: Set<Int64> = []
        for entry in reasons.around(limit: Report.maxAround) {
            let added =
                try near.add(try await whole(entry), "report-request") || near.add(line(entry), "report-request")
            guard added, let sequence = entry.sequence else { continue }
            shown.insert(sequence)
        }
        let others = reasons.requests.reversed().filter { !($0.sequence.map(shown.contains) ?? false) }
        view["around"] = taken(near)
        var rest = self.space(Report.Space.requests)
        // Both at once, so that neither takes the space of the other.
        var lines = self.space(max(0, min(Report.Space.lines, left - Report.Space.requests)))
        for entry in others {
            if !rest.isFull, try rest.add(try await whole(entry), "report-request") { continue }
            guard try lines.add(line(entry), "report-request") else { break }
        }
        if lines.count > 0 { notes.append("Of \(lines.count) older requests only the first line is here.") }
        note(near.count + rest.count + lines.count, of: reasons.requests.count, "requests")
        view["aroundCount"] = near.count
        view["hasAround"] = near.count > 0
        view["others"] = taken(rest) + taken(lines)
        view["hasOthers"] = rest.count + lines.count > 0
    }

    /// A request with its messages.
    private mutating func whole(_ entry: JournaledRequest) async throws -> View {
        let name = RequestPage.Name(entry)
        let whole = try await api.get(name.controlPath, name.query, as: JournaledRequest.self)
        var view = line(whole)
        view["sent"] = message(whole.request)
        view["answer"] = message(whole.response)
        let curl = Snippets(whole, url: nil).curl
        view["curl"] = String(curl.prefix(Report.maxBody))
        view["hasCurl"] = true
        return view
    }

    /// A request without its messages.
    private func line(_ entry: JournaledRequest) -> View {
        var view = RequestRow.view(entry, request)
        view["requestID"] = entry.id
        view["anchor"] = ReportReasons.anchor(entry.sequence)
        view["number"] = entry.sequence.map { "#\($0)" } ?? ""
        view["because"] = ReportReasons.short(entry.because ?? "")
        view["hasBecause"] = entry.because != nil
        view["decided"] = RequestRow.pills(entry.decided_by, request)
        view["words"] = words(of: entry)
        return view
    }

    /// The error in the body of an answer; `nil` if it has none.
    private static func error(of entry: JournaledRequest, _ api: ControlReader) async throws -> String? {
        let name = RequestPage.Name(entry)
        let whole = try await api.get(name.controlPath, name.query, as: JournaledRequest.self)
        guard let body = whole.response?.body else { return nil }
        // An answer need not be JSON: faults may give any body.
        return (try? WireJSON.decode(JSONValue.self, from: Data(body.utf8)))?.members?["error"]?.text
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
        let shown = String(whole.prefix(Report.maxBody))
        if shown.utf8.count < whole.utf8.count { cutBodies += 1 }
        return [
            [
                "headers": message.headers.filter { $0.count == 2 }.map { ["name": $0[0], "value": $0[1]] as View },
                "body": shown, "hasBody": !shown.isEmpty,
                "isCut": message.truncated || shown.utf8.count < whole.utf8.count,
                "size": SizeText.text(message.bytes), "isBinary": message.body == nil && message.bytes > 0,
            ]
        ]
    }

    // MARK: The rest

    private mutating func add(eventsAt now: Double, to view: inout View) async throws {
        var events: [StateChange] = []
        var cursor: String?
        repeat {
            let page = try await api.get("event-log", [("limit", "1000"), ("cursor", cursor)], as: EventList.self)
            events += page.events
            cursor = page.next_cursor
        } while cursor != nil && events.count < Report.maxEvents
        let due = try await api.get("due", [("limit", "100")], as: DueList.self).due
        var chart = self.space(Report.Space.chart)
        // A chart of fewer events where a long one has no space.
        for count in [500, 100, 20] where chart.count == 0 {
            let drawn = TimelineChart(
                events: events.prefix(count).reversed().map {
                    .init(at: $0.at, kind: $0.kind, subject: $0.subject, data: $0.data)
                }, due: due.map { .init(at: $0.at, kind: $0.kind, subject: $0.subject) }, snapshots: [], now: now,
                range: nil, request)
            try chart.add(["console": "", "base": ""].merging(drawn.view) { $1 }, "chart")
        }
        view["chart"] = taken(chart)
        var list = self.space(Report.Space.events)
        try list.add(all: events.map { event($0) }, "report-event")
        if cursor != nil || list.count < events.count {
            notes.append("Only the newest \(list.count) entries of the event log are here.")
        }
        view["events"] = taken(list)
        view["eventCount"] = list.count
        var rows = ReportSpace(bytes: Report.Space.due)
        try rows.add(
            all: due.map {
                [
                    "dueName": EventWords.due($0.kind), "dueSubject": $0.subject, "dueAt": Moment.text($0.at),
                    "left": Moment.span($0.seconds_left),
                ]
            }, "report-due")
        note(rows.count, of: due.count, "things that are due")
        view["due"] = rows.html
        view["hasDue"] = !due.isEmpty
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
        if cursor != nil { notes.append("Only the newest \(list.count) deliveries were looked at.") }
        return list
    }

    private mutating func add(_ deliveries: [WebhookDelivery], to view: inout View) throws {
        var space = self.space(Report.Space.deliveries)
        try space.add(all: deliveries.map { delivery($0) }, "report-delivery")
        note(space.count, of: deliveries.count, "deliveries")
        view["deliveries"] = taken(space)
    }

    private func delivery(_ delivery: WebhookDelivery) -> View {
        var view = DeliveryRow.view(delivery, request)
        view["body"] = String(PrettyJSON.text(delivery.body).prefix(Report.maxBody))
        view["words"] = "event:\(delivery.event) status:\(delivery.status) \(delivery.entrupy_id ?? "") \(delivery.id)"
            .lowercased()
        view["attemptList"] = delivery.attempts.map { attempt -> View in
            [
                "number": attempt.number, "at": Moment.text(attempt.at),
                "attemptStatus": attempt.status.map { "\($0)" } ?? "no answer",
                "error": ReportReasons.short(attempt.error ?? ""), "answer": ReportReasons.short(attempt.answer ?? ""),
                "hasAnswer": !(attempt.answer ?? "").isEmpty,
                "took": "\((attempt.duration_ms * 10).rounded() / 10) ms",
            ]
        }
        return view
    }

    private mutating func add(_ faults: [FaultInfo], _ outcomes: [OutcomeInfo], to view: inout View) throws {
        var first = self.space(Report.Space.rules / 2)
        try first.add(
            all: faults.map {
                [
                    "ruleID": $0.id, "match": PrettyJSON.line($0.match), "effect": PrettyJSON.line($0.effect),
                    "hits": "\($0.hits) of \($0.seen) matches",
                ]
            }, "report-rule")
        view["faults"] = taken(first)
        var second = self.space(Report.Space.rules / 2)
        try second.add(
            all: outcomes.map {
                [
                    "ruleID": $0.id, "match": PrettyJSON.line($0.match), "effect": $0.result,
                    "hits": "\($0.hits) decided",
                ]
            }, "report-rule")
        note(first.count, of: faults.count, "faults")
        note(second.count, of: outcomes.count, "outcome rules")
        view["hasFaults"] = !faults.isEmpty
        view["outcomes"] = taken(second)
        view["hasOutcomes"] = !outcomes.isEmpty
    }

    private mutating func add(usersTo view: inout View) async throws {
        let page = try await api.get("users", [("limit", "200")], as: UserInfoList.self)
        var space = self.space(Report.Space.users)
        try space.add(
            all: page.users.map {
                [
                    "user": $0.username, "email": $0.email ?? "", "sessionCount": $0.sessions,
                    "submissions": $0.submissions,
                ]
            }, "report-user")
        if page.next_cursor != nil || space.isFull { notes.append("Only \(space.count) users are here.") }
        view["users"] = taken(space)
        let sessions = try await api.get("components/sessions", [("limit", "200")], as: WorkflowSessionList.self)
        var others = self.space(Report.Space.sessions)
        try others.add(
            all: sessions.sessions.map {
                [
                    "sessionID": $0.session_id, "status": $0.status, "workflow": $0.workflow?.name ?? "",
                    "json": PrettyJSON.text($0),
                ]
            }, "report-session")
        if sessions.next_cursor != nil || others.isFull {
            notes.append("Only \(others.count) sessions of App Components are here.")
        }
        view["sessions"] = taken(others)
        view["hasSessions"] = !sessions.sessions.isEmpty
    }

    // MARK: Items

    private mutating func add(items deliveries: [WebhookDelivery], now: Double, to view: inout View) async throws {
        let list = try await api.get(
            "authentications", [("limit", "\(Report.maxItems)")], as: AuthenticationList.self)
        var space = self.space(Report.Space.items)
        for summary in list.authentications {
            let item = try await api.get(
                "authentications/\(Link.escaped(summary.entrupy_id))", as: AuthenticationInfo.self)
            guard try space.add(self.view(of: item, deliveries, now: now), "report-item") else { break }
            for picture in item.pictures {
                let path = Picture.path(picture.url, request)
                let key = Self.key(path)
                if !wanted.contains(where: { $0.key == key }) { wanted.append((key, path, picture.bytes)) }
            }
        }
        if space.isFull || list.next_cursor != nil { notes.append("Only the newest \(space.count) items are here.") }
        view["items"] = taken(space)
        view["hasItems"] = space.count > 0
    }

    private func view(of item: AuthenticationInfo, _ deliveries: [WebhookDelivery], now: Double) -> View {
        var view = ItemPage.state(item, now: now, request)
        view["console"] = ""
        view["base"] = ""
        view["pictures"] = item.pictures.map { picture -> View in
            [
                "region": picture.region_id.replacing("_", with: " "), "size": SizeText.text(picture.bytes),
                "picture": Self.key(Picture.path(picture.url, request)),
            ]
        }
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
        return view
    }

    private static func key(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// The pictures of the items as a JSON object of data URLs by their keys, for the page's script.
    ///
    /// - Parameter bytes: the maximum size.
    mutating func pictures(bytes: Int) async -> String {
        var map: [(String, JSONValue)] = []
        var left = bytes
        for picture in wanted {
            // Base64 takes four bytes for three; the rest is the key and the quotes.
            guard picture.bytes <= ItemsPage.maxPicture, (picture.bytes + 2) / 3 * 4 + 200 <= left,
                let data = await self.picture(picture.path), (data.count + 2) / 3 * 4 + 200 <= left
            else {
                largePictures += 1
                continue
            }
            let type =
                data.starts(with: [0x89, 0x50])
                ? "image/png" : data.starts(with: [0xff, 0xd8]) ? "image/jpeg" : "image/webp"
            let url = "data:\(type);base64,\(data.base64EncodedString())"
            left -= url.utf8.count + 200
            map.append((picture.key, .string(url)))
        }
        return PrettyJSON.line(.object(JSONObject(map))).replacing(each: "<", with: "\\u003c")
    }
}
