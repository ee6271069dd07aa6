import Foundation
import SimulationAPI

/// The live view: requests, state changes and webhook attempts, newest first.
enum ActivityPage {
    static let rows = 100
    private static let maxNews = 200
    /// The number of pages of the event log that are read to fill a page.
    private static let maxEventPages = 10

    private struct Lists {
        var requests: [JournaledRequest] = []
        var events: [StateChange] = []
        /// The numbers of the newest and the oldest event that were read, also of those that are not shown.
        var readEvents: (newest: Int64, oldest: Int64)?
        var hasMoreRequests = false
        var hasMoreEvents = false
    }

    /// A place in both lists: the numbers of the newest entries that are older.
    struct Place {
        let request, event: Int64

        /// The numbers that the control API takes.
        private static let range: ClosedRange<Int64> = 0...9_007_199_254_740_000

        init(request: Int64, event: Int64) {
            self.request = request
            self.event = event
        }

        /// Reads the form of a query, `17.42`.
        init?(_ text: String?) {
            let parts = (text ?? "").split(at: ".").map { Int64($0) }
            guard parts.count == 2, let request = parts[0], let event = parts[1], Self.range.contains(request),
                Self.range.contains(event)
            else { return nil }
            self.init(request: request, event: event)
        }

        var text: String { "\(request).\(event)" }
    }

    private enum Entry {
        case request(JournaledRequest)
        case event(StateChange)
    }

    private struct View: Encodable, Sendable {
        let search: ActivitySearch.View
        let problems: Rows<String>?
        /// The number of held requests, in words; `nil` if there are none.
        let held: String?
        let newestPlace: String
        let isLive, isOlder: Bool
        let newest: String
        let rows: Rows<Row>?
        let isEmpty, isNotFound: Bool
        let olderLink: String?
        let selected: Selected?
    }

    /// An entry: one of the three.
    private struct Row: Encodable, Sendable {
        let isSelected: Bool
        /// The page with the request beside the list.
        let open: String?
        let request: RequestRow?
        let attempt: AttemptRow?
        let change: ChangeRow?
    }

    /// The entry that is open beside the list.
    private struct Selected: Encodable, Sendable {
        let closeLink: String
        /// `nil` if the journal has forgotten it.
        let exchange: RequestPage.Exchange?
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let search = await ActivitySearch(request.query["q"] ?? "", api)
        let terms = search.terms
        let older = Place(request.given("older"))
        var problems = terms.problems
        var lists = Lists()
        do {
            lists = try await read(search, before: older, api)
        } catch ConsoleProblem.refused(let status, let envelope?) where status == 400 {
            problems += envelope.details.map { "\($0.field) \($0.problem)" }
        }
        let (entries, oldest) = merged(lists)
        let newest = Place(
            request: lists.requests.first?.sequence ?? 0, event: lists.readEvents?.newest ?? 0)
        let selected = request.given("selected")
        let receivers = await receivers(of: lists.events, api)
        let isNothing = entries.isEmpty && problems.isEmpty
        let view = View(
            search: search.view(request), problems: Rows(problems), held: await held(api),
            newestPlace: newest.text, isLive: older == nil && selected == nil, isOlder: older != nil,
            newest: request.console + Link.query([("q", terms.text)]),
            rows: Rows(entries.map { row($0, request, terms, receivers, selected: selected) }),
            isEmpty: isNothing && terms.terms.isEmpty && older == nil,
            isNotFound: isNothing && (!terms.terms.isEmpty || older != nil),
            olderLink: oldest.map { request.console + Link.query([("q", terms.text), ("older", $0.text)]) },
            selected: await self.selected(selected, terms, request, api))
        return PagePart(section: "activity", title: "Activity", template: "activity", view: view)
    }

    private static func held(_ api: ControlReader) async -> String? {
        // The page is of use without it.
        let count = (try? await api.get("held", as: HeldList.self))?.held.count ?? 0
        return count == 0 ? nil : "\(Counted.text(count, "request")) \(count == 1 ? "is" : "are") held"
    }

    private static func selected(
        _ name: String?, _ terms: SearchTerms, _ request: ConsoleRequest, _ api: ControlReader
    ) async -> Selected? {
        guard let name else { return nil }
        return Selected(
            closeLink: request.console + Link.query([("q", terms.text), ("older", request.given("older"))]),
            // A request that the journal has forgotten has no page.
            exchange: try? await RequestPage.exchange(RequestPage.Name(name), request, api))
    }

