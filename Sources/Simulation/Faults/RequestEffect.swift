import SimulationAPI

/// An effect of fault rules on requests [D fault-rules]: all that the program knows of it. It has a file in `Effects` and a line in
/// ``all``, or a file of its platform and a line in ``SimulatedPlatform/faultEffects``.
package struct RequestEffect: Sendable {
    /// The name of its member in a rule's effect.
    package let name: String
    /// A sentence for the people who choose an effect.
    let about: String
    package let proves: Set<Proof>
    /// The words of which the argument is one; empty if the argument is something else.
    var words: [String] = []
    /// The members of a rule's effect that may stand beside it.
    var parts: [String] = []
    /// Whether the argument is a size. The rule shows it as a number.
    var isSize = false
    /// Reads the argument. Problems go to `effect`.
    let read: @Sendable (_ effect: inout FieldReader, _ name: String) -> Action
    /// Why the effect can never apply to a route; `nil` if it can.
    var note: @Sendable (_ route: Glob, _ routes: [KnownRoute]) -> String? = { _, _ in nil }

    static let all = [
        delay, dropConnection, hold, loseRequest, malformedJSON, rateLimit, slowBody, status, truncateBody,
    ]

    /// A conclusion that readers of the journal may draw from a request which had an effect.
    package enum Proof: Sendable {
        /// The request was handled as usual, even if its client cannot know.
        case handling
        /// The platform gave the answer, even if it is late or cut off: coverage counts it.
        case answer
        /// A success that reached the client is the platform's, and whole: the audit believes it.
        case success
    }

    /// The work of an effect with the argument of one rule.
    struct Action: Sendable {
        /// The statuses that it answers in place of the request's own; `nil` if they are not known.
        var statuses: [Int]? = []
        /// A problem of the member of a new rule. A stored rule may be older than this check.
        var problemOfNew: ErrorDetail?
        /// The effect on the answer; `nil` if it has none.
        var answer: AnswerEffect?
        /// Acts before the request is handled. Writes. Returns the answer that replaces the normal one.
        var perform: @Sendable (inout TriggeringRequest) throws -> PlatformError? = { _ in nil }
    }
}

/// A request that triggered a fault rule.
package struct TriggeringRequest {
    package let request: RequestMetadata
    package let ruleID: String
    /// The purpose for which random values are drawn.
    let purpose: String
    package let job: JobContext
    /// The effect on its answer.
    var answer: AnswerEffect?
}

extension RequestEffect {
    /// An effect of a platform, which acts before the request is handled. The argument is one of `words`, or `true` if there are none.
    package init(
        _ name: String, _ about: String, proves: Set<Proof> = [.success], words: [String] = [],
        perform: @escaping @Sendable (_ triggering: TriggeringRequest, _ word: String) throws -> PlatformError?,
        note: @escaping @Sendable (_ route: Glob, _ routes: [KnownRoute]) -> String? = { _, _ in nil }
    ) {
        self.init(
            name: name, about: about, proves: proves, words: words,
            read: { effect, name in
                let word = words.isEmpty ? effect.flag(name, "") : effect.requiredWord(name, words)
                return Action(statuses: nil) { try perform($0, word) }
            }, note: note)
    }
}

extension Platforms {
    /// The effects of fault rules on requests.
    package var faultEffects: [RequestEffect] { RequestEffect.all + all.flatMap(\.faultEffects) }

    /// The conclusions from a request that had an effect, as a rule gave it. One that is not known is believed.
    func proof(of effect: JSONObject?) -> Set<RequestEffect.Proof> {
        faultEffects.first { effect?[$0.name] != nil }?.proves ?? [.success]
    }
}

extension FieldReader {
    /// Reads an argument that must be `true`.
    mutating func flag<Action>(_ name: String, _ action: Action) -> Action {
        if optionalBool(name) == false { report(name, "must be true; to have no fault, delete the rule") }
        return action
    }
}

extension FaultRule {
    /// The effect of a rule, with its argument.
    enum Effect: Sendable {
        case request(RequestEffect, RequestEffect.Action)
        case webhook(WebhookEffect, WebhookEffect.Action)
    }
}

extension FaultRule.Effect {
    /// Reads the effect of a rule. Problems go to `rule`; `nil` if there is no effect to read.
    static func read(_ rule: inout FieldReader, ofWebhook isWebhook: Bool, _ platforms: Platforms) -> Self? {
        let requestEffects = platforms.faultEffects
        let (ofRequests, ofWebhooks) = (requestEffects.map(\.name), WebhookEffect.all.map(\.name))
        let list = (isWebhook ? ofWebhooks : ofRequests).sorted()
        let names = list.joined(separator: ", ")
        let expected = "must be an object with one of \(names)\(isWebhook ? ", for a webhook" : "")"
        guard let given = rule.value("effect")?.members else {
            rule.report("effect", expected)
            return nil
        }
        // An effect of the other kind gets a message that says what is missing.
        let others = (isWebhook ? ofRequests : ofWebhooks).sorted().filter { given[$0] != nil && !list.contains($0) }
        for other in others {
            let forWebhooks = "is for webhooks; say which with match.webhook, \"*\" for all"
            rule.report("effect.\(other)", isWebhook ? "is for requests; a webhook takes \(names)" : forWebhooks)
        }
        guard others.isEmpty else { return nil }
        var effect = rule.object("effect", known: list + (isWebhook ? [] : requestEffects.flatMap(\.parts)))
        let chosen = list.filter { given[$0] != nil }
        guard chosen.count == 1, let name = chosen.first else {
            rule.report("effect", "\(expected), got \(chosen.count) of them")
            return nil
        }
        effect.require(name)
        for owner in requestEffects where owner.name != name {
            for part in owner.parts where given[part] != nil {
                effect.report(part, "belongs to \(owner.name); a \(name) has none")
            }
        }
        if isWebhook { return WebhookEffect.named(name).map { .webhook($0, $0.read(&effect)) } }
        return requestEffects.first { $0.name == name }.map { .request($0, $0.read(&effect, name)) }
    }
}
