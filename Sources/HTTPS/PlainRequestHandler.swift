import NIOCore
import Server

/// Answers a client that speaks plain HTTP to the HTTPS port with a sentence, as nginx does. Without it the client would
/// see a connection that is closed.
final class PlainRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let requestID: () -> String
    private var isRefused = false

    /// The first byte of a TLS record with a handshake.
    private static let handshake: UInt8 = 0x16

    init(requestID: @escaping () -> String) {
        self.requestID = requestID
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        let bytes = unwrapInboundIn(data)
        guard let first = bytes.readableBytesView.first else { return }
        guard first != Self.handshake else {
            context.fireChannelRead(data)
            return context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
        isRefused = true
        // Only text is answered in text.
        guard (0x41...0x7a).contains(first) else { return context.close(promise: nil) }
        answer(context)
    }

    private func answer(_ context: ChannelHandlerContext) {
        let id = requestID()
        let (status, body) = ErrorAnswer.encoded(
            "this is the HTTPS port and the request is plain HTTP: write https:// instead of http://", requestID: id)
        var answer = ByteBuffer(
            string:
                "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\nConnection: close\r\nX-Request-Id: \(id)\r\n\r\n"
        )
        answer.writeBytes(body)
        context.writeAndFlush(wrapOutboundOut(answer)).assumeIsolated().whenComplete { _ in context.close(promise: nil)
        }
    }
}
