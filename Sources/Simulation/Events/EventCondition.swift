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

    /// The form that callers write.
    var form: String { "\(object):{id}:\(moment)" }
}

/// The event at which a stream ends [D wait].
package struct EventCondition: Sendable {
    private let awaited: AwaitedEvent
    /// The id of the object; `nil` for webhooks.
    private let subject: String?

    /// - Returns: `nil` if `text` is none of the forms in ``forms(_:)``.
    package init?(_ text: String, _ platforms: Platforms) {
        let words = text.split(at: ":", omittingEmpty: false).map(String.init)
        if words.count == 2, words[0].isIdentical(to: "webhook"),
            let event = platforms.webhookEvents.first(where: { $0.isIdentical(to: words[1]) })
        {
            awaited = AwaitedEvent("webhook", event, [.webhookAttempted]) {
                $0.members?["event"]?.text?.isIdentical(to: event) ?? false
            }
            subject = nil
            return
        }
        if text.isIdentical(to: Self.requestHeld) {
            awaited = AwaitedEvent("request", "held", [.requestHeld])
            subject = nil
            return
        }
        guard words.count == 3, !words[1].isEmpty,
            let awaited = platforms.awaitedEvents.first(where: {
                $0.object.isIdentical(to: words[0]) && $0.moment.isIdentical(to: words[2])
            })
        else { return nil }
        self.awaited = awaited
        subject = words[1]
    }

    /// A fault holds a request.
    private static let requestHeld = "request:held"

    /// The forms that callers may write.
    package static func forms(_ platforms: Platforms) -> String {
        (platforms.awaitedEvents.map(\.form) + [requestHeld] + platforms.webhookEvents.map { "webhook:\($0)" })
            .joined(separator: ", ")
    }

    /// The topic of the events that can meet the condition.
    package var topic: FeedEntry.Topic { FeedEntry.Topic(ofKind: awaited.kinds[0].name) }

    /// Whether an entry of the event log meets the condition.
    package func isMet(by change: StateChange) -> Bool {
        guard awaited.kinds.contains(where: { $0.name == change.kind }),
            subject.map({ change.subject.isIdentical(to: $0) }) ?? true
        else { return false }
        return awaited.isMet(change.data)
    }

    /// Whether an entry of the feed meets the condition.
    package func isMet(by entry: FeedEntry) throws -> Bool {
        guard case .change(let event) = entry.content, awaited.kinds.contains(where: { $0.name == event.kind }) else {
            return false
        }
        return isMet(by: try StateChange(event))
    }
}
