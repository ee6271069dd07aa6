import NIOConcurrencyHelpers
import SimulationAPI

/// The memory that JSON bodies take while their requests wait for the namespace, or are held [D body-sizes]. Thread-safe.
package final class BodyMemory: Sendable {
    /// The maximum of a namespace, in bytes. One request alone may take more.
    private static let max = 64_000_000
    /// The most memory that a value takes beside its text: a member of an object, with the table of its names. Of an array, a value
    /// takes a third of it.
    private static let bytesOfValue = 128

    private let used = NIOLockedValueBox(0)

    /// The memory of one body. It is free again when nothing refers to it.
    package final class Share: Sendable {
        private let memory: BodyMemory
        /// The bytes of what was read, with those of its strings, beside the text that is kept.
        package let bytes: Int

        fileprivate init(_ bytes: Int, of memory: BodyMemory) {
            self.bytes = bytes
            self.memory = memory
        }

        deinit { memory.used.withLockedValue { $0 -= bytes } }
    }

    /// Takes the memory of a body.
    ///
    /// - Parameters:
    ///   - values: the number of JSON values.
    ///   - text: the length of the text, in bytes.
    /// - Throws: ``PlatformError`` if the bodies of earlier requests leave no room for it.
    package func take(values: Int, text: Int) throws(PlatformError) -> Share {
        let bytes = values * Self.bytesOfValue + text
        let hasRoom = used.withLockedValue { used in
            guard used == 0 || used + bytes <= Self.max else { return false }
            used += bytes
            return true
        }
        guard hasRoom else {
            throw .unavailable(
                "the bodies of requests that wait in this namespace take \(SizeText.text(Self.max)) of memory, the maximum; "
                    + "send fewer of them at a time")
        }
        return Share(bytes, of: self)
    }

    /// The bytes that are taken; for tests.
    package var usedBytes: Int { used.withLockedValue { $0 } }
}
