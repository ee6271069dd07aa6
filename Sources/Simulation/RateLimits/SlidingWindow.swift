import DequeModule
import Storage

/// An exact sliding window: the times of the allowed requests, oldest first.
///
/// Half-open: a request at `t` has left the window at exactly `t + length`.
package struct SlidingWindow: Sendable {
    package let length: Span
    /// Also those that have left the window, until it is used again.
    private(set) var times: Deque<Instant>

    package init(length: Span, times: [Instant] = []) {
        self.length = length
        self.times = Deque(times)
    }

    /// The wait until one more request fits under `limit`; `nil` if it fits now.
    package mutating func wait(at now: Instant, limit: Int) -> Span? {
        forget(before: now)
        guard times.count >= limit else { return nil }
        // One more fits as soon as only `limit - 1` remain.
        let leaving = times[times.count - limit]
        return Span(microseconds: length.microseconds - (now - leaving).microseconds)
    }

    /// How much of a limit is left, and when the oldest counted request leaves the window.
    package mutating func left(at now: Instant, limit: Int) -> LimitLeft {
        forget(before: now)
        return LimitLeft(limit: limit, remaining: max(0, limit - times.count), reset: (times.first ?? now) + length)
    }

    /// Counts a request.
    package mutating func record(at now: Instant) {
        // Needed here too: without a limit, ``wait(at:limit:)`` is never called, and the window would keep growing.
        forget(before: now)
        times.append(now)
    }

    /// The number of requests in the window.
    package mutating func count(at now: Instant) -> Int {
        forget(before: now)
        return times.count
    }

    private mutating func forget(before now: Instant) {
        while let first = times.first, now - first >= length { times.removeFirst() }
    }
}
