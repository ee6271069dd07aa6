import EntrupyAPI
import Foundation
import Storage

/// A rule that makes matching requests or webhooks fail on purpose [D fault-rules].
struct FaultRule: Sendable {
    /// The effect on a request or webhook.
    enum Effect: Sendable {
        /// Answers with this status instead of doing what the request asks.
        case status(Int, body: JSONValue?)
        /// Handles the request and delays the answer.
        case delay(Delay)
        /// Handles the request and resets the connection.
        case dropConnection
        /// Handles the request and sends only this many bytes of the answer's body.
        case truncateBody(Int)
        /// Handles the request and answers with JSON that does not parse.
        case malformedJSON
        /// Handles the request and sends this many bytes of the answer per second.
        case slowBody(Int)
        /// Answers 429.
        case rateLimit
        /// Answers 422.
        case imageUploadError
        /// Expires the caller's session, then handles the request.
        case expireSession
        /// Affects an attempt to deliver a webhook.
        case webhook(WebhookEffect)
    }

    /// The effect on one attempt to deliver a webhook.
    enum WebhookEffect: Sendable {
        /// Does not send it. The attempt counts as failed.
        case drop
        /// Sends it later. The delay is on the namespace's clock.
        case delay(Delay)
        /// Sends it twice.
        case duplicate
        /// Sends it after the item's next delivery.
        case reorder
        /// Signs it with a wrong secret.
        case wrongSignature

        /// The name under which a delivery stores the effect.
        var name: String {
            switch self {
            case .drop: "drop"
            case .delay: "delay"
            case .duplicate: "duplicate"
            case .reorder: "reorder"
            case .wrongSignature: "wrong_signature"
            }
        }
    }

    /// The delay of an answer, in real time, or of a webhook, on the namespace's clock.
    enum Delay: Sendable {
        case fixed(Span)
        case uniform(Span, Span)
        case lognormal(median: Span, sigma: Double)

        /// The longest delay of an answer [D fault-rules].
        static let most = Span.hour
        /// The longest delay of a webhook [D webhook-faults].
        static let maxWebhookDelay = Span(microseconds: 30 * Span.day.microseconds)

        /// The delay. A random one is drawn from the namespace's generator for `purpose`.
        func span(_ generator: SeededGenerator, _ purpose: String) -> Span {
            switch self {
            case .fixed(let span): return span
            case .uniform(let least, let most):
                let share = generator.fraction(for: "\(purpose):delay")
                let width = Double(most.microseconds - least.microseconds)
                return Span(microseconds: least.microseconds + Int64(share * width))
            case .lognormal(let median, let sigma):
                // Box–Muller transform to a normal deviate. `1 - fraction` keeps the logarithm away from zero.
                let radius = (-2 * log(1 - generator.fraction(for: "\(purpose):radius"))).squareRoot()
                let deviate = radius * cos(2 * .pi * generator.fraction(for: "\(purpose):angle"))
                let microseconds = Double(median.microseconds) * exp(sigma * deviate)
                return Span(microseconds: Int64(min(microseconds, Double(Self.maxWebhookDelay.microseconds))))
            }
        }
    }

    var id: String
    let effect: Effect
    /// From 0 to 1; `nil` if the rule always triggers.
    let probability: Double?
    /// The maximum number of times the rule triggers; `nil` if it has none.
    let times: Int?
    /// The number of matching requests that pass before the rule can trigger.
    let afterRequests: Int
    /// The number of requests the rule has matched.
    var seen: Int
    /// The number of times the rule has triggered.
    var hits: Int
    /// The rule as the client sent it.
    let document: JSONValue

    /// The webhook events the rule matches; `nil` if it matches requests.
    let webhook: Glob?

    private let route: Glob?
    private let method: String?
    private let username: String?
    private let headers: [(name: String, value: Glob)]

    private static let requestEffects = [
        "delay", "drop_connection", "expire_session", "image_upload_error", "malformed_json", "rate_limit", "slow_body",
        "status", "truncate_body",
    ]
    static let webhookEffects = ["delay", "drop", "duplicate", "reorder", "wrong_signature"]

    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every problem.
    init(_ document: JSONValue, id: String, seen: Int = 0, hits: Int = 0) throws {
        var reader = DocumentReader(member: "part of a fault rule")
        let given = reader.object(
            document, "", allowed: ["match", "effect", "probability", "times", "after_requests"], of: "the rule")
        let isWebhook = given["match"]?.members?["webhook"].map { $0 != .null } ?? false
        let match = reader.object(
            given["match"], "match",
            allowed: isWebhook ? ["webhook", "username"] : ["route", "method", "username", "header", "webhook"])
        webhook = reader.text(match["webhook"], "match.webhook").map { Glob($0) }
        route = reader.text(match["route"], "match.route").map { Glob($0) }
        method = reader.oneOf(
            match["method"].map { $0.text.map { .string($0.uppercased()) } ?? $0 }, "match.method",
            RequestMetadata.methods)
        username = reader.text(match["username"], "match.username")
        headers = Self.headers(match["header"], &reader)
        effect = Self.effect(given["effect"], ofWebhook: isWebhook, &reader)
        // Checked for new rules only: a stored rule may be older than this check.
        if id.isEmpty, case .status(let status, .some) = effect, [204, 205, 304].contains(status) {
            reader.problems.append(ErrorDetail("effect.body", "must be left out: a \(status) has no body (RFC 9110)"))
        }
        probability = reader.number(given["probability"], "probability", in: 0...1)
        times = reader.count(given["times"], "times", from: 1)
        afterRequests = reader.count(given["after_requests"], "after_requests") ?? 0
        try reader.finish()
        self.id = id
        self.seen = seen
        self.hits = hits
        self.document = document
    }

