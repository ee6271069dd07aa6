import Foundation
import SimulationAPI

/// One request: the exchange, what decided it, what it changed and what that caused later.
enum RequestPage {
    private static let maxLater = 30
    private static let maxChanges = 50

    /// A request's id and number. The number is needed where several requests have the id.
    struct Name {
        let id: String
        let sequence: Int64?

        init(_ request: JournaledRequest) {
            id = request.id
            sequence = request.sequence
        }

        init(id: String, sequence: String?) {
            self.id = id
            self.sequence = sequence.flatMap { Int64($0) }
        }

        /// Reads the form of a query, `17~req_abc`.
        init(_ text: String) {
            let parts = text.split(at: "~", maxSplits: 1).map(String.init)
            self.init(id: parts.last ?? "", sequence: parts.count == 2 ? parts[0] : nil)
        }

        var text: String { sequence.map { "\($0)~\(id)" } ?? id }

        var query: [(String, String?)] { [("sequence", sequence.map { "\($0)" })] }

        /// The path of the page, after that of the console.
        var path: String { "/requests/\(URLPart.escaped(id))" + Link.query(query) }

        /// The path in the control API, after `/_sim/`.
        var controlPath: String { "requests/\(URLPart.escaped(id))" }
    }

    /// The view of one exchange, for its own page and for the live view.
    struct Exchange: Encodable, Sendable {
        let row: RequestRow
        let page, whyLink: String
        let sent, answer: Message?
        let resendPath, resendCLI, curl, swift, scenarioStep, verify, editPath, editBody, editHeaders: String
        let methods: [Option]
        let faultLink: String
        /// The form for a rule about the item; `nil` if the request changed none.
        let outcomeLink: String?
        let changes, later: Rows<ChangeRow>?
        let matches: Rows<RuleMatch>?
    }

    static func part(_ id: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let exchange = try await exchange(Name(id: id, sequence: request.given("sequence")), request, api)
        return PagePart(
            section: "activity", title: "\(exchange.row.request.method) \(exchange.row.request.path)",
            template: "request", view: ["exchange": exchange])
    }

    static func exchange(_ name: Name, _ request: ConsoleRequest, _ api: ControlReader) async throws -> Exchange {
        let journaled = try await api.get(name.controlPath, name.query, as: JournaledRequest.self)
        let own = Name(journaled)
        let snippets = Snippets(journaled, url: request.url)
        let usual = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        // Without its own, a form would send another method than the one that it shows.
        let methods = journaled.method.isOne(of: usual) ? usual : usual + [journaled.method]
        let changes = try await self.changes(of: journaled, api)
        let items = Set(changes.filter { $0.kind.hasPrefix("item.") }.map(\.subject)).sorted()
        let later = try await self.later(than: journaled, changes, items, api)
        var matches = (try await api.get("\(own.controlPath)/rules", own.query, as: RuleMatchList.self)).rules
        for item in items.prefix(3) {
            let path = "authentications/\(URLPart.escaped(item))/rules"
            // An item may be gone; the page is still of use without its rules.
            matches += (try? await api.get(path, as: RuleMatchList.self))?.rules ?? []
        }
        let console = request.console
        return Exchange(
            row: RequestRow(journaled, request), page: console + own.path,
            whyLink: console + ExplanationPage.path(own.sequence.map { "sequence:\($0)" } ?? own.id),
            sent: journaled.request.map { Message($0) }, answer: journaled.response.map { Message($0) },
            resendPath: "\(request.base)/_sim/\(own.controlPath)/resend" + Link.query(own.query),
            resendCLI: own.sequence.map { "\($0)" } ?? own.id, curl: snippets.curl, swift: snippets.swift,
            scenarioStep: snippets.scenarioStep, verify: snippets.verify,
            editPath: journaled.path + (journaled.query.map { "?\($0)" } ?? ""),
            editBody: journaled.request?.body ?? "", editHeaders: snippets.editableHeaders,
            methods: methods.map { Option(id: $0, name: $0, isChosen: $0.isIdentical(to: journaled.method)) },
            faultLink: console + "/rules" + Link.query([("route", journaled.path), ("method", journaled.method)])
                + "#new-fault",
            outcomeLink: items.first.map { console + "/rules" + Link.query([("item", $0)]) + "#new-outcome" },
            changes: Rows(changes.map { ChangeRow($0, request) }), later: Rows(later.map { ChangeRow($0, request) }),
            matches: Rows(matches))
    }

    /// The entries of the event log that a request added, oldest first.
    private static func changes(of journaled: JournaledRequest, _ api: ControlReader) async throws -> [StateChange] {
        guard let range = journaled.changes, range.through > range.after else { return [] }
        return try await api.events([
            ("after_sequence", "\(range.after)"),
            ("before_sequence", "\(range.through == .max ? .max : range.through + 1)"),
            ("limit", "\(maxChanges)"),
        ]).reversed()
    }

    /// Later events of the objects that a request changed, oldest first.
    private static func later(
        than journaled: JournaledRequest, _ changes: [StateChange], _ items: [String], _ api: ControlReader
    ) async throws -> [StateChange] {
        guard let through = journaled.changes?.through else { return [] }
        let changed = Set(
            changes.filter { !$0.kind.hasPrefix("user.") && !$0.kind.hasPrefix("session.") }.map(\.subject))
        var subjects = changed.sorted().prefix(5).map { (id: $0, limit: maxLater) }
        for item in items.prefix(3) {
            let deliveries = try await api.get(
                "webhook-deliveries", [("entrupy_id", item), ("limit", "10")], as: WebhookDeliveryList.self)
            subjects += deliveries.deliveries.map { ($0.id, 10) }
        }
        var found: [Int64: StateChange] = [:]
        for subject in subjects {
            let events = try await api.events([
                ("after_sequence", "\(through)"), ("subject", subject.id), ("limit", "\(subject.limit)"),
            ])
            for event in events { found[event.sequence] = event }
        }
        return found.values.sorted { $0.sequence < $1.sequence }.suffix(maxLater).map { $0 }
    }
}

/// A request or an answer, with its headers and its body.
struct Message: Encodable, Sendable {
    let headers: Rows<NamedText>?
    /// The body, indented if it is JSON; `nil` if it is empty or not text.
    let body: String?
    let isBinary: Bool
    let size: String
    let isCut: Bool
    /// Whether the body is longer than the limit.
    let isShortened: Bool

    /// - Parameter limit: the maximum number of characters of the body.
    init(_ message: JournaledMessage, limit: Int = .max) {
        let whole = PrettyJSON.body(message.body ?? "")
        let shown = limit == .max ? whole : String(whole.prefix(limit))
        headers = Rows(message.headers.filter { $0.count == 2 }.map { NamedText(name: $0[0], value: $0[1]) })
        body = shown.nonEmpty
        isBinary = message.body == nil && message.bytes > 0
        size = SizeText.text(message.bytes)
        isShortened = shown.utf8.count < whole.utf8.count
        isCut = message.truncated || isShortened
    }
}

extension String {
    /// `nil` if the text is empty, for values that a view shows only if there is something to show.
    var nonEmpty: String? { isEmpty ? nil : self }
}
