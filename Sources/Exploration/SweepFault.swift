import SimulationAPI

/// A fault that a sweep tries: at a call, at a webhook, or for a whole run.
package enum SweepFault: Hashable, RawRepresentable, CaseIterable, Sendable {
    case loseRequest, loseAnswer, unavailable, rateLimited, slow, sessionEnded
    case lost, twice, late, reordered
    /// A change that the vendor may make, from the beginning of the run on.
    case future(FutureSwitch)

    /// The delay of a slow answer and of a late webhook, in seconds.
    package static let delay = 3

    package static let allCases =
        [
            loseRequest, loseAnswer, unavailable, rateLimited, slow, sessionEnded, lost, twice, late, reordered,
        ] + FutureSwitch.allCases.map { .future($0) }

    /// The part of a run at which a fault is tried.
    package enum Place: CaseIterable, Sendable {
        case call, webhook, wholeRun
    }

    package init?(rawValue: String) {
        guard let fault = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = fault
    }

    package var rawValue: String {
        switch self {
        case .loseRequest: "lose_request"
        case .loseAnswer: "lose_answer"
        case .unavailable: "503"
        case .rateLimited: "429"
        case .slow: "slow"
        case .sessionEnded: "session_ended"
        case .lost: "lost"
        case .twice: "twice"
        case .late: "late"
        case .reordered: "reordered"
        case .future(let change): "future:\(change.rawValue)"
        }
    }

    package var place: Place {
        switch self {
        case .loseRequest, .loseAnswer, .unavailable, .rateLimited, .slow, .sessionEnded: .call
        case .lost, .twice, .late, .reordered: .webhook
        case .future: .wholeRun
        }
    }

    /// The effect of the fault rule; `nil` of a switch, which is a setting.
    var effect: JSONValue? {
        switch self {
        case .loseRequest: ["lose_request": true]
        case .loseAnswer: ["drop_connection": true]
        case .unavailable: ["status": 503]
        case .rateLimited: ["rate_limit": ["retry_after": "1s"]]
        case .slow, .late: ["delay": .string("\(Self.delay)s")]
        case .sessionEnded: ["expire_session": true]
        case .lost: ["drop": true]
        case .twice: ["duplicate": true]
        case .reordered: ["reorder": true]
        case .future: nil
        }
    }

    /// The seconds that the fault alone adds to a run of a client that waits as it should.
    package var cost: Double {
        switch self {
        case .slow, .late: Double(Self.delay)
        // Both answers have Retry-After: 1, and the platform sends a webhook again after 1 s.
        case .unavailable, .rateLimited, .lost: 1
        default: 0
        }
    }

    /// The fault at a call or webhook, as the beginning of a sentence.
    func clause(_ call: String) -> String {
        switch self {
        case .loseRequest: "with \(call) lost before the platform handled it"
        case .loseAnswer: "with the answer of \(call) lost"
        case .unavailable: "with \(call) answered 503"
        case .rateLimited: "with \(call) answered 429 and Retry-After: 1"
        case .slow: "with the answer of \(call) \(Self.delay) s late"
        case .sessionEnded: "with the session ended at \(call)"
        case .lost: "with the first attempt of \(call) lost"
        case .twice: "with \(call) sent twice"
        case .late: "with \(call) sent \(Self.delay) s late"
        case .reordered: "with \(call) sent after the next one of its item"
        case .future(let change): "with the switch future.\(change.rawValue) on"
        }
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
        switch self {
        case .future(let change):
            objects.removeAll { $0.kind == "setting" && $0.key["name"]?.text == "future.\(change.rawValue)" }
            if change == .events { objects.removeAll { added($0)?.hasPrefix(FutureSwitch.eventPrefix) ?? false } }
        case .twice:
            if let second = objects.lastIndex(where: { added($0) == event }) { objects.remove(at: second) }
        default: break
        }
        return objects
    }
}
