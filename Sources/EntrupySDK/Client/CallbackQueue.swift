import ClientTransport
import Foundation

/// The callbacks to the app, in order, on the main queue.
///
/// ``EntrupySimulation/run(until:timeout:)`` runs them too, for programs whose main thread never returns to its run loop.
final class CallbackQueue: Sendable {
    static let main = CallbackQueue()

    /// Marks the main queue. On Linux a program with an asynchronous `main` runs it on other threads than the main one.
    private static let mark = DispatchSpecificKey<Void>()

    private init() {
        DispatchQueue.main.setSpecific(key: Self.mark, value: ())
    }

    /// Whether the current code runs on the main queue or the main thread, so that the callbacks cannot run elsewhere.
    var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: Self.mark) != nil }

    private let waiting = Locked<[@Sendable () -> Void]>([])

    func append(_ callback: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(callback) }
        DispatchQueue.main.async { self.runAll() }
    }

    /// Runs the callbacks that are waiting. Code on the main queue calls it.
    func runAll() {
        while let next = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            next()
        }
    }
}
