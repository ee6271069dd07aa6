import Logging
import NIOConcurrencyHelpers
import Simulation
import SimulationAPI

/// Counts the requests that were refused for their `Host` or `Origin`, keeps the latest values and logs some of them
/// [D hosts].
///
/// Texts of strangers end here, so each is cut and has printable ASCII characters alone.
final class RefusedRequests: Sendable {
    private struct State {
        var count = 0
        /// The latest at the end.
        var latest: [RefusedValue] = []
        /// The number of lines that were logged since `since`, and of those that were not.
        var lines = 0
        var silent = 0
        var since: ContinuousClock.Instant
    }

    private let state: NIOLockedValueBox<State>
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant

    /// The maximum number of different values that are kept.
    private static let maxKept = 20
    /// The maximum length of a value, in bytes.
    private static let maxBytes = 200
    /// The maximum number of lines that are logged in a minute of real time.
    private static let maxLines = 10

    /// - Parameter now: a clock that only goes forward, for the lines of a minute.
    init(logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.logger = logger
        self.now = now
        state = NIOLockedValueBox(State(since: now()))
    }

    func note(_ refusal: BoundaryRefusal) {
        guard let (header, text, problem) = refusal.wrongField else { return }
        let value = Self.printable(text)
        let time = now()
        guard let silent = state.withLockedValue({ Self.note(header, value, time, &$0) }) else { return }
        var metadata: Logger.Metadata = ["header": "\(header)", "value": "\(value)", "problem": "\(problem)"]
        if silent > 0 { metadata["not_logged_before"] = "\(silent)" }
        logger.warning("a request was refused", metadata: metadata)
    }

    /// Counts a refusal.
    ///
    /// - Returns: the number of lines that were left out since the last one; `nil` if this one is left out too.
    private static func note(
        _ header: String, _ value: String, _ now: ContinuousClock.Instant, _ state: inout State
    ) -> Int? {
        state.count += 1
        let known = state.latest.firstIndex { $0.header == header && $0.value.isIdentical(to: value) }
        var entry = known.map { state.latest.remove(at: $0) } ?? RefusedValue(header: header, value: value)
        entry.count += 1
        entry.last_real = Double(SystemTime.now().microseconds) / 1_000_000
        state.latest.append(entry)
        if state.latest.count > maxKept { state.latest.removeFirst() }
        if now - state.since > .seconds(60) { (state.lines, state.since) = (0, now) }
        guard state.lines < maxLines else {
            state.silent += 1
            return nil
        }
        state.lines += 1
        defer { state.silent = 0 }
        return state.silent
    }

    /// The refused requests since the start, with the latest values first.
    var summary: RefusedSummary {
        state.withLockedValue { RefusedSummary(count: $0.count, latest: $0.latest.reversed()) }
    }

    private static func printable(_ text: String) -> String {
        let bytes = text.utf8.prefix(maxBytes).map { (0x21...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }
        return String(decoding: bytes, as: UTF8.self) + (text.utf8.count > maxBytes ? "…" : "")
    }
}

extension BoundaryRefusal {
    /// The header field that is not allowed, and why; `nil` if the method is what is wrong.
    fileprivate var wrongField: (header: String, text: String, problem: String)? {
        switch self {
        case .method: nil
        case .host(let host): ("Host", host, "--allowed-hosts does not name it")
        case .origin(let origin, isControl: true):
            ("Origin", origin, "the control API is closed to pages of other origins")
        case .origin(let origin, _): ("Origin", origin, "--cors does not name it")
        case .crossSite: ("Sec-Fetch-Site", "cross-site", "a page of another site sent it without an Origin")
        }
    }
}
