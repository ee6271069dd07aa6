import Storage

/// A namespace's clock. It goes backwards only at a reset or a restore [D clock].
package struct Clock: Sendable {
    /// Runs with real time, or stands still until it is advanced.
    package enum Mode: Sendable, Equatable {
        /// Follows real time plus `offset`, in microseconds. The offset is at most the distance between two moments.
        case running(offset: Int64)
        case frozen(Instant)
    }

    package var mode: Mode
    /// The latest time that ``now(real:)`` returned.
    package private(set) var last: Instant
    /// The sum of all moves, in microseconds: time that did not pass by itself. It is not stored.
    package internal(set) var moved: Int64 = 0

    package init(mode: Mode, last: Instant) {
        self.mode = mode
        self.last = min(last, .end)
    }

    package var isFrozen: Bool {
        if case .frozen = mode { true } else { false }
    }

    /// The current time: never before the last one returned, and never after the end of the year 9999 [D clock].
    package mutating func now(real: Instant) -> Instant {
        let moment =
            switch mode {
            case .running(let offset): Instant(microseconds: real.microseconds + offset)
            case .frozen(let moment): moment
            }
        last = max(last, min(moment, .end))
        return last
    }

    /// The real time at which the clock will show `moment`; `nil` if it never gets there by itself.
    package func realTime(of moment: Instant) -> Instant? {
        switch mode {
        case .running(let offset) where moment <= .end: Instant(microseconds: moment.microseconds - offset)
        case .running, .frozen: nil
        }
    }

    /// Sets the clock to a later moment, at most ``Instant/end``. The mode stays the same.
    package mutating func move(to moment: Instant, real: Instant) {
        let moment = min(moment, .end)
        moved += max(0, moment.microseconds - now(real: real).microseconds)
        switch mode {
        case .running: mode = .running(offset: moment.microseconds - real.microseconds)
        case .frozen: mode = .frozen(moment)
        }
        last = max(last, moment)
    }
}

extension Clock {
    /// Reads the stored clock. It continues from the time of the last event: if the machine's clock was set back since then, a running
    /// one does not wait until that time comes again.
    package init(stored transaction: Transaction, real: Instant) throws {
        // An offset is clamped just as a moment is.
        let value = Instant(microseconds: Int64(try transaction.namespaceValue(.clockValue) ?? "") ?? 0).microseconds
        let isFrozen = try transaction.namespaceValue(.clockMode) == "frozen"
        let last = try transaction.lastEventTime() ?? Instant(microseconds: 0)
        self.init(mode: isFrozen ? .frozen(Instant(microseconds: value)) : .running(offset: value), last: last)
        if !isFrozen, Instant(microseconds: real.microseconds + value) < self.last { move(to: self.last, real: real) }
    }

    /// Stores the mode, so that it survives a restart. Writes.
    package func store(in transaction: Transaction) throws {
        switch mode {
        case .running(let offset):
            try transaction.setNamespaceValue(.clockMode, "running")
            try transaction.setNamespaceValue(.clockValue, String(offset))
        case .frozen(let moment):
            try transaction.setNamespaceValue(.clockMode, "frozen")
            try transaction.setNamespaceValue(.clockValue, String(moment.microseconds))
        }
    }
}