    static func news(_ request: ConsoleRequest, _ api: ControlReader) async -> (count: Int, isMore: Bool) {
        guard let place = Place(request.given("since")) else { return (0, false) }
        let search = await ActivitySearch(request.query["q"] ?? "", api)
        // The page asks again in a moment.
        let lists = try? await read(search, after: place, limit: maxNews, api)
        return (
            (lists?.requests.count ?? 0) + (lists?.events.count ?? 0),
            lists?.hasMoreRequests ?? false || lists?.hasMoreEvents ?? false
        )
    }

    private static func read(
        _ search: ActivitySearch, before: Place? = nil, after: Place? = nil, limit: Int = rows, _ api: ControlReader
    ) async throws -> Lists {
        var lists = Lists()
        func range(_ before: Int64?, _ after: Int64?) -> [(String, String?)] {
            [
                ("before_sequence", before.map { "\($0 + 1)" }), ("after_sequence", after.map { "\($0)" }),
                ("limit", "\(limit)"),
            ]
        }
        if search.showsRequests {
            let list = try await api.get(
                "requests", search.requests + range(before?.request, after?.request), as: RequestList.self)
            lists.requests = list.requests
            lists.hasMoreRequests = list.next_cursor != nil
        }
        if search.showsEvents {
            // Webhooks are left out only here: more is read until there is something to show, or enough was looked at.
            let leavesOut = search.terms.value("show") == "changes"
            var (last, pages) = (before?.event, 0)
            repeat {
                let list = try await api.get(
                    "event-log", search.events + range(last, after?.event), as: EventList.self)
                if let newest = list.events.first, let oldest = list.events.last {
                    lists.readEvents = (lists.readEvents?.newest ?? newest.sequence, oldest.sequence)
                    last = oldest.sequence - 1
                }
                lists.events += leavesOut ? list.events.filter { !$0.kind.hasPrefix("webhook.") } : list.events
                lists.hasMoreEvents = list.next_cursor != nil
                pages += 1
            } while leavesOut && lists.events.count < limit && lists.hasMoreEvents && pages < maxEventPages
        }
        return lists
    }

    /// The URLs of subscriptions by their ids; empty if there is no attempt among the events.
    private static func receivers(of events: [StateChange], _ api: ControlReader) async -> [String: String] {
        guard events.contains(where: { $0.kind == "webhook.attempted" }),
            // Without their URLs attempts are still of use.
            let list = try? await api.get("webhooks", as: SubscriptionInfoList.self)
        else { return [:] }
        return Dictionary(list.webhooks.map { ($0.id, $0.url.maskingQuery) }) { first, _ in first }
    }

    /// Merges both lists, newest first, and returns the place where the next page begins; `nil` on the last page.
    ///
    /// A request stands below the changes that it made. Times do not decide the order: on a frozen clock all are equal.
    private static func merged(_ lists: Lists) -> ([Entry], Place?) {
        var entries: [Entry] = []
        var (request, event) = (0, 0)
        func isNewer(_ event: StateChange, than request: JournaledRequest) -> Bool {
            request.changes.map { event.sequence > $0.after } ?? (event.at >= request.at)
        }
        while entries.count < rows {
            // At the end of a list that goes on, nothing tells which entry comes next.
            let isOverHere =
                request == lists.requests.count && lists.hasMoreRequests
                || event == lists.events.count && lists.hasMoreEvents
            if isOverHere { break }
            if event < lists.events.count,
                request == lists.requests.count || isNewer(lists.events[event], than: lists.requests[request])
            {
                entries.append(.event(lists.events[event]))
                event += 1
            } else if request < lists.requests.count {
                entries.append(.request(lists.requests[request]))
                request += 1
            } else {
                break
            }
        }
        let isMore =
            request < lists.requests.count || event < lists.events.count || lists.hasMoreRequests
            || lists.hasMoreEvents
        guard isMore else { return (entries, nil) }
        return (
            entries,
            Place(
                request: request < lists.requests.count
                    ? lists.requests[request].sequence ?? 0 : (lists.requests.last?.sequence ?? 1) - 1,
                event: event < lists.events.count
                    ? lists.events[event].sequence : (lists.readEvents?.oldest ?? 1) - 1)
        )
    }

