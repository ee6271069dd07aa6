import Storage

/// The real times of a request.
package struct RequestTimes: Hashable, Sendable {
    /// The moment at which the server received the request's head.
    package let started: Instant
    /// The moment at which the client could have the answer: a fault's delay is over.
    package let ended: Instant

    package init(started: Instant, ended: Instant) {
        self.started = started
        self.ended = ended
    }
}

extension JournalEntry {
    /// The time that passed between two requests for their client: real time, or the time by which a test moved the namespace's
    /// clock meanwhile, whichever is longer [D gaps].
    ///
    /// - Parameter previous: the earlier request.
    /// - Returns: the gap, at least zero; `nil` if the real times of one of them are not known.
    package func gap(after previous: JournalEntry) -> Span? {
        guard let times, let earlier = previous.times else { return nil }
        let moved = outcome.moved.microseconds - previous.outcome.moved.microseconds
        return max(.zero, times.started - earlier.ended, Span(microseconds: moved))
    }
}
