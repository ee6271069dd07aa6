import NIOCore

/// Closes a connection on which a receiver sends more than an answer to a webhook can need. A receiver that floods, with
/// informational answers, endless header fields or extensions of chunks, costs its own attempt and little else.
final class AnswerBoundHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var bytes = 0
    private var reads = 0

    /// The maximum number of bytes of an answer that are read. Far more than its head and the part that is saved.
    static let maxBytes = 65_536
    /// The maximum number of pieces in which they may come: each piece costs processor time.
    static let maxReads = 1000

    private var isTooLong: Bool { bytes > Self.maxBytes || reads > Self.maxReads }

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
        context.fireErrorCaught(AnswerTooLong())
        context.close(promise: nil)
    }
}

struct AnswerTooLong: Error {
    let text =
        "the receiver sent more than \(AnswerBoundHandler.maxBytes) bytes, or more than \(AnswerBoundHandler.maxReads) pieces, and its answer did not end"
}
