import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Simulation

/// One connection of HTTP/1.1: what the framework's own channel has, with the simulator's handlers between.
package struct SimChannel: HTTPChannelHandler {
    package struct Value: ServerChildChannelValue {
        let http1: HTTP1Channel.Value
        let answers: UnsentAnswers

        package var channel: any Channel { http1.channel }
    }

    package let responder: Responder
    private let limits: ConnectionLimits
    private let requestID: @Sendable () -> String

    package init(
        _ responder: @escaping Responder, limits: ConnectionLimits, requestID: @escaping @Sendable () -> String
    ) {
        self.responder = responder
        self.limits = limits
        self.requestID = requestID
    }

    /// The sizes of the parts in which a connection is read: all requests in one are decoded before another connection has its turn.
    private static let reading = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 32_768)

    /// The maximum announced size for which a client that waits is asked for its body, in bytes.
    @Sendable package static func maxBodyBytes(_ target: String) -> Int {
        target.contains(SnapshotRoutes.path) ? SnapshotRoutes.maxBytes : ReceivedImage.limit
    }

    package func setup(channel child: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        child.eventLoop.makeCompletedFuture {
            try child.syncOptions?.setOption(.recvAllocator, value: Self.reading)
            var decoding = NIOHTTPDecoderLimitConfiguration()
            decoding.maxHeaderFieldSize = limits.headerBytes
            decoding.maxHeaderListSize = limits.headerBytes
            decoding.maxHeaderFieldCount = limits.headerFields
            let decoder = RequestDecoder(limits: decoding)
            let lingering = TimeAmount(limits.lingering)
            let malformed = MalformedRequestHandler(limits: limits, requestID: requestID)
            let pipeline = child.pipeline.syncOperations
            // The closest to the socket, also where there is TLS.
            try pipeline.addHandler(DrainingCloseHandler(lingering), position: .first)
            try pipeline.addHandlers([
                HTTPResponseEncoder(), ByteToMessageHandler(decoder),
                RequestHeadHandler(decoder, maxBodyBytes: Self.maxBodyBytes), LingeringCloseHandler(for: lingering),
                HTTP1ToHTTPServerCodec(secure: false), malformed,
                HTTPConnectionStateHandler(idleTimeout: limits.idle, logger: logger),
            ])
            return Value(
                http1: try HTTP1Channel.Value(
                    wrappingChannelSynchronously: child, configuration: .init(isOutboundHalfClosureEnabled: true)),
                answers: malformed.answers)
        }
    }

    package func handle(value: Value, logger: Logger) async {
        await UnsentAnswers.$current.withValue(value.answers) {
            await handleHTTP(asyncChannel: value.http1, logger: logger)
        }
    }
}
