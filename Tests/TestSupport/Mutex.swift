import NIOConcurrencyHelpers

/// A mutex for tests. The thread sanitizer does not know the standard library's mutex and would report the guarded values.
package struct Mutex<Value: Sendable>: Sendable {
    private let box: NIOLockedValueBox<Value>

    package init(_ value: Value) {
        box = NIOLockedValueBox(value)
    }

    /// Runs `body` with exclusive access to the value.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try box.withLockedValue(body)
    }
}