    private static func headers(
        _ value: JSONValue?, _ reader: inout DocumentReader
    ) -> [(name: String, value: Glob)] {
        guard let value, value != .null else { return [] }
        guard let members = value.members else {
            reader.problems.append(
                ErrorDetail(
                    "match.header", "must be an object of names and globs, for instance {\"X-Device\": \"ipad-*\"}"))
            return []
        }
        return members.keys.sorted().compactMap { name in
            let field = "match.header.\(name)"
            if members[name] == .null { reader.problems.append(ErrorDetail(field, "must be a glob, got null")) }
            return reader.text(members[name], field).map { (name, Glob($0)) }
        }
    }

    private static func effect(
        _ value: JSONValue?, ofWebhook isWebhook: Bool, _ reader: inout DocumentReader
    ) -> Effect {
        let effects = isWebhook ? webhookEffects : requestEffects
        let expected =
            "must be an object with one of \(effects.joined(separator: ", "))\(isWebhook ? ", for a webhook" : "")"
        guard let value, value != .null, let given = value.members else {
            reader.problems.append(ErrorDetail("effect", expected))
            return .dropConnection
        }
        // An effect of the other kind gets a message that says what is missing.
        let others = (isWebhook ? requestEffects : webhookEffects).filter { given[$0] != nil && !effects.contains($0) }
        for other in others {
            reader.problems.append(
                ErrorDetail(
                    "effect.\(other)",
                    isWebhook
                        ? "is for requests; a webhook takes \(effects.joined(separator: ", "))"
                        : "is for webhooks; say which with match.webhook, for instance \"session.*\""))
        }
        guard others.isEmpty else { return .dropConnection }
        let members = reader.object(value, "effect", allowed: effects + (isWebhook ? [] : ["body"]))
        let kinds = effects.filter { members[$0] != nil }
        guard kinds.count == 1, let kind = kinds.first, let chosen = members[kind] else {
            reader.problems.append(ErrorDetail("effect", "\(expected); this has \(kinds.count) of them"))
            return .dropConnection
        }
        let field = "effect.\(kind)"
        if members["body"] != nil, kind != "status" {
            reader.problems.append(ErrorDetail("effect.body", "belongs to status; a \(kind) has none"))
        }
        if chosen == .null { reader.problems.append(ErrorDetail(field, "must not be null")) }
        switch kind {
        case "status":
            let status = reader.count(chosen, field, from: 200, to: 599) ?? 0
            return .status(status, body: members["body"].flatMap { $0 == .null ? nil : $0 })
        case "delay" where isWebhook:
            return .webhook(.delay(delay(chosen, to: Delay.maxWebhookDelay, &reader)))
        case "delay": return .delay(delay(chosen, to: Delay.most, &reader))
        case "truncate_body": return .truncateBody(reader.count(chosen, field) ?? 0)
        case "slow_body": return .slowBody(reader.count(chosen, field, from: 1) ?? 1)
        default:
            if let flag = reader.bool(chosen, field), !flag {
                reader.problems.append(ErrorDetail(field, "must be true; to have no fault, delete the rule"))
            }
            return switch kind {
            case "drop_connection": .dropConnection
            case "malformed_json": .malformedJSON
            case "rate_limit": .rateLimit
            case "image_upload_error": .imageUploadError
            case "drop": .webhook(.drop)
            case "duplicate": .webhook(.duplicate)
            case "reorder": .webhook(.reorder)
            case "wrong_signature": .webhook(.wrongSignature)
            default: .expireSession
            }
        }
    }

