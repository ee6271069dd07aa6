import DequeModule
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTPTypes

/// The answers of a connection, or of a stream of HTTP/2, whose last byte has not left the server, in the order in which they
/// are written. Thread-safe.
package final class UnsentAnswers: Sendable {
    /// Called if the answer does not reach its client.
    package typealias OnLoss = @Sendable () -> Void

    private struct State {
        /// `nil` for answers of which nobody needs to know.
        var waiting: Deque<OnLoss?> = []
        /// The number of requests that came before the one ahead of them was answered, and were not begun.
        var pipelined = 0
        var isOver = false
    }

    private let state = NIOLockedValueBox(State())

    /// The answers of the connection whose request the current task answers; `nil` if there is no connection.
    @TaskLocal package static var current: UnsentAnswers?

    /// Adds the next answer. Every answer needs a call before it is written, because they are counted.
    ///
    /// - Returns: whether the connection's next request is here already.
    @discardableResult func expect(_ onLoss: OnLoss?) -> Bool {
        let (isOver, hasNext) = state.withLockedValue { state in
            if !state.isOver { state.waiting.append(onLoss) }
            let hasNext = state.pipelined > 0
            if hasNext { state.pipelined -= 1 }
            return (state.isOver, hasNext)
        }
        if isOver { onLoss?() }
        return hasNext
    }

    /// Counts a request that came before the one ahead of it was answered.
    func addPipelined() { state.withLockedValue { $0.pipelined += 1 } }

    /// Follows the write of an answer's end, which removes the first answer. Every write of an end needs a call.
    ///
    /// - Parameter promise: the promise that the write would have; `nil` for none.
    /// - Returns: the promise to write with.
    func promise(_ promise: EventLoopPromise<Void>?, on loop: any EventLoop) -> EventLoopPromise<Void>? {
        guard let onLoss = state.withLockedValue({ $0.waiting.popFirst() ?? nil }) else { return promise }
        let promise = promise ?? loop.makePromise()
        promise.futureResult.whenFailure { _ in onLoss() }
        return promise
    }

    /// Ends with a connection.
    ///
    /// The channel's future tells of it. An inbound handler would be called for every part of every request.
    func end(with channel: any Channel) {
        channel.closeFuture.whenComplete { [self] _ in end() }
    }

    /// The connection has ended: what is left, and what comes, is lost.
    func end() {
        let lost = state.withLockedValue { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for onLoss in lost { onLoss?() }
    }
}

/// Tells for each answer of a stream of HTTP/2 whether the kernel took its last byte before the connection failed. The writes of
/// answers return earlier: they only fill a buffer. ``MalformedRequestHandler`` does it for HTTP/1.
package final class DeliveryHandler: ChannelOutboundHandler, RemovableChannelHandler {
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    package let answers = UnsentAnswers()

    package init() {}

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: isEnd ? answers.promise(promise, on: context.eventLoop) : promise)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        answers.end(with: context.channel)
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        answers.end()
    }
}
