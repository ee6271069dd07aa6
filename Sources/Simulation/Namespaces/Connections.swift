import NIOConcurrencyHelpers

/// The namespaces on disk that have an open database connection. If there are more than `maxOpen`, the least recently
/// used connection is closed.
package final class Connections: Sendable {
    private struct State {
        var turn = 0
        var lastUse: [String: Int] = [:]
        var close: (@Sendable (_ namespace: String) -> Void)?
    }

    private let maxOpen: Int
    private let state = NIOLockedValueBox(State())

    package init(maxOpen: Int) {
        self.maxOpen = maxOpen
    }

    /// Sets the function that closes a namespace's connection.
    package func setCloser(_ close: @escaping @Sendable (_ namespace: String) -> Void) {
        state.withLockedValue { $0.close = close }
    }

    /// Marks a namespace as open and just used. Closes the least recently used one if there are now too many.
    package func used(_ name: String) {
        let victim = state.withLockedValue { state -> (() -> Void)? in
            state.turn += 1
            state.lastUse[name] = state.turn
            guard state.lastUse.count > maxOpen, let close = state.close,
                let oldest = state.lastUse.min(by: { $0.value < $1.value })?.key
            else { return nil }
            state.lastUse[oldest] = nil
            return { close(oldest) }
        }
        victim?()
    }

    /// Removes a deleted namespace.
    package func forget(_ name: String) {
        state.withLockedValue { $0.lastUse[name] = nil }
    }

    /// The number of open connections.
    package var count: Int { state.withLockedValue { $0.lastUse.count } }
}
