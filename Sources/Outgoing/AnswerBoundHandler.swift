import NIOCore

/// Closes a connection on which a server sends more than the client takes. A server that floods, with informational answers, endless
/// header fields or extensions of chunks, costs its own request and little else.
final class AnswerBoundHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var bytes = 0
    private var reads = 0

    private let limit: OutgoingClient.AnswerLimit

    init(_ limit: OutgoingClient.AnswerLimit) {
        self.limit = limit
    }

    private var isTooLong: Bool { bytes > limit.bytes || reads > limit.pieces }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isTooLong else { return }
        bytes += unwrapInboundIn(data).readableBytes
        reads += 1
        if !isTooLong { context.fireChannelRead(data) }
    }

    /// An error between the parts of one read loses those that came before it, and with them the beginning of the answer; so it
    /// comes after them.
    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        guard isTooLong else { return }
        context.fireErrorCaught(AnswerTooLong(limit: limit))
        context.close(promise: nil)
    }
}

/// The error of an answer that has more than its client takes.
package struct AnswerTooLong: Error {
    package let limit: OutgoingClient.AnswerLimit
}
