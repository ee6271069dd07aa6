import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Platform

/// One connection: the framework's HTTP/1 channel, and what it leaves to its user.
struct SimChannel: HTTPChannelHandler {
    private let channel: HTTP1Channel

    init(_ responder: @escaping Responder, limits: ConnectionLimits, requestID: @escaping @Sendable () -> String) {
        channel = HTTP1Channel(
            responder: responder,
            configuration: .init(
                additionalChannelHandlers: [
                    MalformedRequestHandler(limits: limits, requestID: requestID),
                    ExpectContinueHandler { head in
                        head.path?.contains(SnapshotController.path) == true
                            ? SnapshotController.largest : ReceivedImage.limit
                    },
                ],
                idleTimeout: limits.idleTimeout, httpDecoderConfiguration: limits.decoder))
    }

    var responder: Responder { channel.responder }

    func setup(channel child: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.setup(channel: child, logger: logger).flatMapThrowing { value in
            let pipeline = child.pipeline.syncOperations
            let codec = try pipeline.context(handlerType: HTTP1ToHTTPServerCodec.self).handler
            try pipeline.addHandler(ClosingHandler(), position: .before(codec))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await channel.handle(value: value, logger: logger)
    }
}

/// Has the connection closed after the answer where the client expects that: HTTP/1.0, and every spelling of
/// `Connection: close` (RFC 9112, section 9.3).
private final class ClosingHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version.minor == 0 || !head.isKeepAlive else {
            return context.fireChannelRead(data)
        }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
