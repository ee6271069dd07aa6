import SimulationAPI

/// Something that tests wait for: `object:{id}:moment`, as a platform defines it, `request:held`, or `webhook:{event}`.
package struct AwaitedEvent: Sendable {
    /// The word before the id, for instance `item`.
    let object: String
    /// The word after the id, for instance `result`.
    let moment: String
    /// The kinds of the event log that can be it.
    let kinds: [EventKind]
    /// Whether the data of an event of these kinds is it.
    let isMet: @Sendable (JSONValue) -> Bool

    package init(
        _ object: String, _ moment: String, _ kinds: [EventKind],
        isMet: @escaping @Sendable (JSONValue) -> Bool = { _ in true }
    ) {
        self.object = object
        self.moment = moment
        self.kinds = kinds
        self.isMet = isMet
    }
}

/// The event at which a stream ends [D wait].
package struct EventCondition: Sendable {
    private let awaited: AwaitedEvent
    /// The id of the object; `nil` if the event has none.
    private let subject: String?

    /// - Parameter after: the number in the journal of a request; only later ones meet `request:held`.
    /// - Returns: `nil` if `text` is no event; ``problem(_:_:)`` has the forms.
    package init?(_ text: String, _ platforms: Platforms, after: Int = 0) {
        let words = text.split(at: ":", omittingEmpty: false).map(String.init)
        let events: [AwaitedEvent]
        switch words.count {
        case 2: (events, subject) = (Self.ofNoObject(platforms, after), nil)
        case 3 where !words[1].isEmpty: (events, subject) = (platforms.awaitedEvents, words[1])
        default: return nil
        }
        let found = events.first {
            $0.object.isIdentical(to: words[0]) && $0.moment.isIdentical(to: words[words.count - 1])
        }
        guard let found else { return nil }
        awaited = found
    }

    /// The events whose forms have no id: a fault holds a request, or a webhook is attempted.
    private static func ofNoObject(_ platforms: Platforms, _ after: Int = 0) -> [AwaitedEvent] {
        let held = AwaitedEvent("request", "held", [.requestHeld]) { data in
            guard case .number(let number)? = data.members?["sequence"] else { return false }
            return number.integer ?? 0 > after
        }
        return [held]
            + platforms.webhookEvents.map { event in
                AwaitedEvent("webhook", event, [.webhookAttempted]) {
                    $0.members?["event"]?.text?.isIdentical(to: event) ?? false
                }
            }
    }

    /// The problem with a text that is no event: the forms that callers may write, and the nearest.
    package static func problem(_ text: String, _ platforms: Platforms) -> String {
        let forms =
            platforms.awaitedEvents.map { "\($0.object):{id}:\($0.moment)" }
            + ofNoObject(platforms).map { "\($0.object):\($0.moment)" }
        // The id is no slip.
        let words = text.split(at: ":", omittingEmpty: false)
        let id = words.count == 3 ? String(words[1]) : "{id}"
        let question = FieldReader.question(text, forms.map { $0.replacing("{id}", with: id) })
        return "must be one of \(forms.joined(separator: ", ")), got \"\(text.excerpt)\"\(question)"
    }

    /// Whether the condition is about held requests, which have numbers.
    package var isOfHeldRequests: Bool { awaited.kinds.contains { $0.name == EventKind.requestHeld.name } }

    /// The topic of the events that can meet the condition.
    package var topic: FeedEntry.Topic { FeedEntry.Topic(ofKind: awaited.kinds[0].name) }

    /// Whether an entry of the event log meets the condition.
    package func isMet(by change: StateChange) -> Bool {
        awaited.kinds.contains { $0.name == change.kind }
            && subject.map { change.subject.isIdentical(to: $0) } ?? true && awaited.isMet(change.data)
    }

    /// Whether an entry of the feed meets the condition.
    package func isMet(by entry: FeedEntry) throws -> Bool {
        guard case .change(let event) = entry.content, awaited.kinds.contains(where: { $0.name == event.kind }) else {
            return false
        }
        return isMet(by: try StateChange(event))
    }
}