    private static func row(
        _ entry: Entry, _ request: ConsoleRequest, _ terms: SearchTerms, _ receivers: [String: String],
        selected: String?
    ) -> Row {
        switch entry {
        case .request(let journaled):
            let name = RequestPage.Name(journaled).text
            return Row(
                isSelected: selected.map { name.isIdentical(to: $0) } ?? false,
                open: request.console
                    + Link.query([("q", terms.text), ("older", request.given("older")), ("selected", name)]),
                request: RequestRow(journaled, request), attempt: nil, change: nil)
        case .event(let change):
            let attempt = AttemptRow(change, receivers, request)
            return Row(
                isSelected: false, open: nil, request: nil, attempt: attempt,
                change: attempt == nil ? ChangeRow(change, request) : nil)
        }
    }
}

struct RequestRow: Encodable, Sendable {
    let request: JournaledRequest
    let key, status: String
    /// Whether the request was lost before it was handled, and so has no status.
    let isLost: Bool
    let statusClass: Int
    let parts: PathParts
    /// Why the answer did not reach the client, in a sentence and in two words; `nil` if it did.
    let loss, lossWords: String?
    let took: String
    let pills: [Pill]
    /// The effect of a fault.
    let effect: String?

    struct Pill: Encodable, Sendable {
        let pill, pillTitle, pillStyle, pillLink: String
    }

    init(_ journaled: JournaledRequest, _ request: ConsoleRequest) {
        // A row shows no bodies, which may be large.
        var shown = journaled
        (shown.request, shown.response) = (nil, nil)
        self.request = shown
        key = "r\(journaled.sequence ?? 0)-\(journaled.id)"
        status = journaled.status.map { "\($0)" } ?? "lost"
        isLost = journaled.status == nil
        statusClass = (journaled.status ?? 0) / 100
        parts = PathParts(journaled.path)
        loss = journaled.lossText.map { "not delivered: \($0)" }
        lossWords =
            journaled.delivered
            ? nil
            : isLost ? "request lost" : journaled.effect?["truncate_body"] != nil ? "answer cut off" : "answer lost"
        took = Moment.milliseconds(journaled.duration_ms)
        pills = Self.pills(journaled.decided_by, request)
        effect = journaled.effect.map { PrettyJSON.line(.object($0)) }
    }

    private static func pills(_ decided: DecidedRequest, _ request: ConsoleRequest) -> [Pill] {
        func pill(_ pill: String, _ title: String, _ style: String, _ place: String) -> Pill {
            Pill(pill: pill, pillTitle: title, pillStyle: style, pillLink: request.console + place)
        }
        let fault = decided.fault.map {
            pill("fault", "the fault \($0) was triggered", "bad", "/rules#\(URLPart.escaped($0))")
        }
        let limits = decided.limits.map {
            pill("limit", "the limit \($0) was exceeded", "warn", "/settings#rate_limits")
        }
        let outcome = decided.outcome.map {
            pill("outcome", "the outcome rule \($0) decided the result", "calm", "/rules#\(URLPart.escaped($0))")
        }
        return [fault].compactMap(\.self) + limits + [outcome].compactMap(\.self)
    }
}

struct ChangeRow: Encodable, Sendable {
    let key: String
    let at: Double
    let event, subject: String
    /// The page about the subject; `nil` if there is none.
    var link: String?
    let summary, changeStyle: String

    init(_ change: StateChange, _ request: ConsoleRequest) {
        key = "e\(change.sequence)"
        at = change.at
        event = EventWords.event(change.kind)
        subject = change.subject
        link = Subject.link(change.kind, change.subject, request)
        summary = EventWords.summary(change)
        changeStyle = EventWords.style(change.kind, change.data)
    }
}

/// An attempt of a webhook as a row of the live view: in one line, with the receiver's URL.
struct AttemptRow: Encodable, Sendable {
    let change: ChangeRow
    let webhook, url: String
    let parts: PathParts
    let attemptStatus: String?
    let attemptStyle, reason: String

    /// `nil` if the event is another one.
    ///
    /// - Parameter receivers: the URLs of subscriptions by their ids.
    init?(_ change: StateChange, _ receivers: [String: String], _ request: ConsoleRequest) {
        guard change.kind == "webhook.attempted", let data = change.data.members else { return nil }
        let state = data["delivery"]?.text ?? ""
        self.change = ChangeRow(change, request)
        webhook = data["event"]?.text ?? ""
        url = data["subscription_id"]?.text.map { receivers[$0] ?? "(deleted subscription)" } ?? ""
        parts = PathParts(url)
        attemptStatus = data["status"]?.number?.text
        attemptStyle = state == "delivered" ? "good" : "bad"
        let attempt = [data["attempt"]?.number.map { "attempt \($0.text)" }, data["error"]?.text].compactMap { $0 }
        reason = [attempt.joined(separator: ": "), state].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
