import Foundation

/// A value that a lock guards.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// - Parameter value: the first value.
    package init(_ value: Value) {
        self.value = value
    }

    /// Runs `body` while no other thread uses the value.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
