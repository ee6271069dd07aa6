import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// A small HTTP server that receives webhooks. Each request waits for its answer, so a slow reader slows the senders down and nothing piles up.
final class WebhookListener: Sendable {
    /// A request and the way to answer it.
    struct Request: Sendable {
        let method: HTTPMethod
        /// The path, with the query.
        let path: String
        let headers: HTTPHeaders
        let body: Data
        /// Sends the answer: a status and a text. It is lost if the client has gone.
        let answer: @Sendable (Int, String) -> Void
    }

    /// The requests, for one reader.
    let requests: AsyncStream<Request>
    let port: Int
    private let channel: any Channel

    /// The bounds of what senders may take.
    private static let maxConnections = 256
    /// The maximum size of a body.
    private static let maxBytes = 16 << 20
    private static let maxSilence = TimeAmount.seconds(60)

    /// - Parameter port: 0 for a free one.
    static func open(host: String, port: Int) async throws -> WebhookListener {
        let (stream, sink) = AsyncStream.makeStream(of: Request.self)
        let connections = NIOLockedValueBox(0)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.withLockedValue({ $0 }) < Self.maxConnections else { throw TooMany() }
                    connections.withLockedValue { $0 += 1 }
                    channel.closeFuture.whenComplete { _ in connections.withLockedValue { $0 -= 1 } }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(allTimeout: Self.maxSilence))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(Handler { sink.yield($0) })
                }
            }
            .bind(host: host, port: port).get()
        return WebhookListener(stream, channel)
    }

    private struct TooMany: Error {}

    private init(_ requests: AsyncStream<Request>, _ channel: any Channel) {
        self.requests = requests
        self.channel = channel
        port = channel.localAddress?.port ?? 0
    }

    /// Accepts no more connections.
    func close() async { try? await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        private let receive: @Sendable (Request) -> Void
        private var head: HTTPRequestHead?
        private var body = ByteBuffer()

        init(_ receive: @escaping @Sendable (Request) -> Void) {
            self.receive = receive
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body = ByteBuffer()
            case .body(var part):
                guard body.readableBytes + part.readableBytes <= WebhookListener.maxBytes else {
                    return context.close(promise: nil)
                }
                body.writeBuffer(&part)
            case .end:
                guard let head else { return }
                self.head = nil
                receive(
                    Request(
                        method: head.method, path: head.uri, headers: head.headers, body: Data(body.readableBytesView),
                        answer: Self.answer(in: context)))
                body = ByteBuffer()
            }
        }

        private static func answer(in context: ChannelHandlerContext) -> @Sendable (Int, String) -> Void {
            let (loop, bound) = (context.eventLoop, NIOLoopBound(context, eventLoop: context.eventLoop))
            return { status, text in
                loop.execute {
                    let context = bound.value
                    var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status))
                    head.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
                    head.headers.add(name: "Content-Type", value: "text/plain")
                    context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
                    let body = IOData.byteBuffer(ByteBuffer(string: text))
                    context.write(NIOAny(HTTPServerResponsePart.body(body)), promise: nil)
                    context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)), promise: nil)
                }
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
