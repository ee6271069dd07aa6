import NIOCore
import NIOHTTP1

/// Decodes requests as NIO's decoder does, and goes on after one that asks for another protocol.
///
/// NIO's decoder reads nothing after such a request, since what follows may be the other protocol. This server speaks no other one, so
/// the client goes on with HTTP/1.1 (RFC 9110, section 7.8). Java's `HttpClient` asks for `h2c` with its first request on a connection.
final class RequestDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPServerRequestPart

    private let limits: NIOHTTPDecoderLimitConfiguration
    private var decoder: HTTPRequestDecoder
    /// Whether the decoder reads nothing after the request whose head came last.
    private var stopsAfterRequest = false
    /// Whether the end of such a request has come.
    private var hasStopped = false

    init(limits: NIOHTTPDecoderLimitConfiguration) {
        self.limits = limits
        decoder = HTTPRequestDecoder(limitConfiguration: limits)
    }

    /// Takes the head of the request that the decoder reads. Must be called before the decoder reads on.
    ///
    /// - Parameter isLast: whether the decoder reads nothing after the request.
    func began(isLast: Bool) { stopsAfterRequest = isLast }

    /// Takes the end of the request that the decoder reads.
    func ended() { hasStopped = stopsAfterRequest }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        repeat {
            let state = try decoder.decode(context: context, buffer: &buffer)
            guard resume(context) else { return state }
        } while buffer.readableBytes > 0
        return .needMoreData
    }

    func decodeLast(context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool) throws -> DecodingState {
        while buffer.readableBytes > 0, case .continue = try decode(context: context, buffer: &buffer) {}
        return try decoder.decodeLast(context: context, buffer: &buffer, seenEOF: seenEOF)
    }

    func decoderAdded(context: ChannelHandlerContext) { decoder.decoderAdded(context: context) }

    func decoderRemoved(context: ChannelHandlerContext) { decoder.decoderRemoved(context: context) }

    /// Replaces a decoder that has stopped. It has read nothing beyond the request at which it did.
    ///
    /// - Returns: whether it had stopped.
    private func resume(_ context: ChannelHandlerContext) -> Bool {
        guard hasStopped else { return false }
        decoder.decoderRemoved(context: context)
        decoder = HTTPRequestDecoder(limitConfiguration: limits)
        decoder.decoderAdded(context: context)
        (stopsAfterRequest, hasStopped) = (false, false)
        return true
    }
}
