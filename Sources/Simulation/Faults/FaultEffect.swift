import Foundation
import SimulationAPI

/// A fault's effect on an answer, which the server applies when it sends the answer.
package enum AnswerEffect: Sendable {
    /// Delays the answer, in seconds of real time.
    case delay(Double)
    /// Resets the connection after the request was handled.
    case dropConnection
    /// Resets the connection before the request is handled.
    case loseRequest
    /// Sends only this many bytes of the body.
    case truncateBody(Int)
    /// Sends JSON that does not parse.
    case malformedJSON
    /// Sends this many bytes of the body a second.
    case slowBody(Int)
    /// Holds the request, or its answer, until a test releases it. The request of a resend is not held.
    case hold(Hold)
    /// Holds the request, or has held it.
    case held(HeldRequest)
}

/// An effect of fault rules on requests that a platform adds.
package struct PlatformEffect: Sendable {
    package let name: String
    /// The words of which the argument is one; empty if it is `true`.
    package let words: [String]
    /// Carries it out before the request is handled. Writes. Returns the answer that replaces the normal one.
    package let perform:
        @Sendable (_ request: RequestMetadata, _ word: String, _ ruleID: String, _ job: JobContext) throws
            -> PlatformError?
    /// Why the effect can never apply to a route; `nil` if it can.
    package let note: @Sendable (_ route: Glob, _ routes: [KnownRoute]) -> String?

    package init(
        name: String, words: [String] = [],
        perform:
            @escaping @Sendable (_ request: RequestMetadata, _ word: String, _ ruleID: String, _ job: JobContext) throws
            -> PlatformError?,
        note: @escaping @Sendable (_ route: Glob, _ routes: [KnownRoute]) -> String? = { _, _ in nil }
    ) {
        self.name = name
        self.words = words
        self.perform = perform
        self.note = note
    }
}

