import EntrupyAPI
import Foundation
import Storage

/// A fault's effect on an answer, which the server applies when it sends the answer.
package enum AnswerEffect: Sendable {
    /// Delays the answer, in seconds of real time.
    case delay(Double)
    /// Resets the connection.
    case dropConnection
    /// Sends only this many bytes of the body.
    case truncateBody(Int)
    /// Sends JSON that does not parse.
    case malformedJSON
    /// Sends this many bytes of the body a second.
    case slowBody(Int)
}

extension FaultRule {
    /// The names of effects in a rule [D fault-rules]. Each has its parser in ``Effect/init(_:ofWebhook:_:)``.
    enum EffectName: String, CaseIterable, Sendable {
        case delay
        case drop
        case dropConnection = "drop_connection"
        case duplicate
        case expireSession = "expire_session"
        case imageUploadError = "image_upload_error"
        case malformedJSON = "malformed_json"
        case rateLimit = "rate_limit"
        case reorder
        case slowBody = "slow_body"
        case status
        case truncateBody = "truncate_body"
        case wrongSignature = "wrong_signature"

        /// Whether requests can have the effect, and whether webhooks can.
        private var applies: (toRequests: Bool, toWebhooks: Bool) {
            switch self {
            case .delay: (true, true)
            case .dropConnection, .expireSession, .imageUploadError, .malformedJSON, .rateLimit, .slowBody, .status,
                .truncateBody:
                (true, false)
            case .drop, .duplicate, .reorder, .wrongSignature: (false, true)
            }
        }

        static let ofRequests = allCases.filter(\.applies.toRequests)
        static let ofWebhooks = allCases.filter(\.applies.toWebhooks)
    }

    /// The effect on a request or webhook.
    enum Effect: Sendable {
        /// Answers with this status instead of doing what the request asks.
        case status(Int, body: JSONValue?)
        /// Handles the request and delays the answer.
        case delay(Delay)
        /// Handles the request and changes the answer on its way out.
        case answer(AnswerEffect)
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
        var name: EffectName {
            switch self {
            case .drop: .drop
            case .delay: .delay
            case .duplicate: .duplicate
            case .reorder: .reorder
            case .wrongSignature: .wrongSignature
            }
        }
    }

    /// The delay of an answer, in real time, or of a webhook, on the namespace's clock.
    enum Delay: Sendable {
        case fixed(Span)
        case uniform(Span, Span)
        case lognormal(median: Span, sigma: Double)

        /// The longest delay of an answer [D fault-rules].
        static let maxAnswerDelay = Span.hour
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
}

extension FaultRule.Effect {
    /// Reads an effect. Problems go to `reader`; the effect then has no meaning.
    init(_ value: JSONValue?, ofWebhook isWebhook: Bool, _ reader: inout DocumentReader) {
        self = Self.read(value, ofWebhook: isWebhook, &reader) ?? .answer(.dropConnection)
    }

