import SimulationAPI

/// A fault that a sweep tries: at a call, at a webhook, or for a whole run.
package struct SweepFault: Hashable, RawRepresentable, CaseIterable, Sendable {
    package let rawValue: String
    package let place: Place
    /// The effect of the fault rule; `nil` of a switch, which is a setting.
    let effect: JSONValue?
    /// The fault as the beginning of a sentence, with `%` for the call or webhook.
    let sentence: String
    /// The seconds that the fault alone adds to a run of a client that waits as it should.
    package let cost: Double
    /// A change that the vendor may make, from the beginning of the run on; `nil` of other faults.
    let change: FutureSwitch?

    private init(
        _ rawValue: String, _ place: Place, _ effect: JSONValue?, _ sentence: String, cost: Double = 0,
        change: FutureSwitch? = nil
    ) {
        (self.rawValue, self.place, self.effect, self.sentence) = (rawValue, place, effect, sentence)
        (self.cost, self.change) = (cost, change)
    }

    /// The part of a run at which a fault is tried, by the heading of its table.
    package enum Place: String, CaseIterable, Sendable {
        case call = "Call", webhook = "Webhook", wholeRun = "Whole run"
    }

    /// The delay of a slow answer and of a late webhook, in seconds.
    package static let delay = 3

    static let loseRequest = Self(
        "lose_request", .call, ["lose_request": true], "with % lost before the platform handled it")
    static let loseAnswer = Self("lose_answer", .call, ["drop_connection": true], "with the answer of % lost")
    // Both answers have Retry-After: 1, and the platform sends a webhook again after 1 s.
    static let unavailable = Self("503", .call, ["status": 503], "with % answered 503", cost: 1)
    static let rateLimited = Self(
        "429", .call, ["rate_limit": ["retry_after": "1s"]], "with % answered 429 and Retry-After: 1", cost: 1)
    static let slow = Self(
        "slow", .call, ["delay": .string("\(delay)s")], "with the answer of % \(delay) s late", cost: Double(delay))
    static let sessionEnded = Self("session_ended", .call, ["expire_session": true], "with the session ended at %")
    static let lost = Self("lost", .webhook, ["drop": true], "with the first attempt of % lost", cost: 1)
    static let twice = Self("twice", .webhook, ["duplicate": true], "with % sent twice")
    static let late = Self(
        "late", .webhook, ["delay": .string("\(delay)s")], "with % sent \(delay) s late", cost: Double(delay))
    static let reordered = Self("reordered", .webhook, ["reorder": true], "with % sent after the next one of its item")

    static func future(_ change: FutureSwitch) -> Self {
        Self(
            "future:\(change.rawValue)", .wholeRun, nil, "with the switch future.\(change.rawValue) on", change: change)
    }

    package static let allCases =
        [
            loseRequest, loseAnswer, unavailable, rateLimited, slow, sessionEnded, lost, twice, late, reordered,
        ] + FutureSwitch.allCases.map { Self.future($0) }

    package init?(rawValue: String) {
        guard let fault = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = fault
    }

    /// The objects of a difference without those that the fault makes by itself, whatever the client does: the setting of a switch, the
    /// second delivery of a webhook that is sent twice, and the deliveries of new events.
    ///
    /// - Parameter event: the event of the webhook at which the fault is.
    func withoutOwn(_ objects: [ObjectDifference], event: String?) -> [ObjectDifference] {
        var objects = objects
        func added(_ object: ObjectDifference) -> String? {
            object.kind == "delivery" && object.change == .added ? object.key["event"]?.text : nil
        }
        if let change {
            objects.removeAll { $0.kind == "setting" && $0.key["name"]?.text == "future.\(change.rawValue)" }
            if change == .events { objects.removeAll { added($0)?.hasPrefix(FutureSwitch.eventPrefix) ?? false } }
        }
        if self == .twice, let second = objects.lastIndex(where: { added($0) == event }) {
            objects.remove(at: second)
        }
        return objects
    }
}
