import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore

/// One limit of open connections for all ports of a server. Further connections wait, whichever port they came to [D connections].
final class SharedConnections: AvailableConnectionsDelegate {
    private struct State {
        var open = 0
        /// The ports that may wait.
        var ports: [any Channel] = []
    }

    private let max: Int
    private let state = NIOLockedValueBox(State())

    init(max: Int) { self.max = max }

    /// Adds a port that listens.
    func add(_ port: any Channel) { state.withLockedValue { $0.ports.append(port) } }

    func connectionOpened() { state.withLockedValue { $0.open += 1 } }

    func connectionClosed() {
        let waiting = state.withLockedValue { state in
            state.open -= 1
            return state.open == max - 1 ? state.ports : []
        }
        // The framework wakes the port of the connection alone, and calls this while it changes its state.
        for port in waiting { port.eventLoop.execute { port.read() } }
    }

    func isAcceptingNewConnections() -> Bool { state.withLockedValue { $0.open < max } }
}
