import CLibraries
import NIOCore
import Simulation

enum GzipData {
    /// Encodes a body.
    ///
    /// - Throws: ``PlatformError`` if there is no memory.
    static func encode(_ body: ByteBuffer) throws -> ByteBuffer {
        var state = z_stream()
        return try withUnsafeMutablePointer(to: &state) { state in
            // 31: gzip with the largest window; 8: zlib's default, for which it needs 256 kB.
            let status = deflateInit2_(
                state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                CInt(MemoryLayout<z_stream>.size))
            guard status == Z_OK else { throw PlatformError.unavailable("there is no memory to encode gzip") }
            defer { deflateEnd(state) }
            let bound = Int(deflateBound(state, CUnsignedLong(body.readableBytes)))
            var encoded = ByteBufferAllocator().buffer(capacity: bound)
            body.withUnsafeReadableBytes { bytes in
                _ = encoded.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { output in
                    state.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
                    state.pointee.avail_in = CUnsignedInt(bytes.count)
                    state.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                    state.pointee.avail_out = CUnsignedInt(output.count)
                    // There is space for all of it, so one call ends it.
                    deflate(state, Z_FINISH)
                    return output.count - Int(state.pointee.avail_out)
                }
            }
            return encoded
        }
    }
}
