import NIOConcurrencyHelpers
import NIOCore
import Simulation

/// A document that never changes. All its answers share its bytes, and those of its gzip, which are made once.
final class ConstantDocument: Sendable {
    let plain: ByteBuffer
    private let gzip = NIOLockedValueBox<ByteBuffer?>(nil)

    init(_ plain: ByteBuffer) {
        self.plain = plain
    }

    /// The document in gzip. Its first callers wait until it is made.
    ///
    /// - Throws: ``PlatformError`` if there is no memory.
    func encoded(_ environment: Simulation.Environment) async throws -> ByteBuffer {
        if let made = gzip.withLockedValue({ $0 }) { return made }
        return try await environment.offload { [self] in
            try gzip.withLockedValue { gzip in
                if let gzip { return gzip }
                let made = try GzipData.encode(plain)
                gzip = made
                return made
            }
        }
    }
}
