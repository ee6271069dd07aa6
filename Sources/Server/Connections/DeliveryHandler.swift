import DequeModule
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTPTypes

/// The answers of a connection, or of a stream of HTTP/2, whose last byte has not left the server, in the order in which they
/// are written. Thread-safe.
final class UnsentAnswers: Sendable {
    /// Called if the answer does not reach its client.
    typealias OnLoss = @Sendable () -> Void

    private struct State {
        /// `nil` for answers of which nobody needs to know.
        var waiting: Deque<OnLoss?> = []
        var isOver = false
    }

    private let state = NIOLockedValueBox(State())

    /// The answers of the connection whose request the current task answers; `nil` if there is no connection.
    @TaskLocal static var current: UnsentAnswers?

    /// Adds the next answer. Every answer needs a call before it is written, because they are counted.
    func expect(_ onLoss: OnLoss?) {
        let isOver = state.withLockedValue { state in
            if !state.isOver { state.waiting.append(onLoss) }
            return state.isOver
        }
        if isOver { onLoss?() }
    }

    /// Removes the first answer, whose end is being written.
    fileprivate func takeFirst() -> OnLoss? {
        state.withLockedValue { $0.waiting.popFirst() ?? nil }
    }

    /// The connection has ended: what is left, and what comes, is lost.
    fileprivate func end() {
        let lost = state.withLockedValue { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for onLoss in lost { onLoss?() }
    }
}

/// Tells for each answer whether the kernel took its last byte before the connection failed. The writes of answers return
/// earlier: they only fill a buffer.
///
/// The channel's future tells it of the end of the connection. An inbound handler would be called for every part of every request.
final class DeliveryHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    let answers = UnsentAnswers()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data), let onLoss = answers.takeFirst() else {
            return context.write(data, promise: promise)
        }
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.whenFailure { _ in onLoss() }
        context.write(data, promise: promise)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.channel.closeFuture.whenComplete { [answers] _ in answers.end() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        answers.end()
    }
}
