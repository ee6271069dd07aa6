import NIOCore

/// Tells those who wait for an answer of a connection, or of a stream of HTTP/2, that it has ended. A callback on the channel's future
/// would stay until then, for each request that was ever held on it.
final class EndWatchHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    /// One who waits.
    final class Watch: Sendable {
        fileprivate let hasEnded: @Sendable () -> Void

        init(hasEnded: @escaping @Sendable () -> Void) {
            self.hasEnded = hasEnded
        }
    }

    private var watches: [ObjectIdentifier: Watch] = [:]

    func channelInactive(context: ChannelHandlerContext) {
        let all = watches.values
        watches = [:]
        for watch in all { watch.hasEnded() }
        context.fireChannelInactive()
    }

    /// Tells `watch` when the channel has ended, at once if it has.
    static func add(_ watch: Watch, to channel: any Channel) {
        channel.eventLoop.execute {
            guard channel.isActive else { return watch.hasEnded() }
            do {
                let pipeline = channel.pipeline.syncOperations
                // The first watch of the channel adds it.
                let there = try? pipeline.handler(type: Self.self)
                let handler = there ?? EndWatchHandler()
                if there == nil { try pipeline.addHandler(handler, position: .first) }
                handler.watches[ObjectIdentifier(watch)] = watch
            } catch {
                // The channel has just ended.
                watch.hasEnded()
            }
        }
    }

    static func remove(_ watch: Watch, from channel: any Channel) {
        channel.eventLoop.execute {
            // Without the handler the channel has ended.
            let handler = try? channel.pipeline.syncOperations.handler(type: Self.self)
            handler?.watches[ObjectIdentifier(watch)] = nil
        }
    }

    /// The number of those who wait on a channel; for tests.
    static func count(on channel: any Channel) async throws -> Int {
        try await channel.eventLoop.submit {
            // There is none before the first watch, and after the end.
            let handler = try? channel.pipeline.syncOperations.handler(type: Self.self)
            return handler?.watches.count ?? 0
        }.get()
    }
}
