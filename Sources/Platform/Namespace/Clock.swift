import Storage

/// A namespace's clock. Never goes backwards but by a reset or a restore.
struct Clock: Sendable {
    enum Mode: Sendable, Equatable {
        /// Goes with real time, moved by an offset in microseconds: at most what lies between two moments.
        case running(offset: Int64)
        case frozen(Instant)
    }

    var mode: Mode
    /// The latest time that was handed out.
    private(set) var last: Instant

    init(mode: Mode, last: Instant) {
        self.mode = mode
        self.last = min(last, .end)
    }

    var isFrozen: Bool {
        if case .frozen = mode { true } else { false }
    }

    /// The time now, never before the last one, nor after the end of the year 9999, where a clock stops [D].
    mutating func now(real: Instant) -> Instant {
        let moment =
            switch mode {
            case .running(let offset): Instant(microseconds: real.microseconds + offset)
            case .frozen(let moment): moment
            }
        last = max(last, min(moment, .end))
        return last
    }

    /// When the clock will show `moment`, in real time; nil where it never will by itself.
    func realTime(of moment: Instant) -> Instant? {
        switch mode {
        case .running(let offset) where moment <= .end: Instant(microseconds: moment.microseconds - offset)
        case .running, .frozen: nil
        }
    }

    /// Puts the clock to a later moment, at most the end of time, in the mode it is in.
    mutating func move(to moment: Instant, real: Instant) {
        let moment = min(moment, .end)
        switch mode {
        case .running: mode = .running(offset: moment.microseconds - real.microseconds)
        case .frozen: mode = .frozen(moment)
        }
        last = max(last, moment)
    }
}

extension Clock {
    /// Reads the clock a world has, which goes on from where its events end.
    init(stored transaction: Transaction) throws {
        // Clamped as a moment is, an offset too.
        let value = Instant(microseconds: Int64(try transaction.namespaceValue(.clockValue) ?? "") ?? 0).microseconds
        let isFrozen = try transaction.namespaceValue(.clockMode) == "frozen"
        self.init(
            mode: isFrozen ? .frozen(Instant(microseconds: value)) : .running(offset: value),
            last: try transaction.lastEventTime() ?? Instant(microseconds: 0))
    }

    /// Writes the mode down, so that a restart finds it.
    func store(in transaction: Transaction) throws {
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