extension FaultRule {
    /// The names of the engine's effects in a rule [D fault-rules]. Each has its parser in ``Effect/init(_:ofWebhook:_:)``.
    package enum EffectName: String, CaseIterable, Sendable {
        case delay
        case drop
        case dropConnection = "drop_connection"
        case duplicate
        case hold
        case loseRequest = "lose_request"
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
            case .dropConnection, .hold, .loseRequest, .malformedJSON, .rateLimit, .slowBody, .status, .truncateBody:
                (true, false)
            case .drop, .duplicate, .reorder, .wrongSignature: (false, true)
            }
        }

        package static let ofRequests = allCases.filter(\.applies.toRequests)
        package static let ofWebhooks = allCases.filter(\.applies.toWebhooks)
    }

    /// The effect on a request or webhook.
    package enum Effect: Sendable {
        /// Answers with this status instead of doing what the request asks.
        case status(Int, body: JSONValue?, headers: [AnswerHeader])
        /// Handles the request and delays the answer.
        case delay(Delay)
        /// Handles the request, unless it is lost, and changes the answer on its way out.
        case answer(AnswerEffect)
        /// Answers 429, with the time that `Retry-After` names.
        case rateLimit(retryAfter: Span)
        /// Does what a platform says.
        case platform(PlatformEffect, word: String)
        /// Affects an attempt to deliver a webhook.
        case webhook(WebhookEffect)
    }

    /// The effect on one attempt to deliver a webhook.
    package enum WebhookEffect: Sendable {
        /// Does not send it. The attempt counts as failed.
        case drop
        /// Sends it later. The delay is on the namespace's clock.
        case delay(Delay)
        /// Sends it twice.
        case duplicate
        /// Sends it after the subject's next delivery.
        case reorder
        /// Signs it with a wrong secret.
        case wrongSignature

        /// The name under which a delivery stores the effect.
        package var name: EffectName {
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
    package enum Delay: Sendable {
        case fixed(Span)
        case uniform(Span, Span)
        case lognormal(median: Span, sigma: Double)

        /// The longest delay of an answer [D fault-rules].
        package static let maxAnswerDelay = Span.hour
        /// The longest delay of a webhook [D webhook-faults].
        package static let maxWebhookDelay = Span(microseconds: 30 * Span.day.microseconds)

        /// The delay. A random one is drawn from the namespace's generator for `purpose`, and is at most `max`.
        package func span(_ generator: SeededGenerator, _ purpose: String, max: Span) -> Span {
            switch self {
            case .fixed(let span): return span
            case .uniform(let shortest, let longest):
                let share = generator.fraction(for: "\(purpose):delay")
                let width = Double(longest.microseconds - shortest.microseconds)
                return Span(microseconds: shortest.microseconds + Int64(share * width))
            case .lognormal(let median, let sigma):
                // Box–Muller transform to a normal deviate. `1 - fraction` keeps the logarithm away from zero.
                let radius = (-2 * log(1 - generator.fraction(for: "\(purpose):radius"))).squareRoot()
                let deviate = radius * cos(2 * .pi * generator.fraction(for: "\(purpose):angle"))
                let microseconds = Double(median.microseconds) * exp(sigma * deviate)
                return Span(microseconds: Int64(min(microseconds, Double(max.microseconds))))
            }
        }
    }
}

extension FaultRule.Effect {
    /// Reads the effect of a rule. Problems go to `rule`; the effect then has no meaning.
    package init(_ rule: inout FieldReader, ofWebhook isWebhook: Bool, _ platforms: Platforms) {
        self = Self.read(&rule, ofWebhook: isWebhook, platforms) ?? .answer(.dropConnection)
    }

    private static func read(_ rule: inout FieldReader, ofWebhook isWebhook: Bool, _ platforms: Platforms) -> Self? {
        let ofRequests = FaultRule.EffectName.ofRequests.map(\.rawValue) + platforms.faultEffects.map(\.name)
        let ofWebhooks = FaultRule.EffectName.ofWebhooks.map(\.rawValue)
        let list = (isWebhook ? ofWebhooks : ofRequests).sorted()
        let expected =
            "must be an object with one of \(list.joined(separator: ", "))\(isWebhook ? ", for a webhook" : "")"
        guard let given = rule.value("effect")?.members else {
            rule.report("effect", expected)
            return nil
        }
        // An effect of the other kind gets a message that says what is missing.
        let others = (isWebhook ? ofRequests : ofWebhooks).sorted().filter { given[$0] != nil && !list.contains($0) }
        for other in others {
            rule.report(
                "effect.\(other)",
                isWebhook
                    ? "is for requests; a webhook takes \(list.joined(separator: ", "))"
                    : "is for webhooks; say which with match.webhook, \"*\" for all")
        }
        guard others.isEmpty else { return nil }
        var effect = rule.object("effect", known: list + (isWebhook ? [] : ["body", "headers"]))
        let chosen = list.filter { given[$0] != nil }
        guard chosen.count == 1, let name = chosen.first else {
            rule.report("effect", "\(expected), got \(chosen.count) of them")
            return nil
        }
        effect.require(name)
        for part in ["body", "headers"] where given[part] != nil && name != FaultRule.EffectName.status.rawValue {
            effect.report(part, "belongs to status; a \(name) has none")
        }
        if let own = platforms.faultEffects.first(where: { $0.name == name }) {
            guard own.words.isEmpty else {
                return .platform(own, word: effect.requiredWord(name, own.words))
            }
            return on(.platform(own, word: ""), name, &effect)
        }
        return FaultRule.EffectName(rawValue: name).map { read($0, &effect, ofWebhook: isWebhook) }
    }

    private static func read(
        _ name: FaultRule.EffectName, _ effect: inout FieldReader, ofWebhook isWebhook: Bool
    ) -> Self {
        let key = name.rawValue
        switch name {
        case .status:
            return .status(
                effect.number(key, in: 200...599) ?? 0, body: effect.value("body"), headers: AnswerHeader.read(&effect))
        case .delay where isWebhook: return .webhook(.delay(.init(&effect, to: FaultRule.Delay.maxWebhookDelay)))
        case .delay: return .delay(.init(&effect, to: FaultRule.Delay.maxAnswerDelay))
        case .truncateBody: return .answer(.truncateBody(effect.size(key, in: 0...1_000_000_000) ?? 0))
        case .slowBody: return .answer(.slowBody(effect.number(key, in: 1...1_000_000_000) ?? 1))
        case .dropConnection: return on(.answer(.dropConnection), key, &effect)
        case .loseRequest: return on(.answer(.loseRequest), key, &effect)
        case .hold: return .answer(.hold(Hold(&effect, key)))
        case .malformedJSON: return on(.answer(.malformedJSON), key, &effect)
        case .rateLimit: return rateLimit(&effect, key)
        case .drop: return on(.webhook(.drop), key, &effect)
        case .duplicate: return on(.webhook(.duplicate), key, &effect)
        case .reorder: return on(.webhook(.reorder), key, &effect)
        case .wrongSignature: return on(.webhook(.wrongSignature), key, &effect)
        }
    }

    /// `true`, or an object with the wait.
    private static func rateLimit(_ effect: inout FieldReader, _ key: String) -> Self {
        guard case .object? = effect.value(key) else { return on(.rateLimit(retryAfter: .second), key, &effect) }
        var limit = effect.object(key, known: ["retry_after"])
        return .rateLimit(retryAfter: limit.span("retry_after", from: .second, to: .day) ?? .second)
    }

    /// An effect without an argument, which must be `true`.
    private static func on(_ effect: Self, _ key: String, _ fields: inout FieldReader) -> Self {
        if fields.optionalBool(key) == false { fields.report(key, "must be true; to have no fault, delete the rule") }
        return effect
    }
}

extension FaultRule.Delay {
    /// Reads the delay of an effect, at most `longest`.
    fileprivate init(_ effect: inout FieldReader, to longest: Span) {
        guard let given = effect.value("delay")?.members else {
            self = .fixed(effect.span("delay", to: longest) ?? .zero)
            return
        }
        var delay = effect.object("delay", known: ["uniform", "lognormal"])
        guard given.count == 1 else {
            effect.report(
                "delay",
                "must be a duration, {\"uniform\": [\"1s\", \"3s\"]} or {\"lognormal\": {\"median\": \"1s\", \"sigma\": 0.5}}"
            )
            self = .fixed(.zero)
            return
        }
        self = given["uniform"] == nil ? Self.lognormal(&delay, to: longest) : Self.uniform(&delay, to: longest)
    }

    private static func uniform(_ delay: inout FieldReader, to longest: Span) -> Self {
        let expected = "must be a list of two durations"
        delay.require("uniform")
        guard var bounds = delay.elements("uniform", expected) else { return .fixed(.zero) }
        guard bounds.names.count == 2 else {
            delay.report("uniform", "\(expected), got \(bounds.names.count)")
            return .fixed(.zero)
        }
        for name in bounds.names { bounds.fields.require(name) }
        let least = bounds.fields.span("[0]", to: longest) ?? .zero
        let most = bounds.fields.span("[1]", to: longest) ?? least
        if most < least { delay.report("uniform", "must have the shorter duration first") }
        return .uniform(least, max(least, most))
    }

    private static func lognormal(_ delay: inout FieldReader, to longest: Span) -> Self {
        var lognormal = delay.object("lognormal", known: ["median", "sigma"])
        lognormal.require("median")
        return .lognormal(
            median: lognormal.span("median", to: longest) ?? .zero, sigma: lognormal.decimal("sigma", in: 0...10) ?? 1)
    }
}
