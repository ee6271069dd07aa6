import Foundation
import SimulationAPI

/// A rule that makes matching requests or webhooks fail on purpose [D fault-rules].
package struct FaultRule: Sendable {
    package var id: String
    let effect: Effect
    /// From 0 to 1; `nil` if the rule always triggers.
    package let probability: Double?
    /// The maximum number of times the rule triggers; `nil` if it has none.
    package let times: Int?
    /// The number of matching requests that pass before the rule can trigger.
    package let afterRequests: Int
    /// The number of requests the rule has matched.
    package var seen: Int
    /// The number of times the rule has triggered.
    package var hits: Int
    /// The rule as the client sent it, with sizes as numbers.
    package let document: JSONValue
    /// The effect of the document, and its size as JSON in bytes.
    let effectDocument: (members: JSONObject, bytes: Int)

    /// The webhook events the rule matches; `nil` if it matches requests.
    package let webhook: Glob?

    private let platforms: Platforms
    private let route: Glob?
    private let method: String?
    private let username: String?
    private let headers: [(name: String, value: Glob)]

    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every problem.
    package init(
        _ document: JSONValue, id: String, seen: Int = 0, hits: Int = 0, _ platforms: Platforms
    ) throws {
        var fields = FieldReader(document, known: ["match", "effect", "probability", "times", "after_requests"])
        let isWebhook = document.members?["match"]?.members?["webhook"].map { $0 != .null } ?? false
        var match = fields.object(
            "match", known: isWebhook ? ["webhook", "username"] : ["route", "method", "username", "header", "webhook"])
        webhook = match.text("webhook").map { Glob($0) }
        route = match.text("route").map { Glob(paths: $0) }
        method = match.method("method")
        username = match.text("username")
        headers = Self.headers(&match)
        // One that is not there is a problem of `fields`.
        effect = Effect.read(&fields, ofWebhook: isWebhook, platforms) ?? .request(.dropConnection, .init())
        if id.isEmpty, case .request(_, let action) = effect, let problem = action.problemOfNew {
            fields.report("effect.\(problem.field)", problem.problem)
        }
        probability = fields.decimal("probability", in: 0...1)
        times = fields.number("times", in: 1...1_000_000_000)
        afterRequests = fields.number("after_requests") ?? 0
        try fields.finish()
        self.platforms = platforms
        self.id = id
        self.seen = seen
        self.hits = hits
        self.document = platforms.faultEffects.filter(\.isSize).reduce(document) {
            $0.countingBytes(at: ["effect", $1.name])
        }
        let members = self.document.members?["effect"]?.members ?? [:]
        effectDocument = (members, try WireJSON.encode(members).count)
    }

    private static func headers(_ match: inout FieldReader) -> [(name: String, value: Glob)] {
        let expected = "must be an object of names and globs, for instance {\"X-Device\": \"ipad-*\"}"
        guard let members = match.value("header", expected, \.members) else { return [] }
        var header = match.object("header")
        return members.keys.sorted().compactMap { name in
            header.require(name)
            return header.text(name).map { (name, Glob($0)) }
        }
    }

    /// Whether the rule matches an attempt to deliver a webhook.
    package func matches(event: String, username owner: () throws -> String?) rethrows -> Bool {
        guard let webhook, webhook.matches(event) else { return false }
        guard let username else { return true }
        return try owner()?.isIdentical(to: username) ?? false
    }

    /// Whether the rule matches a request. Does not count it.
    package func matches(_ request: RequestMetadata, username caller: () throws -> String?) rethrows -> Bool {
        guard webhook == nil, route?.matches(request.path) ?? true, method?.isIdentical(to: request.method) ?? true
        else {
            return false
        }
        for header in headers where !request.header(header.name).contains(where: header.value.matches) { return false }
        guard let username else { return true }
        return try caller()?.isIdentical(to: username) ?? false
    }

    /// The parts of the condition, compared with a request.
    ///
    /// - Parameter header: returns the values of a header field.
    func parts(
        path: String, method asked: String, username caller: String?, header: (String) -> [String]
    ) -> [RulePart] {
        func part(_ field: String, _ expected: String, _ actual: String?, matches: Bool) -> RulePart {
            RulePart(field: field, expected: expected, actual: actual, matches: matches)
        }
        let parts = [
            route.map { part("route", $0.pattern, path, matches: $0.matches(path)) },
            method.map { part("method", $0, asked, matches: $0.isIdentical(to: asked)) },
            username.map { part("username", $0, caller, matches: caller?.isIdentical(to: $0) ?? false) },
        ]
        return parts.compactMap(\.self)
            + headers.map { name, glob in
                let values = header(name)
                return part(
                    "header.\(name)", glob.pattern, values.isEmpty ? nil : values.joined(separator: ", "),
                    matches: values.contains(where: glob.matches))
            }
    }

    /// Notes on parts of the rule that currently match nothing.
    package func notes(_ job: JobContext) throws -> [RuleNote] {
        var notes = notes(job.state.environment.routes.all).map { RuleNote($0) }
        if let username, try job.transaction.user(username: username) == nil {
            notes.append(RuleNote("match.username", "there is no user \"\(username)\" yet", may_change: true))
        }
        return notes
    }

    /// Notes on parts of the rule that can never match. They are probably misspelt.
    ///
    /// - Parameter routes: the platform's routes.
    package func notes(_ routes: [KnownRoute]) -> [ErrorDetail] {
        var notes =
            route.map {
                RouteNotes.notes($0, method: method, "match.", routes, unsimulated: platforms.unsimulatedPaths)
            } ?? []
        if case .request(let effect, _) = effect, let route, let note = effect.note(route, routes) {
            notes.append(ErrorDetail("effect.\(effect.name)", note))
        }
        if let username, webhook == nil, !routes.contains(where: isAskedByUsers) {
            notes.append(
                ErrorDetail(
                    "match.username",
                    "matches only logins and requests with \(username)'s session, and no route like this takes either"
                ))
        }
        if let webhook, !platforms.webhookEvents.contains(where: webhook.matches),
            !platforms.isFutureWebhookEvent(webhook.pattern),
            !platforms.futureWebhookEvents(SeededGenerator(randomSeed: 0)).contains(where: webhook.matches)
        {
            let known = platforms.webhookEvents
            let guess = FieldReader.guess(webhook.pattern, known)
            notes.append(
                ErrorDetail(
                    "match.webhook",
                    "no webhook event matches \(webhook.pattern); \(guess)events are \(known.joined(separator: ", "))"))
        }
        return notes
    }

    /// Whether the rule answers requests with such a status of its own.
    func answers(_ status: JournalQuery.StatusPattern) -> Bool {
        guard case .request(_, let action) = effect else { return false }
        return action.statuses?.contains(where: status.matches) ?? true
    }

    /// Whether users call a route that the rule matches, with a session or to log in.
    private func isAskedByUsers(_ asked: KnownRoute) -> Bool {
        (route?.overlaps(asked.path) ?? true)
            && platforms.all.contains { $0.paths.isCalledByUsers(asked.path.pattern) }
    }
}

