import Foundation
import SimulationAPI

/// The live view: requests, state changes and webhook attempts, newest first.
enum ActivityPage {
    /// The number of entries of a page.
    static let rows = 100
    /// The number of newer entries that are counted.
    private static let maxNews = 200
    /// The number of pages of the event log that are read to fill a page.
    private static let maxEventPages = 10

    /// The entries of both lists.
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
        let request: Int64
        let event: Int64

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

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let search = await ActivitySearch(request.query["q"] ?? "", api)
        let terms = search.terms
        let older = Place(request.given("older"))
        var view = search.view(request)
        view["isLive"] = older == nil && request.given("selected") == nil
        view["isOlder"] = older != nil
        view["newest"] = request.console + Link.query([("q", terms.text)])
        await addHeld(to: &view, request, api)
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
        view["rows"] = entries.map { row($0, request, terms, receivers, selected: selected) }
        view["hasRows"] = !entries.isEmpty
        view["isEmpty"] = entries.isEmpty && problems.isEmpty && terms.terms.isEmpty && older == nil
        view["isNotFound"] = entries.isEmpty && problems.isEmpty && (!terms.terms.isEmpty || older != nil)
        view["problems"] = problems
        view["hasProblems"] = !problems.isEmpty
        view["newestPlace"] = newest.text
        view["hasOlder"] = oldest != nil
        view["olderLink"] = request.console + Link.query([("q", terms.text), ("older", oldest?.text)])
        view["shellURL"] = Shell.quoted(request.url)
        view["hasSelected"] = false
        if let selected {
            view["hasSelected"] = true
            view["closeLink"] = request.console + Link.query([("q", terms.text), ("older", request.given("older"))])
            do {
                let name = RequestPage.Name(selected)
                view["exchange"] = [try await RequestPage.exchange(name, request, api)]
                view["isForgotten"] = false
            } catch {
                view["exchange"] = [View]()
                view["isForgotten"] = true
            }
        }
        return PagePart(section: "activity", title: "Activity", template: "activity", view: view)
    }

    /// Adds the hint that requests are held.
    private static func addHeld(to view: inout View, _ request: ConsoleRequest, _ api: ControlReader) async {
        // The page is of use without it.
        let count = (try? await api.get("held", as: HeldList.self))?.held.count ?? 0
        view["heldCount"] = count == 1 ? "1 request is held" : "\(count) requests are held"
        view["hasHeld"] = count > 0
        view["heldLink"] = request.console + "/rules#held"
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
        return Dictionary(list.webhooks.map { ($0.id, $0.url) }) { first, _ in first }
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
    ) -> View {
        switch entry {
        case .request(let journaled):
            var view = RequestRow.view(journaled, request)
            let name = RequestPage.Name(journaled)
            view["isSelected"] = selected.map { name.text.isIdentical(to: $0) } ?? false
            view["open"] =
                request.console
                + Link.query([("q", terms.text), ("older", request.given("older")), ("selected", name.text)])
            return view
        case .event(let change): return AttemptRow.view(change, receivers, request) ?? ChangeRow.view(change, request)
        }
    }
}

/// A request as a row of a list.
enum RequestRow {
    static func view(_ journaled: JournaledRequest, _ request: ConsoleRequest) -> View {
        let parts = Moment.parts(journaled.at)
        return [
            "key": "r\(journaled.sequence ?? 0)-\(journaled.id)", "isRequest": true, "isChange": false,
            "isAttempt": false,
            "isSelected": false,
            "day": parts.day, "time": Moment.precise(journaled.at), "timeISO": Moment.iso(journaled.at),
            "status": journaled.status.map { "\($0)" } ?? "lost", "statusClass": (journaled.status ?? 0) / 100,
            "loss": journaled.lossText.map { "not delivered: \($0)" } ?? "", "isLost": !journaled.delivered,
            "method": journaled.method,
            "path": journaled.path, "query": journaled.query.map { "?\($0)" } ?? "",
            "user": journaled.username ?? "", "test": journaled.test ?? "", "hasTest": journaled.test != nil,
            "took": "\((journaled.duration_ms * 10).rounded() / 10) ms",
            "open": request.console + RequestPage.Name(journaled).path,
            "pills": pills(journaled.decided_by, request),
            "effect": journaled.effect.map { PrettyJSON.line(.object($0)) } ?? "",
            "hasEffect": journaled.effect != nil,
        ]
    }

    /// The links to what decided the answer.
    static func pills(_ decided: DecidedRequest, _ request: ConsoleRequest) -> [View] {
        var pills: [View] = []
        if let fault = decided.fault {
            pills.append([
                "pill": "fault", "pillTitle": "the fault \(fault) was triggered", "pillStyle": "bad",
                "pillLink": "\(request.console)/rules#\(Link.escaped(fault))",
            ])
        }
        for limit in decided.limits {
            pills.append([
                "pill": "limit", "pillTitle": "the limit \(limit) was exceeded", "pillStyle": "warn",
                "pillLink": "\(request.console)/settings#rate_limits",
            ])
        }
        if let outcome = decided.outcome {
            pills.append([
                "pill": "outcome", "pillTitle": "the outcome rule \(outcome) decided the result",
                "pillStyle": "calm", "pillLink": "\(request.console)/rules#\(Link.escaped(outcome))",
            ])
        }
        return pills
    }
}

/// An entry of the event log as a row of a list.
enum ChangeRow {
    static func view(_ change: StateChange, _ request: ConsoleRequest) -> View {
        let parts = Moment.parts(change.at)
        let subject = Subject(kind: change.kind, id: change.subject, request)
        return [
            "key": "e\(change.sequence)", "isRequest": false, "isChange": true, "isAttempt": false, "isSelected": false,
            "day": parts.day, "time": Moment.precise(change.at), "timeISO": Moment.iso(change.at),
            "event": EventWords.event(change.kind), "kind": change.kind, "subject": change.subject,
            "hasLink": subject.link != nil, "link": subject.link ?? "", "summary": EventWords.summary(change),
            "changeStyle": EventWords.style(change.kind, change.data),
        ]
    }
}

/// An attempt of a webhook as a row of the live view: in one line, with the receiver's URL.
enum AttemptRow {
    /// - Parameter receivers: the URLs of subscriptions by their ids.
    /// - Returns: `nil` if the event is another one.
    static func view(_ change: StateChange, _ receivers: [String: String], _ request: ConsoleRequest) -> View? {
        guard change.kind == "webhook.attempted", let data = change.data.members else { return nil }
        var view = ChangeRow.view(change, request)
        var status: String?
        if case .number(let number)? = data["status"] { status = number.text }
        let state = data["delivery"]?.text ?? ""
        var attempt = ""
        if case .number(let number)? = data["attempt"] { attempt = "attempt \(number.text)" }
        view["isChange"] = false
        view["isAttempt"] = true
        view["webhook"] = data["event"]?.text ?? ""
        view["url"] = data["subscription_id"]?.text.map { receivers[$0] ?? "(deleted subscription)" } ?? ""
        view["hasStatus"] = status != nil
        view["attemptStatus"] = status ?? ""
        view["attemptStyle"] = state == "delivered" ? "good" : "bad"
        view["reason"] =
            [[attempt, data["error"]?.text].compactMap { $0 }.joined(separator: ": "), state]
            .filter { !$0.isEmpty }.joined(separator: ", ")
        return view
    }
}
