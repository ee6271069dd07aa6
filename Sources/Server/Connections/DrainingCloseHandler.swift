import Foundation
import NIOCore

/// Delays the end of a connection until the client's system has received everything that was written, or some time has
/// passed.
///
/// A server that stops would end its connections at once, and TLS a moment after its close_notify. A slow client would
/// lose the rest of its answer, also what only the kernel still has: bytes that the client sends after the end are
/// answered with a reset [D connections].
package final class DrainingCloseHandler: ChannelOutboundHandler {
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let time: TimeAmount
    private var deadline: NIODeadline?

    /// The time between two looks at what is left.
    private static let interval = TimeAmount.milliseconds(20)

    /// - Parameter time: the maximum real time that a client has to receive what was written.
    package init(_ time: TimeAmount) {
        self.time = time
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, !Self.isDrained(context.channel) else { return context.close(mode: mode, promise: promise) }
        context.channel.closeFuture.cascade(to: promise)
        guard deadline == nil else { return }
        let deadline = NIODeadline.now() + time
        self.deadline = deadline
        closeWhenDrained(context, deadline)
    }

    private func closeWhenDrained(_ context: ChannelHandlerContext, _ deadline: NIODeadline) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.interval) {
            if NIODeadline.now() >= deadline || !context.channel.isActive || Self.isDrained(context.channel) {
                context.close(promise: nil)
            } else {
                self.closeWhenDrained(context, deadline)
            }
        }
    }

    /// Whether neither the server nor its kernel has bytes that the client's system has not acknowledged.
    private static func isDrained(_ channel: any Channel) -> Bool {
        // A connection that does not tell has ended, so nothing waits.
        if let waiting = try? channel.syncOptions?.getOption(.bufferedWritableBytes), waiting > 0 { return false }
        // The same.
        let unacknowledged = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
            socket in
            var count: CInt = 0
            #if canImport(Darwin)
                var size = socklen_t(MemoryLayout<CInt>.size)
                return getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? count : 0
            #else
                return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? count : 0
            #endif
        }
        return (unacknowledged ?? 0) == 0
    }
}
