import NIOConcurrencyHelpers

/// The caller of a request, who may go before it is answered.
package protocol CallerPresence: Sendable {
    /// Whether the connection, or the stream of the connection, is closed: no answer can reach the caller. Thread-safe, and
    /// cheap, because every read asks it once.
    var isGone: Bool { get }
}

/// Equal reads that wait beside each other in a namespace's line of work, and are made once.
///
/// Others may join until the read begins, as long as nothing was posted behind it. So the answer that they share is one that
/// each of them could have got alone. Thread-safe.
package final class ReadGroup: CallerPresence {
    private struct State {
        var position: Int?
        var hasBegun = false
        var callers: [any CallerPresence] = []

        /// Whether every caller has gone.
        var isGone: Bool { !callers.isEmpty && callers.allSatisfy(\.isGone) }
    }

    private let state = NIOLockedValueBox(State())

    /// - Parameter first: the caller whose request the others may join.
    package init(_ first: (any CallerPresence)?) {
        if let first { state.withLockedValue { $0.callers = [first] } }
    }

    /// Whether every caller has gone.
    package var isGone: Bool { state.withLockedValue { $0.isGone } }

    /// Notes the read's place in the line of work.
    func posted(at position: Int) {
        state.withLockedValue { $0.position = position }
    }

    /// Closes the group: the read begins. Returns whether it is wanted; it is not if every caller has gone.
    func begin() -> Bool {
        state.withLockedValue { state in
            state.hasBegun = true
            return !state.isGone
        }
    }

    /// Adds a caller if the read still waits at the end of the line.
    ///
    /// - Parameter last: the place of the last item that was posted.
    package func join(_ caller: any CallerPresence, last: () -> Int) -> Bool {
        state.withLockedValue { state in
            guard !state.hasBegun, let position = state.position, position == last() else { return false }
            state.callers.append(caller)
            return true
        }
    }
}
