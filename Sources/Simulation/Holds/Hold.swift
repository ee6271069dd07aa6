import SimulationAPI

/// The way a fault holds a request back until a test lets it go on [D hold].
package struct Hold: Sendable {
    /// The moment at which the request waits.
    package enum Moment: String, CaseIterable, Sendable {
        /// Before it is handled.
        case before
        /// After it was handled, with its answer kept.
        case after
    }

    package private(set) var moment = Moment.before
    /// The real time after which the request goes on by itself.
    package private(set) var span = Hold.defaultSpan

    /// The real time for which a rule holds that names none, and the longest one [D hold].
    package static let (defaultSpan, maxSpan) = (Span("30s")!, Span("10m")!)

    /// Reads the effect of a rule: `true`, or an object.
    init(_ effect: inout FieldReader, _ key: String) {
        switch effect.value(key) {
        case nil, .bool(true): break
        case .object:
            var hold = effect.object(key, known: ["when", "for"])
            moment = hold.word("when", Moment.self) ?? moment
            span = hold.span("for", to: Self.maxSpan) ?? span
        case .bool(false): effect.report(key, "must be true; to hold no request, delete the rule")
        case let given?:
            effect.report(
                key,
                "must be true, or an object such as {\"when\": \"after\", \"for\": \"30s\"}, got \(given.quoted)")
        }
    }
}

/// The end of the time for which a request was held.
package enum HoldEnd: Sendable {
    /// A call of the control API released it.
    case released
    /// A call of the control API released it with another answer.
    case answered(status: Int, body: JSONValue?)
    /// A call of the control API had its connection reset.
    case dropped
    case timeOver
    case clientGone
    /// The namespace was reset, restored or deleted.
    case replaced
    case stopping
    /// Its answer takes more memory than the server has for held requests.
    case tooLarge

    /// Whether the request is handled after this end, or its own answer is sent.
    var continues: Bool {
        switch self {
        case .released, .timeOver: true
        case .answered, .dropped, .clientGone, .replaced, .stopping, .tooLarge: false
        }
    }

    /// Whether the client gets no answer.
    package var losesAnswer: Bool {
        switch self {
        case .dropped, .clientGone: true
        case .released, .answered, .timeOver, .replaced, .stopping, .tooLarge: false
        }
    }

    /// The answer that replaces the request's own; `nil` if it has its own.
    ///
    /// - Parameters:
    ///   - moment: the moment at which the request was held.
    ///   - faultID: the rule that held it.
    package func refusal(_ moment: Hold.Moment, faultID: String) -> PlatformError? {
        switch self {
        case .released, .timeOver: nil
        case .answered(let status, let body): .injected(faultID: faultID, status: status, body: body)
        // Nobody gets these two. A replay compares them.
        case .dropped: moment == .before ? .injected(faultID: faultID, status: 503, body: nil) : nil
        case .clientGone: moment == .before ? .abandoned : nil
        case .replaced:
            .unavailable("the namespace was reset, restored or deleted while the request was held (fault \(faultID))")
        case .stopping: .unavailable("the server stopped while the request was held (fault \(faultID))")
        case .tooLarge: .unavailable("the answer is too large to be held (fault \(faultID)): \(HoldRefusal.bytes.text)")
        }
    }

    /// The end in words, for the event log.
    var reason: String {
        switch self {
        case .released: "released"
        case .answered(let status, _): "released with the answer \(status)"
        case .dropped: "released with a reset connection"
        default: text
        }
    }

    /// The end in words, for a call that comes too late.
    package var text: String {
        switch self {
        case .released, .answered, .dropped: "it was released already"
        case .timeOver: "its time was over"
        case .clientGone: "its client has gone"
        case .replaced: "the namespace was reset or restored"
        case .stopping: "the server is stopping"
        case .tooLarge: "its answer was too large"
        }
    }
}

/// The reason why a further request is not held. A replay returns the recorded one, by its number.
package enum HoldRefusal: Int, Sendable {
    case namespace = 1
    case server = 2
    case bytes = 3
    case stopping = 4

    package var text: String {
        let wayOut = "; release some with POST /_sim/held/{id}/release, or all with DELETE /_sim/held"
        return switch self {
        case .namespace: "\(HoldLimits.standard.ofNamespace) requests of a namespace are held, the maximum\(wayOut)"
        case .server: "\(HoldLimits.standard.ofServer) requests of the server are held, the maximum\(wayOut)"
        case .bytes: "held requests take \(SizeText.text(HoldLimits.standard.bytes)) of memory, the maximum\(wayOut)"
        case .stopping: "the server is stopping"
        }
    }
}
