import NIOConcurrencyHelpers

/// The tests' mutex, in place of the standard library's: the thread sanitizer does not know that one, and reports what it guards.
struct Mutex<Value: Sendable>: Sendable {
    private let box: NIOLockedValueBox<Value>

    init(_ value: Value) {
        box = NIOLockedValueBox(value)
    }

    /// Runs `body` with the value, while nobody else has it.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try box.withLockedValue(body)
    }
}
