import DequeModule
import Storage

/// An exact sliding window: the allowed requests in it, oldest first.
///
/// Half-open: a request at `t` has left the window at exactly `t + length`.
package struct SlidingWindow: Sendable {
    package let length: Span
    /// The requests of each moment, also of those that have left the window until it is used again. On a frozen clock all are of one
    /// moment, however many they are.
    private(set) var moments: Deque<(time: Instant, count: Int)>
    /// The number of requests of all moments.
    private var total = 0

    package init(length: Span, times: [Instant] = []) {
        self.length = length
        moments = []
        for time in times { add(time) }
    }

    /// The wait until one more request fits under `limit`; `nil` if it fits now.
    package mutating func wait(at now: Instant, limit: Int) -> Span? {
        forget(before: now)
        guard total >= limit else { return nil }
        // One more fits as soon as only `limit - 1` remain.
        var leaving = total - limit
        guard
            let last = moments.first(where: { moment in
                leaving -= moment.count
                return leaving < 0
            })
        else { return nil }
        return Span(microseconds: length.microseconds - (now - last.time).microseconds)
    }

    /// How much of a limit is left, and when the oldest counted request leaves the window.
    package mutating func left(at now: Instant, limit: Int) -> LimitLeft {
        forget(before: now)
        return LimitLeft(
            limit: limit, remaining: max(0, limit - total), reset: (moments.first?.time ?? now) + length)
    }

    /// Counts a request.
    package mutating func record(at now: Instant) {
        // Needed here too: without a limit, ``wait(at:limit:)`` is never called, and the window would keep growing.
        forget(before: now)
        add(now)
    }

    /// The number of requests in the window.
    package mutating func count(at now: Instant) -> Int {
        forget(before: now)
        return total
    }

    private mutating func add(_ time: Instant) {
        total += 1
        if let last = moments.indices.last, moments[last].time == time {
            moments[last].count += 1
        } else {
            moments.append((time, 1))
        }
    }

    private mutating func forget(before now: Instant) {
        while let first = moments.first, now - first.time >= length {
            total -= first.count
            moments.removeFirst()
        }
    }
}
