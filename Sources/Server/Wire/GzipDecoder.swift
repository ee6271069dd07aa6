import CLibraries
import Foundation
import NIOCore
import Simulation

/// Decodes gzip (RFC 1952) with a single member, in pieces. Stops as soon as the output exceeds the limit.
///
/// Used on one thread at a time. Each body has a decoder of its own, and so its own limit and its own error.
final class GzipDecoder {
    /// The reason why a body cannot be decoded.
    enum Problem: Error {
        case tooLarge
        /// The problem, worded as the end of a sentence.
        case damaged(String)

        fileprivate static let truncated = damaged("ends before its gzip data is complete")
        fileprivate static let continued = damaged(
            "continues after the end of its gzip data; only one member is read")
    }

    /// zlib keeps the address of its state, so the state has memory of its own.
    private let state = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let limit: Int
    /// The number of bytes received and decoded so far.
    private var (received, decoded) = (0, 0)
    /// Whether the last output was full, so that zlib may hold more.
    private var hasOutput = false
    fileprivate private(set) var hasEnded = false

    /// The largest window, and gzip alone: without the 16, zlib's own format would be read too.
    fileprivate static let window: CInt = 15 + 16
    /// The first bytes of every gzip.
    private static let magic: [UInt8] = [0x1f, 0x8b]
    /// The most bytes that are reserved for the output at a time.
    private static let maxPiece = 65_536

    /// The maximum gzip size of `limit` bytes. Gzip makes incompressible data slightly longer.
    static func maxEncodedBytes(for limit: Int) -> Int { limit + limit / 64 + 1024 }

    /// Decodes a whole body.
    ///
    /// - Throws: ``Problem``, or ``PlatformError`` if there is no memory.
    static func decode(_ body: ByteBuffer, upTo limit: Int) throws -> ByteBuffer {
        let decoder = try GzipDecoder(upTo: limit)
        var whole = ByteBuffer()
        try body.withUnsafeReadableBytes { bytes in
            try decoder.receive(bytes)
            while !decoder.hasEnded {
                if decoder.needsInput { throw Problem.truncated }
                try whole.writeWithUnsafeMutableBytes(minimumWritableBytes: min(bytes.count * 2, maxPiece)) {
                    try decoder.decode(into: $0)
                }
            }
            if !decoder.hasUsedInput { throw Problem.continued }
        }
        return whole
    }

    /// - Throws: ``PlatformError`` if there is no memory.
    fileprivate init(upTo limit: Int) throws {
        self.limit = limit
        state.initialize(to: z_stream())
        let size = CInt(MemoryLayout<z_stream>.size)
        guard inflateInit2_(state, Self.window, ZLIB_VERSION, size) == Z_OK else {
            throw PlatformError.unavailable("there is no memory to decode gzip")
        }
    }

    deinit {
        inflateEnd(state)
        state.deallocate()
    }

    /// Takes the next part of the input.
    ///
    /// - Parameter bytes: must stay valid until ``hasUsedInput``.
    fileprivate func receive(_ bytes: UnsafeRawBufferPointer) throws {
        let beginning = bytes.prefix(max(0, Self.magic.count - received))
        guard beginning.elementsEqual(Self.magic.dropFirst(received).prefix(beginning.count)) else {
            throw Problem.damaged("is not gzip")
        }
        received += bytes.count
        state.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        state.pointee.avail_in = CUnsignedInt(bytes.count)
    }

    fileprivate var hasUsedInput: Bool { state.pointee.avail_in == 0 }

    /// Whether nothing more can be decoded from the received input.
    fileprivate var needsInput: Bool { hasUsedInput && !hasOutput }

    /// Decodes until the output is full or the input is used up. Returns the number of bytes.
    ///
    /// - Throws: ``Problem``.
    fileprivate func decode(into output: UnsafeMutableRawBufferPointer) throws -> Int {
        let space = CUnsignedInt(clamping: output.count)
        state.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        state.pointee.avail_out = space
        let status = inflate(state, Z_NO_FLUSH)
        let count = Int(space - state.pointee.avail_out)
        hasOutput = state.pointee.avail_out == 0
        decoded += count
        guard decoded <= limit else { throw Problem.tooLarge }
        switch status {
        // Z_BUF_ERROR: there was nothing to do.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: hasEnded = true
        case Z_MEM_ERROR: throw PlatformError.unavailable("there is no memory to decode gzip")
        default: throw Problem.damaged("is not gzip, or is damaged")
        }
        return count
    }
}

/// The decoded content of a gzip file, which is decoded only as far as it is read. Blocks. Used on one thread at a time.
final class GzipFile: ByteSource {
    private let file: FileHandle
    private let limit: Int
    private let decoder: GzipDecoder
    /// The part of the file that is being decoded.
    private let input: UnsafeMutableRawBufferPointer

    /// - Parameter limit: the maximum size of the decoded content, in bytes.
    /// - Throws: ``PlatformError`` if there is no memory.
    init(_ file: FileHandle, upTo limit: Int) throws {
        self.file = file
        self.limit = limit
        decoder = try GzipDecoder(upTo: limit)
        input = .allocate(byteCount: 65_536, alignment: 1)
    }

    deinit { input.deallocate() }

    /// - Throws: ``PlatformError``, as for a body in memory.
    func read(upTo count: Int) throws -> Data {
        do { return try decoded(upTo: count) } catch { throw BodyReader.problem(error, upTo: limit) }
    }

    private func decoded(upTo count: Int) throws -> Data {
        var output = Data(count: count)
        var length = 0
        while length < count, !decoder.hasEnded {
            if decoder.needsInput, try !receiveMore() { throw GzipDecoder.Problem.truncated }
            length += try output.withUnsafeMutableBytes {
                try decoder.decode(into: UnsafeMutableRawBufferPointer(rebasing: $0[length...]))
            }
        }
        // The last bytes are given only once the file's end is checked.
        if decoder.hasEnded, try !decoder.hasUsedInput || receiveMore() { throw GzipDecoder.Problem.continued }
        output.removeLast(count - length)
        return output
    }

    /// Reads the next part of the file. Returns `false` at its end.
    private func receiveMore() throws -> Bool {
        let bytes = try file.read(upToCount: input.count) ?? Data()
        bytes.copyBytes(to: input)
        try decoder.receive(UnsafeRawBufferPointer(rebasing: input[..<bytes.count]))
        return !bytes.isEmpty
    }
}
