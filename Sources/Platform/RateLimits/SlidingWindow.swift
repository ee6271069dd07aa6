import DequeModule
import Storage

/// An exact sliding window: the times of the requests that were let through, oldest first.
///
/// Half-open: a request at `t` has left the window at exactly `t + length`.
struct SlidingWindow: Sendable {
    let length: Span
    private var times: Deque<Instant>

    init(length: Span, times: [Instant] = []) {
        self.length = length
        self.times = Deque(times)
    }

    /// How long until one more fits under `limit`, or nil where it fits now.
    mutating func wait(at now: Instant, limit: Int) -> Span? {
        forget(before: now)
        guard times.count >= limit else { return nil }
        // One more fits when so many have left that `limit - 1` remain.
        let leaving = times[times.count - limit]
        return Span(microseconds: length.microseconds - (now - leaving).microseconds)
    }

    /// Counts a request.
    mutating func record(at now: Instant) {
        // Also where no limit asks, or the window would grow for ever.
        forget(before: now)
        times.append(now)
    }

    /// How many requests are in the window.
    mutating func count(at now: Instant) -> Int {
        forget(before: now)
        return times.count
    }

    /// Whether nothing is left in the window.
    mutating func isEmpty(at now: Instant) -> Bool {
        forget(before: now)
        return times.isEmpty
    }

    private mutating func forget(before now: Instant) {
        while let first = times.first, now - first >= length { times.removeFirst() }
    }
}
