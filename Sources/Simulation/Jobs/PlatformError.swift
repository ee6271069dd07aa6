import SimulationAPI
import Storage

/// The refusal of an operation: its kind, a sentence for the caller, and what is wrong where.
///
/// `Server` has one table from kinds to status codes, and adds the kinds that only HTTP knows.
@usableFromInline
package struct PlatformError: Error, Sendable {
    package let kind: Kind
    /// One sentence that says what is wrong.
    package let message: String
    /// The fields that are wrong. The answer shows at most 100.
    package let details: [ErrorDetail]
    package let payload: Payload?
    /// The fact behind the refusal, for the journal alone: it may be about others than the caller, so no answer has it. At most
    /// ``maxReason`` scalars, not masked yet; `nil` where the status says all [D because].
    package let because: String?
    /// The state that refuses, for explanations; `nil` if none does [D explain].
    package let state: RefusingState?

    /// The maximum length of ``because``, in Unicode scalars.
    package static let maxReason = 400

    /// A kind of error. `ErrorTable` in `Server` gives each kind its status, code and SDK error.
    package struct Kind: Hashable, Sendable {
        package let name: String

        package init(_ name: String) {
            self.name = name
        }
    }

    /// Facts that the answer has beside the error envelope.
    package enum Payload: Sendable {
        /// A fact of a platform, which adds it to the answer.
        case fact(any PlatformFact)
        /// Whole seconds until a retry succeeds, at least 1 [S].
        case retryAfter(seconds: Int)
        /// The number of matching requests, and those that nearly match [D request-verification].
        case nearMisses(count: Int, [NearMiss])
        /// The number of matching requests that the journal remembers, and the number in the journal from which it remembers all
        /// [D request-verification].
        case forgotten(count: Int, sequence: Int64)
        /// The first step of a sequence that was not found, from 0, and the requests that come closest to it [D sequences].
        case sequenceMisses(step: Int, [NearMiss])
        case scenario(ScenarioRun)
        case settlement(Settlement)
        /// The answer that a fault rule gives [D fault-rules]. Without a body it is the error envelope of the status.
        case answer(status: Int, body: JSONValue?, headers: [HeaderField] = [])
        /// The methods that a route has.
        case methods([String])
        /// The size of a file of which a part was asked for, in bytes.
        case size(Int)
    }

    package init(
        _ kind: Kind, _ message: String, _ details: [ErrorDetail] = [], payload: Payload? = nil, because: Because? = nil
    ) {
        self.kind = kind
        self.message = message
        self.details = details
        self.payload = payload
        self.because = because.map { Self.bounded($0.text) }
        state = because?.state
    }

    private static func bounded(_ reason: String) -> String {
        let beginning = reason.unicodeScalars.prefix(maxReason)
        return beginning.endIndex == reason.endIndex ? reason : "\(String(beginning.dropLast()))…"
    }
}

/// The fact behind a refusal: a sentence for the journal, and the state that refuses, which the log knows the history of.
package struct Because: Sendable, ExpressibleByStringInterpolation {
    let text: String
    let state: RefusingState?

    package init(stringLiteral text: String) { self.init(text) }

    /// A fact that no event of the log made.
    package init(_ text: String) { (self.text, state) = (text, nil) }

    /// - Parameters:
    ///   - about: the object whose state it is.
    ///   - kinds: the kinds of events that make the state; none if there is no such object.
    ///   - named: a value in the data of the events; `nil` if each event of the object counts.
    package init(_ text: String, _ about: String, _ kinds: [EventKind], named: String? = nil) {
        self.text = text
        state = RefusingState(about, kinds.map(\.name), named: named)
    }
}

/// A fact that an error's answer has beside its envelope.
package protocol PlatformFact: Sendable {
    /// Adds the fact to the envelope.
    func add(to envelope: inout ErrorEnvelope)
    /// The documented edge that an answer with the fact meets; `nil` if it meets none.
    var edge: Coverage.Name? { get }
}

extension PlatformFact {
    package var edge: Coverage.Name? { nil }
}

extension PlatformError.Kind {
    /// Headers or parameters are missing or incorrect [S].
    package static let invalid = Self("invalid")
    /// The token is missing, expired, revoked or malformed [S].
    package static let unauthorized = Self("unauthorized")
    /// The caller is known and may not do this [S].
    package static let forbidden = Self("forbidden")
    /// The object does not exist or belongs to another caller. Both cases look the same.
    package static let notFound = Self("not_found")
    package static let unknownNamespace = Self("unknown_namespace")
    /// The object is in a state that does not allow the operation.
    package static let wrongState = Self("wrong_state")
    /// Too few or too many requests match [D request-verification].
    package static let unverified = Self("unverified")
    /// A verification asks about requests that the journal has forgotten [D request-verification].
    package static let forgotten = Self("forgotten")
    /// A scenario's checks failed [D scenarios].
    package static let scenarioFailed = Self("scenario_failed")
    /// Results or webhooks are still pending [D settle].
    package static let unsettled = Self("unsettled")
    /// The image is broken, or does not match its digest.
    package static let imageRejected = Self("image_rejected")
    package static let rangeNotSatisfiable = Self("range_not_satisfiable")
    /// A limit is exceeded [S].
    package static let rateLimited = Self("rate_limited")
    /// A fault rule answers instead [D fault-rules].
    package static let injected = Self("injected")
    /// Storage cannot be read or written, or the server is stopping.
    package static let unavailable = Self("unavailable")
    /// The caller of a read went before it began, so it was not begun. No answer reaches the caller.
    package static let abandoned = Self("abandoned")
    /// A bug of the simulator.
    package static let internalError = Self("internal_error")
}

