import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// A small HTTP server that receives webhooks. Each request waits for its answer, so a slow reader slows the senders down and nothing piles up.
struct WebhookListener: Sendable {
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
    private let bounds: NIOLockedValueBox<Bounds>

    /// The bytes of all bodies that are not answered yet.
    var heldBytes: Int { bounds.withLockedValue { $0.held } }

    /// The bounds of what senders may take. Any program of this machine can connect, and so can any page that its browser shows. Above
    /// this number the connection that has waited longest for a request is closed.
    static let maxConnections = 256
    /// The maximum size of a body. A webhook has one item, whose text is far shorter.
    static let maxBytes = 1 << 20
    /// The maximum size of all bodies together that are not answered yet.
    static let maxBytesInAll = 16 << 20
    private static let maxSilence = TimeAmount.seconds(60)
    /// The longest time until a request is whole.
    private static let maxTime = TimeAmount.seconds(60)

    /// - Parameter port: 0 for a free one.
    static func open(host: String, port: Int) async throws -> WebhookListener {
        let (stream, sink) = AsyncStream.makeStream(of: Request.self)
        let bounds = NIOLockedValueBox(Bounds())
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    bounds.withLockedValue { $0.add(channel) }?.close(promise: nil)
                    channel.closeFuture.whenComplete { _ in bounds.withLockedValue { $0.remove(channel) } }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(allTimeout: Self.maxSilence))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(Handler(bounds) { sink.yield($0) })
                }
            }
            .bind(host: host, port: port).get()
        return WebhookListener(
            requests: stream, port: channel.localAddress?.port ?? 0, channel: channel, bounds: bounds)
    }

    /// The open connections, and what they hold.
    private struct Bounds {
        /// The bytes of all bodies that are not answered yet.
        var held = 0
        private var count = 0
        /// Those whose next request has not begun, by the time since which they wait.
        private var waiting: [any Channel] = []

        /// Adds a connection.
        ///
        /// - Returns: the one to close if there are too many: this one if all others have a request.
        mutating func add(_ channel: any Channel) -> (any Channel)? {
            count += 1
            waiting.append(channel)
            return count > maxConnections ? waiting.removeFirst() : nil
        }

        mutating func remove(_ channel: any Channel) {
            count -= 1
            begin(channel)
        }

        /// Notes that a request of a connection began.
        mutating func begin(_ channel: any Channel) { waiting.removeAll { $0 === channel } }

        /// Notes that a connection waits for a request again.
        mutating func end(_ channel: any Channel) { waiting.append(channel) }

        /// Counts bytes of a body.
        ///
        /// - Returns: `false` if all bodies together would be too large.
        mutating func take(_ size: Int) -> Bool {
            guard held + size <= WebhookListener.maxBytesInAll else { return false }
            held += size
            return true
        }
    }

    /// Accepts no more connections.
    func close() async { try? await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        private let receive: @Sendable (Request) -> Void
        private let bounds: NIOLockedValueBox<Bounds>
        private var head: HTTPRequestHead?
        private var body = ByteBuffer()
        /// The bytes of the request's body that count in `held`.
        private var heldHere = 0
        private var deadline: Scheduled<Void>?
        /// Whether the request was refused, so that the rest of it is not kept.
        private var isRefused = false

        init(_ bounds: NIOLockedValueBox<Bounds>, _ receive: @escaping @Sendable (Request) -> Void) {
            self.bounds = bounds
            self.receive = receive
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isRefused else { return }
            switch unwrapInboundIn(data) {
            case .head(let head): begin(head, context)
            case .body(var part):
                guard head != nil else { return }
                let size = part.readableBytes
                guard heldHere + size <= WebhookListener.maxBytes else {
                    return refuse(413, "a webhook has at most \(WebhookListener.maxBytes) bytes\n", context)
                }
                guard bounds.withLockedValue({ $0.take(size) }) else {
                    return refuse(503, "too many webhooks at once\n", context)
                }
                heldHere += size
                body.writeBuffer(&part)
            case .end:
                guard let head else { return }
                self.head = nil
                deadline?.cancel()
                receive(
                    Request(
                        method: head.method, path: head.uri, headers: head.headers, body: Data(body.readableBytesView),
                        answer: answer(in: context, thenCloses: !head.isKeepAlive)))
                body = ByteBuffer()
            }
        }

        private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
            // Senders of webhooks are no pages of a browser, which any site could make ask here.
            guard !head.headers.contains(name: "Origin"), !head.headers.contains(name: "Sec-Fetch-Site") else {
                return refuse(403, "webhooks do not come from pages of a browser\n", context)
            }
            self.head = head
            bounds.withLockedValue { $0.begin(context.channel) }
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            deadline = context.eventLoop.scheduleTask(in: WebhookListener.maxTime) { bound.value.close(promise: nil) }
        }

        private func release() {
            bounds.withLockedValue { $0.held -= heldHere }
            heldHere = 0
        }

        /// Answers without reading on, and closes the connection.
        private func refuse(_ status: Int, _ text: String, _ context: ChannelHandlerContext) {
            isRefused = true
            body = ByteBuffer()
            release()
            deadline?.cancel()
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            Self.send(status, text, ["Connection": "close"], context).whenComplete { _ in
                // What still comes is read and dropped for a moment: the system would reset the connection, and with it the answer.
                bound.value.close(mode: .output, promise: nil)
                bound.value.eventLoop.scheduleTask(in: .seconds(2)) { bound.value.close(promise: nil) }
            }
        }

        private func answer(
            in context: ChannelHandlerContext, thenCloses: Bool
        ) -> @Sendable (Int, String) -> Void {
            let (loop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
            return { status, text in
                loop.execute {
                    let (handler, context) = bound.value
                    handler.release()
                    let sent = Self.send(status, text, thenCloses ? ["Connection": "close"] : [:], context)
                    if thenCloses { return sent.whenComplete { _ in bound.value.1.close(promise: nil) } }
                    guard context.channel.isActive else { return }
                    handler.bounds.withLockedValue { $0.end(context.channel) }
                }
            }
        }

        private static func send(
            _ status: Int, _ text: String, _ fields: HTTPHeaders, _ context: ChannelHandlerContext
        ) -> EventLoopFuture<Void> {
            var head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: fields)
            head.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
            head.headers.add(name: "Content-Type", value: "text/plain")
            context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
            let body = IOData.byteBuffer(ByteBuffer(string: text))
            context.write(NIOAny(HTTPServerResponsePart.body(body)), promise: nil)
            return context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)))
        }

        func channelInactive(context: ChannelHandlerContext) {
            deadline?.cancel()
            // A request that is with its reader counts until that answers it.
            if head != nil || isRefused { release() }
            context.fireChannelInactive()
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
