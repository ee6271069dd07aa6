import NIOConcurrencyHelpers
import Storage

/// The namespaces on disk that have an open database connection. If there are more than `maxOpen`, the least recently
/// used connection is closed.
package final class Connections: Sendable {
    private struct State {
        var open: RecentValues<String, String>
        /// The one that was used last, most often the next one too.
        var last = ""
        var close: (@Sendable (_ namespace: String) -> Void)?
    }

    private let state: NIOLockedValueBox<State>

    package init(maxOpen: Int) {
        state = NIOLockedValueBox(State(open: RecentValues(maxCount: maxOpen)))
    }

    /// Sets the function that closes a namespace's connection.
    package func setCloser(_ close: @escaping @Sendable (_ namespace: String) -> Void) {
        state.withLockedValue { $0.close = close }
    }

    /// Marks a namespace as open and just used. Closes the least recently used one if there are now too many.
    package func used(_ name: String) {
        let (dropped, close) = state.withLockedValue { state -> ([String], (@Sendable (String) -> Void)?) in
            guard !state.last.isIdentical(to: name) else { return ([], nil) }
            state.last = name
            guard state.open.value(of: name) == nil else { return ([], nil) }
            return (state.open.insert(name, for: name), state.close)
        }
        for name in dropped { close?(name) }
    }

    /// Removes a deleted namespace.
    package func forget(_ name: String) {
        state.withLockedValue { state in
            state.open.remove(name)
            if state.last.isIdentical(to: name) { state.last = "" }
        }
    }

    /// The number of open connections.
    package var count: Int { state.withLockedValue { $0.open.count } }
}