extension PlatformError {
    package static func invalid(_ message: String, _ details: [ErrorDetail]) -> Self {
        Self(.invalid, message, details)
    }

    /// One field is wrong.
    package static func invalid(field: String, _ problem: String) -> Self {
        .invalid("\(field) \(problem)", [ErrorDetail(field, problem)])
    }

    /// Several fields are wrong. The first one makes the sentence.
    package static func invalid(_ details: [ErrorDetail]) -> Self {
        guard let first = details.first else { return .invalid("bad request", []) }
        let more = details.count > 1 ? " (and \(details.count - 1) more)" : ""
        return .invalid((first.field.isEmpty ? "" : "\(first.field) ") + first.problem + more, details)
    }

    package static func unauthorized(_ message: String) -> Self { Self(.unauthorized, message) }

    package static func forbidden(_ message: String, _ details: [ErrorDetail] = [], because: Because? = nil) -> Self {
        Self(.forbidden, message, details, because: because)
    }

    package static func notFound(_ message: String, because: Because? = nil) -> Self {
        Self(.notFound, message, because: because)
    }

    package static func unknownNamespace(_ message: String, _ details: [ErrorDetail] = []) -> Self {
        Self(.unknownNamespace, message, details.isEmpty ? [ErrorDetail("path", message)] : details)
    }

    package static func wrongState(_ message: String, _ details: [ErrorDetail] = [], because: Because? = nil) -> Self {
        Self(.wrongState, message, details, because: because)
    }

    package static func imageRejected(_ message: String) -> Self {
        Self(.imageRejected, message, [ErrorDetail("image", message)])
    }

    package static func rateLimited(_ message: String, retryAfter seconds: Int, details: [ErrorDetail]) -> Self {
        Self(.rateLimited, message, details, payload: .retryAfter(seconds: seconds))
    }

    package static func unverified(_ message: String, count: Int, _ nearest: [NearMiss]) -> Self {
        Self(.unverified, message, details(of: nearest), payload: .nearMisses(count: count, nearest))
    }

    /// - Parameter count: the number of matching requests that are remembered.
    package static func forgotten(_ forgotten: Forgotten, count: Int) -> Self {
        let first = forgotten.sequence + 1
        return Self(
            .forgotten,
            "the journal has forgotten requests up to \(forgotten.at.display), so this cannot be checked; it remembers all from number \(first) on: "
                + "ask only for those (\"since\": \"sequence:\(first)\"), or let it keep more (settings journal.entries and journal.bytes; it is empty "
                + "after a restart, a restore and DELETE /_sim/requests)",
            payload: .forgotten(count: count, sequence: first))
    }

    /// - Parameter step: the first step of the sequence that was not found, from 0.
    package static func outOfSequence(_ message: String, step: Int, _ nearest: [NearMiss]) -> Self {
        Self(.unverified, message, details(of: nearest), payload: .sequenceMisses(step: step, nearest))
    }

    private static func details(of nearest: [NearMiss]) -> [ErrorDetail] {
        nearest.map { miss in
            ErrorDetail(
                "\(miss.request.method) \(miss.request.path)",
                (miss.differences.isEmpty ? "is one of them" : miss.differences.joined(separator: "; "))
                    + (miss.request.because.map { " (because \($0))" } ?? ""))
        }
    }

    /// - Parameter isStrict: whether notes are failures too.
    package static func scenarioFailed(_ run: ScenarioRun, isStrict: Bool = false) -> Self {
        let count = run.timeline.count + run.expectations.count
        let notes = isStrict ? run.notes.map { ErrorDetail($0.field, $0.problem) } : []
        let noted = notes.isEmpty ? "" : ", \(Counted.text(notes.count, "note"))"
        return Self(
            .scenarioFailed,
            "the scenario \(run.name) did not pass: \(run.failures.count) of \(Counted.text(count, "check")) failed\(noted)",
            run.failures + notes, payload: .scenario(run))
    }

    /// The first detail says what the caller can do, the others what is pending.
    package static func unsettled(_ answer: FindUnsettled.Answer) -> Self {
        let settlement = answer.settlement
        let isFrozen = settlement.clock.mode == "frozen" && settlement.next_due_at != nil
        let detail =
            isFrozen
            ? ErrorDetail(
                "clock",
                "is frozen, so waiting does not help: advance it with POST /_sim/clock/advance {\"to\": \"next\"}, or let it "
                    + "run with POST /_sim/clock/resume")
            : ErrorDetail("within", "has passed; wait longer, up to 10m, or advance the clock")
        return Self(
            .unsettled, "not settled: \(settlement.pending) still pending", [detail] + answer.pending,
            payload: .settlement(settlement))
    }

    package static func injected(
        faultID: String, status: Int, body: JSONValue?, headers: [HeaderField] = []
    ) -> Self {
        Self(
            .injected, "answered by the fault rule \(faultID)", [ErrorDetail("fault", faultID)],
            payload: .answer(status: status, body: body, headers: headers),
            because: "the fault rule \(faultID) answers \(status)")
    }

    package static func unavailable(_ message: String) -> Self { Self(.unavailable, message) }

    package static let abandoned = Self(.abandoned, "the caller closed its connection before the request was begun")

    /// A file cannot be written.
    package static func unwritable(_ path: String, _ error: any Error) -> Self {
        .unavailable("\(path) cannot be written: \(StorageError.reason(error))")
    }

    package static func bug(_ message: String) -> Self { Self(.internalError, "internal error: \(message)") }
}

extension PlatformError: CustomStringConvertible {
    @usableFromInline
    package var description: String { message }
}
