import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import NIOSSL
import NIOTLS
import Server
import SimulationAPI

/// One connection of the HTTPS port: HTTP/2 where the client offers it, else HTTP/1.1 as on the plain port [D http2].
///
/// The framework's own channel for both protocols has fixed settings of HTTP/2, so this one uses the library below it.
struct SecureChannel: HTTPChannelHandler {
    typealias HTTP2Connection = NIOHTTP2Handler.AsyncStreamMultiplexer<Stream>
    typealias Negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated>

    /// The protocol that client and server agreed on.
    enum Negotiated: Sendable {
        case http1(SimChannel.Value)
        case http2(HTTP2Connection)
    }

    /// A stream of an HTTP/2 connection: one request.
    struct Stream: Sendable {
        let channel: HTTP1Channel.Value
        let ticket: StreamTicket
        let answers: UnsentAnswers
    }

    struct Value: ServerChildChannelValue {
        let negotiated: EventLoopFuture<Negotiated>
        let channel: any Channel
    }

    private let plain: SimChannel
    private let tls: NIOSSLContext
    private let limits: ConnectionLimits
    private let requestID: @Sendable () -> String
    private let waitingAnswers = WaitingAnswers()

    /// The maximum number of requests of one connection that are answered at once.
    private static let maxStreams = 100

    init(
        _ responder: @escaping Responder, _ tls: NIOSSLContext, limits: ConnectionLimits,
        requestID: @escaping @Sendable () -> String
    ) {
        // The codec of HTTP/1 names the scheme of the plain port, and a client of HTTP/2 the one that it likes.
        let secured: Responder = { request, writer, channel in
            var head = request.head
            head.scheme = "https"
            try await responder(Request(head: head, body: request.body), writer, channel)
        }
        plain = SimChannel(secured, limits: limits, requestID: requestID)
        self.tls = tls
        self.limits = limits
        self.requestID = requestID
    }

    var responder: Responder { plain.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let deadline = HandshakeDeadlineHandler(limits.idleTimeout)
            let negotiation = Negotiation { result in
                pipeline.removeHandler(deadline, promise: nil)
                guard case .negotiated("h2") = result else {
                    return plain.setup(channel: channel, logger: logger).map { .http1($0) }
                }
                return channel.eventLoop.makeCompletedFuture { .http2(try speakHTTP2(on: channel, logger)) }
            }
            try pipeline.addHandlers([
                PlainRequestHandler(requestID: requestID), NIOSSLServerHandler(context: tls), negotiation, deadline,
            ])
            return Value(negotiated: negotiation.protocolNegotiationResult, channel: channel)
        }
    }

    private func speakHTTP2(on channel: any Channel, _ logger: Logger) throws -> HTTP2Connection {
        var times = NIOHTTP2ServerConnectionManagementHandler.Configuration.defaults
        times.maxIdleTime = limits.idleTimeout
        var http2 = NIOHTTP2Handler.Configuration()
        http2.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.maxStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headerBytes),
        ]
        let pipeline = channel.pipeline.syncOperations
        let manager = NIOHTTP2ServerConnectionManagementHandler(eventLoop: channel.eventLoop, configuration: times)
        let streams = OpenStreams(manager.http2StreamDelegate)
        let admission = StreamAdmission(on: channel.eventLoop, waitingAnswers, idleTime: limits.idleTimeout) {
            channel.close(promise: nil)
        }
        let connection = try pipeline.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: streams, configuration: http2
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let ticket = StreamTicket(admission)
                let delivery = DeliveryHandler()
                try stream.pipeline.syncOperations.addHandlers([
                    HTTP2FramePayloadToHTTPServerCodec(),
                    StreamHeadHandler(limits: limits, requestID: requestID, maxBodyBytes: SimChannel.maxBodyBytes),
                    StreamAdmissionHandler(ticket), delivery,
                    HTTPConnectionStateHandler(idleTimeout: limits.idle, logger: logger),
                ])
                return Stream(
                    channel: try HTTP1Channel.Value(wrappingChannelSynchronously: stream), ticket: ticket,
                    answers: delivery.answers)
            }
        }
        try pipeline.addHandler(DrainingCloseHandler(TimeAmount(limits.lingering)), position: .first)
        let end = HTTP2EndHandler(min(limits.idleTimeout, TimeAmount(limits.lingering)), streams)
        try pipeline.addHandlers([end, manager])
        // The connection is active already. Without this, its idle time would begin with the end of its first request.
        manager.channelActive(context: try pipeline.context(handler: manager))
        return connection
    }

    func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.negotiated.get() {
            case .http1(let connection): await plain.handle(value: connection, logger: logger)
            case .http2(let connection):
                try await withThrowingDiscardingTaskGroup { group in
                    for try await stream in connection.inbound {
                        group.addTask {
                            await CurrentStream.$stream.withValue(stream.ticket) {
                                await UnsentAnswers.$current.withValue(stream.answers) {
                                    await handleHTTP(asyncChannel: stream.channel, logger: logger)
                                }
                            }
                            stream.ticket.admission.finished(stream.ticket)
                        }
                    }
                }
            }
        } catch {
            // A client that does not trust the certificate ends up here.
            logger.debug("a connection of the HTTPS port ended", metadata: ["error": "\(error)"])
            try? await value.channel.close().get()
        }
    }
}
