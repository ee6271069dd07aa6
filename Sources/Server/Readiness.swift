import NIOConcurrencyHelpers

final class Readiness: Sendable {
    private let state = NIOLockedValueBox(false)

    var isReady: Bool { state.withLockedValue { $0 } }

    func open() {
        state.withLockedValue { $0 = true }
    }
}
