import NIOCore
import NIOHTTP1

/// Reads on after the last answer of a connection, and discards what arrives.
///
/// The server ends its side of a connection after an answer with `Connection: close`. A client that is still sending a body
/// would otherwise wait until the idle connection is closed: it reads the answer, a 413 for instance, only once it has sent
/// everything [D connections].
final class LingeringCloseHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let time: TimeAmount
    private var isLingering = false

    /// - Parameter time: the real time after which the connection is closed, whatever the client still sends.
    init(for time: TimeAmount) {
        self.time = time
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.close(mode: mode, promise: promise)
        guard mode == .output, !isLingering else { return }
        isLingering = true
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
        context.channel.closeFuture.assumeIsolated().whenComplete { _ in deadline.cancel() }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isLingering { context.fireChannelRead(data) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if isLingering { context.read() }
    }
}
