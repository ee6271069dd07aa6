import Foundation
import SimulationAPI

/// One request: the exchange, what decided it, what it changed and what that caused later.
enum RequestPage {
    /// The number of later events that are shown.
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
        var path: String { "/requests/\(Link.escaped(id))" + Link.query(query) }

        /// The path in the control API, after `/_sim/`.
        var controlPath: String { "requests/\(Link.escaped(id))" }
    }

    static func part(_ id: String, _ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let name = Name(id: id, sequence: request.given("sequence"))
        let view = try await exchange(name, request, api)
        return PagePart(
            section: "activity", title: "\(view["method"] ?? "") \(view["path"] ?? "")", template: "request",
            view: ["exchange": [view]])
    }

    /// The view of one exchange, for its own page and for the live view.
    static func exchange(_ name: Name, _ request: ConsoleRequest, _ api: ControlReader) async throws -> View {
        let journaled = try await api.get(name.controlPath, name.query, as: JournaledRequest.self)
        let own = Name(journaled)
        var view = RequestRow.view(journaled, request)
        let snippets = Snippets(journaled, url: request.url)
        view["requestID"] = journaled.id
        view["because"] = journaled.because ?? ""
        view["hasBecause"] = journaled.because != nil
        addLinks(of: journaled, to: &view, request)
        view["page"] = request.console + own.path
        view["whyLink"] = request.console + ExplanationPage.path(own.sequence.map { "sequence:\($0)" } ?? own.id)
        view["sent"] = message(journaled.request)
        view["answer"] = message(journaled.response)
        view["resendPath"] = "\(request.base)/_sim/\(own.controlPath)/resend" + Link.query(own.query)
        view["resendCLI"] = own.sequence.map { "\($0)" } ?? own.id
        view["curl"] = snippets.curl
        view["swift"] = snippets.swift
        view["scenarioStep"] = snippets.scenarioStep
        view["verify"] = snippets.verify
        view["editPath"] = journaled.path + (journaled.query.map { "?\($0)" } ?? "")
        view["editBody"] = journaled.request?.body ?? ""
        view["editHeaders"] = snippets.editableHeaders
        let usual = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        // Without its own, a form would send another method than the one that it shows.
        let methods = journaled.method.isOne(of: usual) ? usual : usual + [journaled.method]
        view["methods"] = methods.map { ["name": $0, "isChosen": $0.isIdentical(to: journaled.method)] as View }
        view["faultLink"] =
            request.console + "/rules"
            + Link.query([("route", journaled.path), ("method", journaled.method)]) + "#new-fault"
        let changes = try await self.changes(of: journaled, api)
        view["changes"] = changes.map { ChangeRow.view($0, request) }
        view["hasChanges"] = !changes.isEmpty
        let items = Array(Set(changes.filter { $0.kind.hasPrefix("item.") }.map(\.subject))).sorted()
        view["hasItem"] = !items.isEmpty
        view["outcomeLink"] =
            request.console + "/rules" + Link.query([("item", items.first)]) + "#new-outcome"
        let later = try await self.later(than: journaled, changes, api)
        view["later"] = later.map { ChangeRow.view($0, request) }
        view["hasLater"] = !later.isEmpty
        var matches = (try await api.get("\(own.controlPath)/rules", own.query, as: RuleMatchList.self)).rules
        for item in items.prefix(3) {
            let path = "authentications/\(Link.escaped(item))/rules"
            // An item may be gone; the page is still of use without its rules.
            matches += (try? await api.get(path, as: RuleMatchList.self))?.rules ?? []
        }
        view["matches"] = matches.map { Matches.view($0, request) }
        view["hasMatches"] = !matches.isEmpty
        return view
    }

    /// Adds the links to the user of a request, and to the requests of its trace.
    private static func addLinks(of journaled: JournaledRequest, to view: inout View, _ request: ConsoleRequest) {
        view["hasUser"] = journaled.username != nil
        view["userLink"] = journaled.username.map { "\(request.console)/users/\(Link.escaped($0))" } ?? ""
        view["trace"] = journaled.trace ?? ""
        view["hasTrace"] = journaled.trace != nil
        view["traceLink"] = request.console + Link.query([("q", journaled.trace.map { "trace:\($0)" })])
    }

    /// The entries of the event log that a request added, oldest first.
    private static func changes(of journaled: JournaledRequest, _ api: ControlReader) async throws -> [StateChange] {
        guard let range = journaled.changes, range.through > range.after else { return [] }
        let list = try await api.get(
            "event-log",
            [
                ("after_sequence", "\(range.after)"), ("before_sequence", "\(range.through + 1)"),
                ("limit", "\(maxChanges)"),
            ], as: EventList.self)
        return list.events.reversed()
    }

    /// Later events of the objects that a request changed, oldest first.
    private static func later(
        than journaled: JournaledRequest, _ changes: [StateChange], _ api: ControlReader
    ) async throws -> [StateChange] {
        guard let through = journaled.changes?.through else { return [] }
        var found: [Int64: StateChange] = [:]
        let subjects = Set(
            changes.filter { !$0.kind.hasPrefix("user.") && !$0.kind.hasPrefix("session.") }.map(\.subject))
        for subject in subjects.sorted().prefix(5) {
            let list = try await api.get(
                "event-log",
                [("after_sequence", "\(through)"), ("subject", subject), ("limit", "\(maxLater)")], as: EventList.self)
            for event in list.events { found[event.sequence] = event }
        }
        for item in Set(changes.filter { $0.kind.hasPrefix("item.") }.map(\.subject)).sorted().prefix(3) {
            let deliveries = try await api.get(
                "webhook-deliveries", [("entrupy_id", item), ("limit", "10")], as: WebhookDeliveryList.self)
            for delivery in deliveries.deliveries {
                let list = try await api.get(
                    "event-log", [("after_sequence", "\(through)"), ("subject", delivery.id), ("limit", "10")],
                    as: EventList.self)
                for event in list.events { found[event.sequence] = event }
            }
        }
        return found.values.sorted { $0.sequence < $1.sequence }.suffix(maxLater).map { $0 }
    }

    private static func message(_ message: JournaledMessage?) -> [View] {
        guard let message else { return [] }
        let body = message.body.map(PrettyJSON.body) ?? ""
        return [
            [
                "headers": message.headers.filter { $0.count == 2 }.map { ["name": $0[0], "value": $0[1]] as View },
                "hasHeaders": !message.headers.isEmpty, "body": body, "hasBody": !body.isEmpty,
                "isBinary": message.body == nil && message.bytes > 0, "size": SizeText.text(message.bytes),
                "isCut": message.truncated,
            ]
        ]
    }
}

/// The comparison of a rule with a request or an item.
enum Matches {
    static func view(_ match: RuleMatch, _ request: ConsoleRequest) -> View {
        [
            "ruleID": match.id, "ruleLink": "\(request.console)/rules#\(Link.escaped(match.id))",
            "isDecided": match.decided, "isMatch": match.matches && !match.decided, "isMiss": !match.matches,
            "parts": match.parts.map { part in
                [
                    "field": part.field, "expected": part.expected, "actual": part.actual ?? "nothing",
                    "fits": part.matches, "fails": !part.matches,
                ] as View
            },
            "hasParts": !match.parts.isEmpty, "note": match.note ?? "", "hasNote": match.note != nil,
        ]
    }
}