    private static func read(
        _ value: JSONValue?, ofWebhook isWebhook: Bool, _ reader: inout DocumentReader
    ) -> Self? {
        let names = isWebhook ? FaultRule.EffectName.ofWebhooks : FaultRule.EffectName.ofRequests
        let list = names.map(\.rawValue)
        let expected =
            "must be an object with one of \(list.joined(separator: ", "))\(isWebhook ? ", for a webhook" : "")"
        guard let value, value != .null, let given = value.members else {
            reader.problems.append(ErrorDetail("effect", expected))
            return nil
        }
        // An effect of the other kind gets a message that says what is missing.
        let others = FaultRule.EffectName.allCases.filter { given[$0.rawValue] != nil && !names.contains($0) }
        for other in others {
            reader.problems.append(
                ErrorDetail(
                    "effect.\(other.rawValue)",
                    isWebhook
                        ? "is for requests; a webhook takes \(list.joined(separator: ", "))"
                        : "is for webhooks; say which with match.webhook, for instance \"session.*\""))
        }
        guard others.isEmpty else { return nil }
        let members = reader.object(value, "effect", allowed: list + (isWebhook ? [] : ["body"]))
        let chosen = names.filter { members[$0.rawValue] != nil }
        guard chosen.count == 1, let name = chosen.first, let argument = members[name.rawValue] else {
            reader.problems.append(ErrorDetail("effect", "\(expected); got \(chosen.count) of them"))
            return nil
        }
        let field = "effect.\(name.rawValue)"
        if members["body"] != nil, name != .status {
            reader.problems.append(ErrorDetail("effect.body", "belongs to status; a \(name.rawValue) has none"))
        }
        if argument == .null { reader.problems.append(ErrorDetail(field, "must not be null")) }
        switch name {
        case .status:
            let status = reader.count(argument, field, from: 200, to: 599) ?? 0
            return .status(status, body: members["body"].flatMap { $0 == .null ? nil : $0 })
        case .delay where isWebhook:
            return .webhook(.delay(.init(argument, to: FaultRule.Delay.maxWebhookDelay, &reader)))
        case .delay: return .delay(.init(argument, to: FaultRule.Delay.maxAnswerDelay, &reader))
        case .truncateBody: return .answer(.truncateBody(reader.count(argument, field) ?? 0))
        case .slowBody: return .answer(.slowBody(reader.count(argument, field, from: 1) ?? 1))
        case .dropConnection: return on(.answer(.dropConnection), argument, field, &reader)
        case .expireSession: return on(.expireSession, argument, field, &reader)
        case .imageUploadError: return on(.imageUploadError, argument, field, &reader)
        case .malformedJSON: return on(.answer(.malformedJSON), argument, field, &reader)
        case .rateLimit: return on(.rateLimit, argument, field, &reader)
        case .drop: return on(.webhook(.drop), argument, field, &reader)
        case .duplicate: return on(.webhook(.duplicate), argument, field, &reader)
        case .reorder: return on(.webhook(.reorder), argument, field, &reader)
        case .wrongSignature: return on(.webhook(.wrongSignature), argument, field, &reader)
        }
    }

    /// An effect without an argument, which must be `true`.
    private static func on(
        _ effect: Self, _ argument: JSONValue, _ field: String, _ reader: inout DocumentReader
    ) -> Self {
        if let flag = reader.bool(argument, field), !flag {
            reader.problems.append(ErrorDetail(field, "must be true; to have no fault, delete the rule"))
        }
        return effect
    }
}

extension FaultRule.Delay {
    /// Reads a delay of at most `longest`. Problems go to `reader`.
    fileprivate init(_ value: JSONValue, to longest: Span, _ reader: inout DocumentReader) {
        guard value.members != nil else {
            self = .fixed(reader.span(value, "effect.delay", to: longest) ?? .zero)
            return
        }
        let members = reader.object(value, "effect.delay", allowed: ["uniform", "lognormal"])
        guard members.count == 1 else {
            reader.problems.append(
                ErrorDetail(
                    "effect.delay",
                    "must be a duration, {\"uniform\": [\"1s\", \"3s\"]} or {\"lognormal\": {\"median\": \"1s\", \"sigma\": 0.5}}"
                ))
            self = .fixed(.zero)
            return
        }
        if let uniform = members["uniform"] {
            guard let bounds = uniform.elements, bounds.count == 2 else {
                reader.problems.append(ErrorDetail("effect.delay.uniform", "must be a list of two durations"))
                self = .fixed(.zero)
                return
            }
            for (index, bound) in bounds.enumerated() where bound == .null {
                reader.problems.append(ErrorDetail("effect.delay.uniform[\(index)]", Span.expectation))
            }
            let least = reader.span(bounds[0], "effect.delay.uniform[0]", to: longest) ?? .zero
            let most = reader.span(bounds[1], "effect.delay.uniform[1]", to: longest) ?? least
            if most < least {
                reader.problems.append(ErrorDetail("effect.delay.uniform", "must have the shorter duration first"))
            }
            self = .uniform(least, max(least, most))
            return
        }
        let lognormal = reader.object(members["lognormal"], "effect.delay.lognormal", allowed: ["median", "sigma"])
        let field = "effect.delay.lognormal"
        let median = reader.span(lognormal["median"], "\(field).median", to: longest)
        let sigma = reader.number(lognormal["sigma"], "\(field).sigma", in: 0...10)
        if median == nil, reader.problems.isEmpty {
            reader.problems.append(ErrorDetail("\(field).median", "is missing"))
        }
        self = .lognormal(median: median ?? .zero, sigma: sigma ?? 1)
    }
}
