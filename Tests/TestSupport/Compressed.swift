import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

extension Data {
    /// The compressed form of these bytes.
    public func compressed(_ coding: NIOCompression.Algorithm = .gzip) throws -> Data {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(NIOHTTPRequestCompressor(encoding: coding))
        channel.write(HTTPClientRequestPart.head(.init(version: .http1_1, method: .POST, uri: "/")), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: self))), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        var whole = Data()
        while let part = try channel.readOutbound(as: HTTPClientRequestPart.self) {
            if case .body(.byteBuffer(let bytes)) = part { whole += bytes.readableBytesView }
        }
        _ = try channel.finish(acceptAlreadyClosed: true)
        return whole
    }

    /// The bytes that gzip made these from.
    public func decompressed() throws -> Data {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(NIOHTTPResponseDecompressor(limit: .none))
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Encoding": "gzip"])
        try channel.writeInbound(HTTPClientResponsePart.head(head))
        try channel.writeInbound(HTTPClientResponsePart.body(ByteBuffer(bytes: self)))
        try channel.writeInbound(HTTPClientResponsePart.end(nil))
        var whole = Data()
        while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
            if case .body(let bytes) = part { whole += bytes.readableBytesView }
        }
        _ = try channel.finish(acceptAlreadyClosed: true)
        return whole
    }
}
