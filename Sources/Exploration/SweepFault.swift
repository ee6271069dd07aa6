import SimulationAPI

/// A fault of a request that a sweep tries at each call.
package enum SweepFault: String, CaseIterable, Codable, Sendable {
    case loseRequest = "lose_request"
    case loseAnswer = "lose_answer"
    case unavailable = "503"
    case rateLimited = "429"
    case slow
    case sessionEnded = "session_ended"

    /// The names of faults that are planned and not there yet.
    package static let planned = ["lost", "twice", "late", "reordered"]

    /// The delay of a slow answer, in seconds.
    package static let delay = 3

    /// The effect of the fault rule.
    package var effect: JSONValue {
        switch self {
        case .loseRequest: ["lose_request": true]
        case .loseAnswer: ["drop_connection": true]
        case .unavailable: ["status": 503]
        case .rateLimited: ["rate_limit": ["retry_after": "1s"]]
        case .slow: ["delay": "3s"]
        case .sessionEnded: ["expire_session": true]
        }
    }

    /// The seconds that the fault alone adds to a run of a client that waits as it should.
    package var cost: Double {
        switch self {
        case .slow: Double(Self.delay)
        // Both answers have Retry-After: 1.
        case .unavailable, .rateLimited: 1
        default: 0
        }
    }

    /// The fault at a call, as the beginning of a sentence.
    func clause(_ call: String) -> String {
        switch self {
        case .loseRequest: "with \(call) lost before the platform handled it"
        case .loseAnswer: "with the answer of \(call) lost"
        case .unavailable: "with \(call) answered 503"
        case .rateLimited: "with \(call) answered 429 and Retry-After: 1"
        case .slow: "with the answer of \(call) \(Self.delay) s late"
        case .sessionEnded: "with the session ended at \(call)"
        }
    }
}
