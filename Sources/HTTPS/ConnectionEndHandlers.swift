import NIOConcurrencyHelpers
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

/// Counts the requests of an HTTP/2 connection that are not answered yet.
struct OpenStreams: NIOHTTP2StreamDelegate {
    private let open = NIOLockedValueBox(0)
    private let next: any NIOHTTP2StreamDelegate

    init(_ next: any NIOHTTP2StreamDelegate) {
        self.next = next
    }

    var isEmpty: Bool { open.withLockedValue { $0 == 0 } }

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
        open.withLockedValue { $0 += 1 }
        next.streamCreated(id, channel: channel)
    }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
        open.withLockedValue { $0 -= 1 }
        next.streamClosed(id, channel: channel)
    }
}

/// Closes an HTTP/2 connection when the client has closed its side, after an error of the whole connection, or some
/// time after the server's GOAWAY, which a client need not answer. If no request is open, that time is short.
///
/// HTTP/1.1 clients may still wait for an answer when their side is closed; HTTP/2 clients have no use for one.
final class HTTP2EndHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let time: TimeAmount
    private let streams: OpenStreams
    private var deadline: Scheduled<Void>?
    private var nextLook: Scheduled<Void>?

    /// The real time between two checks for open requests after a GOAWAY. A client that answers a GOAWAY does so in
    /// this time.
    private static let goawayTime = TimeAmount.seconds(1)

    /// - Parameter time: the maximum real time between the server's GOAWAY and the end of the connection.
    init(_ time: TimeAmount, _ streams: OpenStreams) {
        self.time = time
        self.streams = streams
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        nextLook?.cancel()
    }

    private func closeWhenDone(_ context: ChannelHandlerContext) {
        nextLook = context.eventLoop.assumeIsolated().scheduleTask(in: Self.goawayTime) {
            if self.streams.isEmpty { context.close(promise: nil) } else { self.closeWhenDone(context) }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .goAway = unwrapOutboundIn(data).payload, deadline == nil {
            deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
            closeWhenDone(context)
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
