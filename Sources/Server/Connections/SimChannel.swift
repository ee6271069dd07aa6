import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Simulation

/// One connection: the framework's HTTP/1 channel with the simulator's own handlers.
package struct SimChannel: HTTPChannelHandler {
    package struct Value: ServerChildChannelValue {
        let http1: HTTP1Channel.Value
        let answers: UnsentAnswers

        package var channel: any Channel { http1.channel }
    }

    private let http1: HTTP1Channel
    private let lingering: TimeAmount

    package init(
        _ responder: @escaping Responder, limits: ConnectionLimits, requestID: @escaping @Sendable () -> String
    ) {
        lingering = TimeAmount(limits.lingering)
        http1 = HTTP1Channel(
            responder: responder,
            configuration: .init(
                additionalChannelHandlers: [MalformedRequestHandler(limits: limits, requestID: requestID)],
                idleTimeout: limits.idleTimeout,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes,
                    maxHeaderFieldCount: limits.headerFields)))
    }

    package var responder: Responder { http1.responder }

    /// The maximum announced size for which a client that waits is asked for its body, in bytes.
    @Sendable package static func maxBodyBytes(_ target: String) -> Int {
        target.contains(SnapshotRoutes.path) ? SnapshotRoutes.maxBytes : ReceivedImage.limit
    }

    package func setup(channel child: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http1.setup(channel: child, logger: logger).flatMapThrowing { [lingering] value in
            let pipeline = child.pipeline.syncOperations
            let codec = try pipeline.context(handlerType: HTTP1ToHTTPServerCodec.self).handler
            // The closest to the socket, also where there is TLS.
            try pipeline.addHandler(DrainingCloseHandler(lingering), position: .first)
            let heads = RequestHeadHandler(maxBodyBytes: Self.maxBodyBytes)
            try pipeline.addHandlers([heads, LingeringCloseHandler(for: lingering)], position: .before(codec))
            return Value(http1: value, answers: try pipeline.handler(type: MalformedRequestHandler.self).answers)
        }
    }

    package func handle(value: Value, logger: Logger) async {
        await UnsentAnswers.$current.withValue(value.answers) {
            await http1.handle(value: value.http1, logger: logger)
        }
    }
}