    private static func delay(_ value: JSONValue, to longest: Span, _ reader: inout DocumentReader) -> Delay {
        guard value.members != nil else {
            return .fixed(reader.span(value, "effect.delay", to: longest) ?? .zero)
        }
        let members = reader.object(value, "effect.delay", allowed: ["uniform", "lognormal"])
        guard members.count == 1 else {
            reader.problems.append(
                ErrorDetail(
                    "effect.delay",
                    "must be a duration, {\"uniform\": [\"1s\", \"3s\"]} or {\"lognormal\": {\"median\": \"1s\", \"sigma\": 0.5}}"
                ))
            return .fixed(.zero)
        }
        if let uniform = members["uniform"] {
            guard let bounds = uniform.elements, bounds.count == 2 else {
                reader.problems.append(ErrorDetail("effect.delay.uniform", "must be a list of two durations"))
                return .fixed(.zero)
            }
            for (index, bound) in bounds.enumerated() where bound == .null {
                reader.problems.append(ErrorDetail("effect.delay.uniform[\(index)]", Span.expectation))
            }
            let least = reader.span(bounds[0], "effect.delay.uniform[0]", to: longest) ?? .zero
            let most = reader.span(bounds[1], "effect.delay.uniform[1]", to: longest) ?? least
            if most < least {
                reader.problems.append(ErrorDetail("effect.delay.uniform", "must have the shorter duration first"))
            }
            return .uniform(least, max(least, most))
        }
        let lognormal = reader.object(members["lognormal"], "effect.delay.lognormal", allowed: ["median", "sigma"])
        let field = "effect.delay.lognormal"
        let median = reader.span(lognormal["median"], "\(field).median", to: longest)
        let sigma = reader.number(lognormal["sigma"], "\(field).sigma", in: 0...10)
        if median == nil, reader.problems.isEmpty {
            reader.problems.append(ErrorDetail("\(field).median", "is missing"))
        }
        return .lognormal(median: median ?? .zero, sigma: sigma ?? 1)
    }

    /// Whether the rule matches an attempt to deliver a webhook.
    func matches(event: String, username owner: () throws -> String?) rethrows -> Bool {
        guard let webhook, webhook.matches(event) else { return false }
        guard let username else { return true }
        return try owner()?.isIdentical(to: username) ?? false
    }

    /// Whether the rule matches a request. Does not count it.
    func matches(_ request: RequestMetadata, username caller: () throws -> String?) rethrows -> Bool {
        guard webhook == nil, route?.matches(request.path) ?? true, method?.isIdentical(to: request.method) ?? true
        else {
            return false
        }
        for header in headers where !request.header(header.name).contains(where: header.value.matches) { return false }
        guard let username else { return true }
        return try caller()?.isIdentical(to: username) ?? false
    }

    /// Notes on parts of the rule that currently match nothing.
    func notes(_ job: JobContext) throws -> [ErrorDetail] {
        var notes = notes(job.state.environment.routes)
        if let username, try job.transaction.user(username: username) == nil {
            notes.append(ErrorDetail("match.username", "there is no user \"\(username)\" yet"))
        }
        return notes
    }

    /// Notes on parts of the rule that can never match. They are probably misspelt.
    ///
    /// - Parameter routes: the platform's routes.
    func notes(_ routes: [(method: String, path: Glob)]) -> [ErrorDetail] {
        var notes = route.map { RouteNotes.notes($0, method: method, "match.", routes) } ?? []
        if case .imageUploadError = effect, let route,
            !routes.contains(where: { $0.path.pattern.contains("/images/") && route.meets($0.path) })
        {
            notes.append(
                ErrorDetail("effect.image_upload_error", "no image is uploaded to a route like \(route.pattern)"))
        }
        if let username, webhook == nil, !routes.contains(where: isAskedByUsers) {
            notes.append(
                ErrorDetail(
                    "match.username",
                    "matches only logins and requests with \(username)'s session, and no route like this takes either"
                ))
        }
        if let webhook, !WebhookEvent.allCases.contains(where: { webhook.matches($0.rawValue) }) {
            let events = WebhookEvent.allCases.map(\.rawValue).joined(separator: ", ")
            notes.append(
                ErrorDetail("match.webhook", "no webhook event matches \(webhook.pattern); events are \(events)"))
        }
        return notes
    }

    /// Whether users call a route that the rule matches, with a session or to log in.
    private func isAskedByUsers(_ asked: (method: String, path: Glob)) -> Bool {
        let path = asked.path.pattern
        return (route?.meets(asked.path) ?? true)
            && (path.utf8.starts(with: "/sdk/".utf8) || path.isIdentical(to: "/login"))
    }
}

/// Notes on globs over routes that match no route.
enum RouteNotes {
    /// - Parameters:
    ///   - method: the only method the rule matches; `nil` if it matches any.
    ///   - prefix: precedes `route` and `method` in the notes' field names.
    ///   - routes: the platform's routes.
    static func notes(
        _ route: Glob, method: String?, _ prefix: String, _ routes: [(method: String, path: Glob)]
    ) -> [ErrorDetail] {
        let met = routes.filter { route.meets($0.path) }
        if route.pattern.utf8.starts(with: "/_sim".utf8) {
            return [ErrorDetail("\(prefix)route", "faults do not apply to the control API")]
        }
        guard !met.isEmpty else {
            return [ErrorDetail("\(prefix)route", "no route of the server matches \(route.pattern)")]
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
}
