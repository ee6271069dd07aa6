import NIOConcurrencyHelpers

/// The worlds on disk that have an open connection: at most so many, the least recently used one is set aside.
final class Connections: Sendable {
    private struct State {
        var turn = 0
        var lastUse: [String: Int] = [:]
        var setAside: (@Sendable (_ namespace: String) -> Void)?
    }

    private let most: Int
    private let state = NIOLockedValueBox(State())

    init(most: Int) {
        self.most = most
    }

    /// Says what sets a namespace aside.
    func whenTooMany(_ setAside: @escaping @Sendable (_ namespace: String) -> Void) {
        state.withLockedValue { $0.setAside = setAside }
    }

    /// A namespace was used, and is open.
    func used(_ name: String) {
        let victim = state.withLockedValue { state -> (() -> Void)? in
            state.turn += 1
            state.lastUse[name] = state.turn
            guard state.lastUse.count > most, let setAside = state.setAside,
                let oldest = state.lastUse.min(by: { $0.value < $1.value })?.key
            else { return nil }
            state.lastUse[oldest] = nil
            return { setAside(oldest) }
        }
        victim?()
    }

    /// A namespace is gone.
    func forget(_ name: String) {
        state.withLockedValue { $0.lastUse[name] = nil }
    }

    /// How many are open.
    var count: Int { state.withLockedValue { $0.lastUse.count } }
}
