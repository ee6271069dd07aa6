import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression
import Simulation

/// Decodes gzip (RFC 1952) with a single member, in pieces. Stops as soon as the output exceeds the limit.
///
/// The library's decoder is a channel handler, with one limit for all requests of a connection. Here each body has an
/// embedded channel of its own, used on one thread, and so its own limit and its own error.
struct GzipDecoder {
    /// The reason why a body cannot be decoded.
    enum Problem: Error {
        case tooLarge
        /// The problem, worded as the end of a sentence.
        case damaged(String)
    }

    private let channel = EmbeddedChannel()
    /// The number of bytes received so far.
    private var count = 0

    /// The input size of one step, in bytes. The output of a step is held in memory.
    private static let piece = 16_384
    /// The first bytes of every gzip. Without this check, the library would also accept zlib's format.
    private static let magic: [UInt8] = [0x1f, 0x8b]

    /// The maximum gzip size of `limit` bytes. Gzip makes incompressible data slightly longer.
    static func maxEncodedBytes(for limit: Int) -> Int { limit + limit / 64 + 1024 }

    /// Decodes a whole body.
    ///
    /// - Throws: ``Problem``.
    static func decode(_ body: ByteBuffer, upTo limit: Int) throws -> ByteBuffer {
        var whole = ByteBuffer()
        try decode(upTo: limit) { decoder in
            try decoder.decode(body) { whole.writeImmutableBuffer($0) }
            try decoder.finish { whole.writeImmutableBuffer($0) }
        }
        return whole
    }

    /// Replaces a file by its decoded content and returns the new size in bytes. Blocks.
    ///
    /// - Throws: ``Problem``, or an error of the file system.
    static func decode(file path: String, upTo limit: Int) throws -> Int {
        let target = path + ".decoded"
        guard let source = FileHandle(forReadingAtPath: path) else { throw CocoaError(.fileReadUnknown) }
        // An uploaded snapshot holds tokens, so the decoded file is as private as the one it replaces.
        let file = try PrivateFile.create(at: target)
        defer {
            try? source.close()
            try? file.close()
            unlink(target)
        }
        var size = 0
        func write(_ part: ByteBuffer) throws {
            try file.write(contentsOf: part.readableBytesView)
            size += part.readableBytes
        }
        try decode(upTo: limit) { decoder in
            while let bytes = try source.read(upToCount: Self.piece), !bytes.isEmpty {
                try decoder.decode(ByteBuffer(bytes: bytes), write)
            }
            try decoder.finish(write)
        }
        guard rename(target, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return size
    }

    private static func decode(upTo limit: Int, _ body: (inout GzipDecoder) throws -> Void) throws {
        var decoder = try GzipDecoder(upTo: limit)
        // The rest in the channel is not needed.
        defer { _ = try? decoder.channel.finish(acceptAlreadyClosed: true) }
        try body(&decoder)
    }

    private init(upTo limit: Int) throws {
        try channel.pipeline.syncOperations.addHandler(NIOHTTPRequestDecompressor(limit: .size(limit)))
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: ["Content-Encoding": "gzip"])
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        _ = try channel.readInbound(as: HTTPServerRequestPart.self)
    }

    private mutating func decode(_ bytes: ByteBuffer, _ take: (ByteBuffer) throws -> Void) throws {
        var rest = bytes
        while let part = rest.readSlice(length: min(rest.readableBytes, Self.piece)), part.readableBytes > 0 {
            let beginning = part.readableBytesView.prefix(max(0, Self.magic.count - count))
            guard beginning.elementsEqual(Self.magic.dropFirst(count).prefix(beginning.count)) else {
                throw Problem.damaged("is not gzip")
            }
            count += part.readableBytes
            try write(.body(part), take)
        }
    }

    private func finish(_ take: (ByteBuffer) throws -> Void) throws { try write(.end(nil), take) }

    private func write(_ part: HTTPServerRequestPart, _ take: (ByteBuffer) throws -> Void) throws {
        do {
            try channel.writeInbound(part)
        } catch NIOHTTPDecompression.DecompressionError.limit {
            throw Problem.tooLarge
        } catch let error as NIOHTTPDecompression.ExtraDecompressionError {
            throw Problem.damaged(
                error == .truncatedData
                    ? "ends before its gzip data is complete"
                    : "continues after the end of its gzip data; only one member is read")
        } catch {
            throw Problem.damaged("is not gzip, or is damaged")
        }
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .body(let bytes) = part { try take(bytes) }
        }
    }
}