/// Notes on globs over routes that match no route.
package enum RouteNotes {
    /// - Parameters:
    ///   - method: the only method the rule matches; `nil` if it matches any.
    ///   - prefix: precedes `route` and `method` in the notes' field names.
    ///   - routes: the platform's routes.
    ///   - unsimulated: the paths that the platforms know and do not simulate.
    package static func notes(
        _ route: Glob, method: String?, _ prefix: String, _ routes: [KnownRoute],
        unsimulated: [Glob]
    ) -> [ErrorDetail] {
        let met = routes.filter { route.overlaps($0.path) }
        if route.pattern.utf8.starts(with: "/_sim".utf8) {
            return [ErrorDetail("\(prefix)route", "faults do not apply to the control API")]
        }
        guard !met.isEmpty else {
            guard !unsimulated.contains(where: route.overlaps) else { return [] }
            let hint = hint(route, method, routes)
            return [ErrorDetail("\(prefix)route", "no route of the server matches \(route.pattern)\(hint)")]
        }
        // Where each route takes a word of the pattern as an id, it is probably the word of a longer path.
        if met.allSatisfy({ !$0.named(by: route).isEmpty }),
            let hint = wider(route, routes)
        {
            let (parameter, value) = met[0].named(by: route)[0]
            return [
                ErrorDetail(
                    "\(prefix)route", "\(route.pattern) matches only routes whose {\(parameter)} is \"\(value)\"\(hint)"
                )
            ]
        }
        var methods = Set(met.map(\.method))
        // HEAD is allowed on every route that allows GET.
        if methods.contains("GET") { methods.insert("HEAD") }
        guard let method, !methods.contains(where: { $0.isIdentical(to: method) }) else { return [] }
        return [
            ErrorDetail(
                "\(prefix)method",
                "no route matching \(route.pattern) accepts \(method); they accept "
                    + methods.sorted().joined(separator: ", "))
        ]
    }

    /// The longest pattern, in bytes, for which a near route is looked for. A scenario has up to a thousand rules, and looking takes longer
    /// than reading.
    private static let maxHinted = 100

    /// The end of a note on a pattern that no route matches.
    private static func hint(_ route: Glob, _ method: String?, _ routes: [KnownRoute]) -> String {
        guard route.pattern.utf8.count <= maxHinted else { return "" }
        if let wider = wider(route, routes) { return wider }
        let near = NearestRoute(routes.map { ($0.parts.map(String.init), $0.method) })
            .nearest(to: route.pattern.split(at: "/").map(String.init), method ?? "GET")
        return near.map { "; the nearest is \($0)" } ?? ""
    }

    /// The end of a note on the pattern with `**` for each `*`; `nil` if it has no `*`, or if no route has its words, other than as ids.
    private static func wider(_ route: Glob, _ routes: [KnownRoute]) -> String? {
        guard let wider = route.crossingSlashes,
            routes.contains(where: { wider.overlaps($0.path) && $0.named(by: wider).isEmpty })
        else { return nil }
        return "; a * stands for one part of a path, and \(wider.pattern) for any number of them"
    }
}
