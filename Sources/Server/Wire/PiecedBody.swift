import Hummingbird
import NIOCore
import NIOPosix

extension ResponseBody {
    /// The largest piece that is read at once, in bytes.
    package static let pieceBytes = 262_144

    /// A body of a known size that is read while it is sent: no more of it is in memory than a client takes.
    ///
    /// A read that fails ends the connection, because the answer's head has been sent.
    ///
    /// - Parameters:
    ///   - threads: run `read`, which may block.
    ///   - read: writes bytes from an offset on, and returns their number; not zero before the end.
    static func pieces(
        size: Int, on threads: NIOThreadPool,
        _ read: @escaping @Sendable (_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int) throws -> Int
    ) -> ResponseBody {
        ResponseBody(contentLength: size) { writer in
            var offset = 0
            while offset < size {
                let piece = try await threads.runIfActive { [offset] in
                    try ByteBuffer(reading: min(pieceBytes, size - offset)) { try read($0, offset) }
                }
                guard piece.readableBytes > 0 else {
                    throw IOError(errnoCode: EIO, reason: "a file ended before the size that was announced")
                }
                offset += piece.readableBytes
                try await writer.write(piece)
            }
            try await writer.finish(nil)
        }
    }
}

extension ByteBuffer {
    /// A buffer that `read` fills; it returns the number of bytes.
    init(reading count: Int, _ read: (UnsafeMutableRawBufferPointer) throws -> Int) rethrows {
        self = ByteBufferAllocator().buffer(capacity: count)
        try writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
            try read(UnsafeMutableRawBufferPointer(rebasing: $0[..<count]))
        }
    }
}
