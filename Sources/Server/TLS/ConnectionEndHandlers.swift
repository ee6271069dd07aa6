import NIOCore
import NIOHTTP2

/// Closes a connection whose TLS handshake does not come to its end in time, or not before the server stops.
final class HandshakeDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let time: TimeAmount
    private var deadline: Scheduled<Void>?

    /// - Parameter time: the real time that a handshake may take.
    init(_ time: TimeAmount) {
        self.time = time
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}

/// Closes an HTTP/2 connection when the client has closed its side, when it cannot go on, or some time after the server's goodbye,
/// which a client need not answer.
///
/// HTTP/1.1 clients may still wait for an answer when their side is closed; HTTP/2 clients have no use for one.
final class HTTP2EndHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let time: TimeAmount
    private var deadline: Scheduled<Void>?

    /// - Parameter time: the real time between the server's goodbye and the end.
    init(_ time: TimeAmount) {
        self.time = time
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .goAway = unwrapOutboundIn(data).payload, deadline == nil {
            deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
        }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The library has told the client: with RST_STREAM for an error of one stream, with GOAWAY for the others.
        guard !(error is NIOHTTP2Errors.StreamError) else { return }
        context.close(promise: nil)
    }
}
