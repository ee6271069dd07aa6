import NIOConcurrencyHelpers

/// A value that is made when it is first needed: a server starts without what few of its runs are asked for.
package final class Lazily<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let made = NIOLockedValueBox<Value?>(nil)

    package init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    package var value: Value {
        made.withLockedValue { made in
            if let made { return made }
            let value = make()
            made = value
            return value
        }
    }
}
