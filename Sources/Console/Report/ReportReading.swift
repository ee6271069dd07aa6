import EntrupyAPI
import Foundation
import SimulationAPI

/// Reads the parts of a report through the control API, each within its space.
struct ReportReading {
    let api: ControlReader
    let picture: @Sendable (String) async -> Data?
    let gate: ReportGate?
    let run: ReportedRun?
    let request = ConsoleRequest(namespace: "default", path: [], query: [:], isReadOnly: true, url: "")
    /// The names of brands and reasons; of none if the bundle does not tell them.
    private(set) var names = Names([:])
    var notes: [String] = []
    /// See ``Report/why``.
    private(set) var why: [String] = []
    /// The space that is left for the parts of the page, in bytes.
    var left = Report.Space.all
    var cutBodies = 0
    var largePictures = 0
    /// The pictures of the shown items: the key, the path and the size of each, in the order of the items.
    var wanted: [(key: String, path: String, bytes: Int)] = []

    mutating func view(title: String, version: String) async throws -> ReportView {
        let info = try await api.get("info", as: ServerInfo.self)
        // Without names, ids are shown.
        if let choices = try? await api.get("choices", as: Choices.self) { names = Names(choices.lists) }
        let now = info.namespace.clock.epoch
        let deliveries = try await deliveries()
        let faults = try await api.get("faults", as: FaultList.self).faults
        let outcomes = try await api.get("outcomes", as: OutcomeList.self).outcomes
        let reasons = ReportReasons(gate, run, try await requests(), deliveries, faults, outcomes)
        let said = try await said(reasons)
        why = reasons.lines(said)
        let bySequence = Dictionary(
            reasons.requests.compactMap { entry in entry.sequence.map { ($0, entry) } }, uniquingKeysWith: { $1 })
        var view = ReportView(
            title: title, version: version, clock: try await clock(info.namespace.clock),
            counts: Self.counts(reasons.requests.count, info.namespace.counts), namespace: info.namespace,
            run: run.map { ReportedRun(command: ReportReasons.short($0.command), ending: $0.ending, missing: []) },
            gate: try gate?.view(hasRequests: !reasons.requests.isEmpty) { bySequence[$0] }, why: reasons.view(said),
            settings: String(PrettyJSON.text(info.settings).prefix(Report.Space.settings / 6)))
        try await add(requests: reasons, to: &view)
        try await add(items: deliveries, now: now, to: &view)
        try await add(eventsAt: now, to: &view)
        try add(deliveries, now: now, to: &view)
        try add(faults, outcomes, to: &view)
        try await add(usersTo: &view)
        return view
    }

    /// The clock of the bundle in a sentence. A bundle that is opened has a frozen clock; the snapshot in it has that of the run.
    private func clock(_ clock: ClockState) async throws -> String {
        let saved = try await api.get("snapshots", as: SnapshotList.self).snapshots.first { $0.name == "bundle" }
        let now = Moment.text(clock.epoch)
        return (saved?.clock ?? clock).mode == "frozen"
            ? "The clock stood at \(now) (frozen)." : "The clock was at \(now) (running)."
    }

    private static func counts(_ requests: Int, _ counts: NamespaceCounts) -> String {
        [
            (requests, "request"), (counts.authentications, "item"), (counts.captures, "capture"),
            (counts.users, "user"),
        ].map { Counted.text($0.0, $0.1) }.joined(separator: ", ")
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
    func space(_ bytes: Int) -> ReportSpace { ReportSpace(left: min(bytes, left)) }

    /// Takes the HTML of a part.
    mutating func taken(_ space: ReportSpace) -> String {
        left -= space.html.utf8.count
        return space.html
    }

    /// Renders views, as many as there is space for, and notes how many are left out.
    mutating func part(
        _ views: [some Encodable], _ template: String, _ bytes: Int, _ things: String
    ) throws -> String {
        var space = self.space(bytes)
        try space.add(all: views, template)
        note(space.count, of: views.count, things)
        return taken(space)
    }

    mutating func note(_ shown: Int, of all: Int, _ things: String) {
        if shown < all { notes.append("Only \(shown) of \(all) \(things) are here.") }
    }

    // MARK: Requests

    /// All requests, oldest first, without their messages.
    private mutating func requests() async throws -> [JournaledRequest] {
        let (list, isCut) = try await allPages(max: Report.maxRequests) { [api] cursor in
            let page = try await api.get("requests", [("limit", "1000"), ("cursor", cursor)], as: RequestList.self)
            return (page.requests, page.next_cursor)
        }
        if isCut { notes.append("Only the newest \(Report.maxRequests) requests were looked at.") }
        return list.reversed()
    }

    private mutating func add(requests reasons: ReportReasons, to view: inout ReportView) async throws {
        var near = self.space(Report.Space.around)
        var shown: Set<Int64> = []
        for entry in reasons.around(limit: Report.maxAround) {
            let added =
                try near.add(try await whole(entry), "report-request") || near.add(line(entry), "report-request")
            guard added, let sequence = entry.sequence else { continue }
            shown.insert(sequence)
        }
        let others = reasons.requests.reversed().filter { !($0.sequence.map(shown.contains) ?? false) }
        view.around = taken(near).nonEmpty
        var rest = self.space(Report.Space.requests)
        // Both at once, so that neither takes the space of the other.
        var lines = self.space(max(0, min(Report.Space.lines, left - Report.Space.requests)))
        for entry in others {
            if !rest.isFull, try rest.add(try await whole(entry), "report-request") { continue }
            guard try lines.add(line(entry), "report-request") else { break }
        }
        if lines.count > 0 { notes.append("Of \(lines.count) older requests only the first line is here.") }
        note(near.count + rest.count + lines.count, of: reasons.requests.count, "requests")
        view.others = (taken(rest) + taken(lines)).nonEmpty
    }

    private struct Request: Encodable, Sendable {
        let row: RequestRow
        let anchor, number: String
        let because: String?
        let words: String
        /// `nil` without the messages.
        var messages: Messages?

        struct Messages: Encodable, Sendable {
            let sent, answer: Message?
            let curl: String
        }
    }

    /// A request with its messages.
    private mutating func whole(_ entry: JournaledRequest) async throws -> Request {
        let name = RequestPage.Name(entry)
        let whole = try await api.get(name.controlPath, name.query, as: JournaledRequest.self)
        var view = line(whole)
        view.messages = Request.Messages(
            sent: message(whole.request), answer: message(whole.response),
            curl: String(Snippets(whole, url: nil).curl.prefix(Report.maxBody)))
        return view
    }

    /// A request without its messages.
    private func line(_ entry: JournaledRequest) -> Request {
        Request(
            row: RequestRow(entry, request), anchor: ReportReasons.anchor(entry.sequence),
            number: entry.sequence.map { "#\($0)" } ?? "", because: entry.because.map(ReportReasons.short),
            words: words(of: entry))
    }

    /// The errors in the answers to the refused requests that the reasons show, by the request's number.
    private func said(_ reasons: ReportReasons) async throws -> [Int64: String] {
        var said: [Int64: String] = [:]
        for entry in reasons.refused.prefix(ReportReasons.maxEntries) {
            guard let sequence = entry.sequence else { continue }
            let name = RequestPage.Name(entry)
            let whole = try await api.get(name.controlPath, name.query, as: JournaledRequest.self)
            said[sequence] = AnswerReason.text(whole.response?.body)
        }
        return said
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

    private mutating func message(_ message: JournaledMessage?) -> Message? {
        guard let message else { return nil }
        let view = Message(message, limit: Report.maxBody)
        if view.isShortened { cutBodies += 1 }
        return view
    }
}
